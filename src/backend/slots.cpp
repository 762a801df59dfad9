// SPDX-License-Identifier: Apache-2.0
#include "backend/slots.h"

#include "base/error.h"

namespace strider {

Binary describe(const ir::Function& lanes, const Target& target, std::string entry, std::vector<char> code) {
  Binary binary;
  binary.target = target.name;
  binary.entry = std::move(entry);
  binary.code = std::move(code);
  for (ir::Value p : lanes.params()) binary.slots.push_back(static_cast<uint8_t>(lanes.type(p).bytes()));
  binary.threads = lanes.threads;
  binary.scratch_bytes = lanes.scratch_bytes;
  binary.is_quick = target.quick;
  return binary;
}

void check_runs(const Target& own, const Binary& binary) {
  if (!own.runs(target_named(binary.target)))
    user_error("{}: compiled for {}, which {} ({}) does not run", binary.entry, binary.target, own.name, own.processor);
}

int64_t count_programs(std::string_view kernel, const Grid& grid, const Grid& limits) {
  int64_t count = 1;
  for (size_t axis = 0; axis < grid.size(); ++axis) {
    if (grid[axis] < 0 || grid[axis] > limits[axis])
      user_error("{}: the grid has {} programs on axis {}, expected 0 to {}", kernel, grid[axis], axis, limits[axis]);
    if (__builtin_mul_overflow(count, grid[axis], &count))
      user_error("{}: the grid of {} x {} x {} has too many programs", kernel, grid[0], grid[1], grid[2]);
  }
  return count;
}

void check_arguments(const Binary& binary, size_t count) {
  if (count != binary.slots.size()) user_error("{}: {} arguments, expected {}", binary.entry, count, binary.slots.size());
}

}  // namespace strider
