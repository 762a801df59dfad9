// SPDX-License-Identifier: Apache-2.0
// Tile form -> something that a device can launch, and the counters of it.
#pragma once

#include <atomic>
#include <memory>

#include "backend/backend.h"

namespace strider {

std::unique_ptr<Executable> compile(const ir::Function& tile, Device& device);

struct Counters {
  std::atomic<int64_t> compiles{0}, memory_hits{0};
};
Counters& counters();

}  // namespace strider
