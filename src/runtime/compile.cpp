// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile.h"

#include "pass/pipeline.h"

namespace strider {

std::unique_ptr<Executable> compile(const ir::Function& tile, Device& device) {
  const Target& target = device.target();
  ir::Function lanes = pass::lower(pass::prepare(tile), target);
  Binary binary = compiler_for(target).compile(lanes, target);
  counters().compiles.fetch_add(1, std::memory_order_relaxed);
  return device.load(binary);
}

Counters& counters() {
  static Counters all;
  return all;
}

}  // namespace strider
