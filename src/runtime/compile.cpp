// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile.h"

#include "base/deep_stack.h"
#include "pass/pipeline.h"

namespace strider {

std::unique_ptr<Executable> compile(const ir::Function& tile, Device& device) {
  auto executable = on_deep_stack([&] { return compile_prepared(pass::prepare(tile), device, device.target()); });
  counters().compiles.fetch_add(1, std::memory_order_relaxed);
  return executable;
}

std::unique_ptr<Executable> compile_prepared(const ir::Function& prepared, Device& device, const Target& target) {
  return on_deep_stack([&] { return device.load(compiler_for(target).compile(pass::lower(prepared, target), target)); });
}

Counters& counters() {
  static Counters all;
  return all;
}

}  // namespace strider
