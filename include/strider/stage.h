// SPDX-License-Identifier: Apache-2.0
// One stage of a kernel on its way to machine code, to be printed.
#pragma once

#include <string_view>

#include <strider/export.h>

namespace strider {
inline namespace v0 {

/// A stage by name, those of `strider show --help`: "tile", "prepared", ..., "lanes", "llvm", "asm" or "ptx"; of operators also "plan"
/// and "scalar". And a processor by name ("cpu", "cuda:sm_90"), that of the tensors if it is left out; no such device is needed.
struct Stage {
  Stage(const char* name) : name(name) {}
  Stage(std::string_view name, std::string_view target = {}) : name(name), target(target) {}
  std::string_view name, target;
};

}  // namespace v0
}  // namespace strider
