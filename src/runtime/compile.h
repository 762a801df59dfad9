// SPDX-License-Identifier: Apache-2.0
// Tile form -> something that a device can launch, and the counters of it.
#pragma once

#include <atomic>
#include <memory>

#include "backend/backend.h"

namespace strider {

std::unique_ptr<Executable> compile(const ir::Function& tile, Device& device);
/// The second half, for a target that the device runs, of a program from pass::prepare. Counts nothing.
std::unique_ptr<Executable> compile_prepared(const ir::Function& prepared, Device& device, const Target& target);

struct Counters {
  std::atomic<int64_t> compiles{0}, memory_hits{0};
};
Counters& counters();

}  // namespace strider
