// SPDX-License-Identifier: Apache-2.0
// The processor of this machine.
#pragma once

#include <string_view>

#include "backend/backend.h"

namespace strider {

extern const BackEnd kCpuBackEnd;

/// "cpu", the processor of this machine, first; then the levels of x86-64, the lowest first.
std::vector<Target> cpu_targets();
/// "cpu" on a machine of LLVM's `architecture` ("x86_64", "aarch64"), of a level of x86-64 or 0.
Target cpu_target(std::string_view architecture, int level);
Compiler& cpu_compiler();
/// The only one has number 0.
std::unique_ptr<Device> open_cpu_device(int ordinal);

}  // namespace strider
