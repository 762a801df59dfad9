// SPDX-License-Identifier: Apache-2.0
// Runs tile or scheduled form on memory of its own, so that tests of a pass can compare what a program does before and after.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "ir/function.h"

namespace strider::pass {

/// How a program is launched. Each pointer argument gets a buffer of its own, filled with small numbers of any sign.
struct Launch {
  Grid grid{1, 1, 1};
  std::vector<int64_t> scalars = {};  // the other arguments, in order
  int64_t elements = 1024;            // of each buffer
  bool one_buffer = false;            // all pointers begin at the same place
};

std::string to_string(const Launch& launch);

/// The bytes of all buffers after the tile interpreter has run; expects that it reports nothing.
std::vector<std::vector<char>> memory_after(const ir::Function& f, const Launch& launch);

/// Expects that both programs leave the same bytes.
void expect_same_memory(const ir::Function& f, const ir::Function& g, const Launch& launch);

/// The statements of a region and of all regions nested there, in order, as far as they have this op.
std::vector<ir::Value> find_all(const ir::Function& f, ir::Op op, ir::RegionId region = 0);

}  // namespace strider::pass
