// SPDX-License-Identifier: Apache-2.0
// Devices by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <strider/export.h>

namespace strider {
inline namespace v0 {

/// Every device that can be opened on this machine, the CPU first: "cpu", "cuda:0", ...
STRIDER_API std::vector<std::string> devices();
/// One line about a device: its processor and its memory.
STRIDER_API std::string describe_device(std::string_view device);
/// Returns when all launches on the device are done; throws the first error of any of them.
STRIDER_API void synchronize(std::string_view device);

/// Operators on GPUs run quickly compiled code first, while fast code is compiled in the background. Returns when no code is
/// being compiled there: from then on what has been called runs fast.
STRIDER_API void finish_compiles();

}  // namespace v0
}  // namespace strider
