// SPDX-License-Identifier: Apache-2.0
// Devices by name, and counters of what the library did.
#pragma once

#include <cstdint>
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

/// Since the process began.
struct Stats {
  int64_t compiles = 0;     // kernels compiled; quick and fast code of one count once
  int64_t memory_hits = 0;  // calls that found their kernel in memory
};
STRIDER_API Stats stats();

}  // namespace v0
}  // namespace strider
