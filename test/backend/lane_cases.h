// SPDX-License-Identifier: Apache-2.0
// Kernels in lane form, written by hand, that between them use every op of that form on every dtype and width; and the way to
// run one on the lane interpreter, whose answer is the expected one, or on a device.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"

namespace strider::backend_test {

/// Memory that a pointer argument points to.
struct Buffer {
  DType dtype;
  std::vector<char> bytes;

  int64_t count() const { return static_cast<int64_t>(bytes.size()) / size_of(dtype); }
  uint64_t at(int64_t index) const;
  void set(int64_t index, uint64_t bits);
};

/// A buffer of elements given as bits.
Buffer buffer_of(DType dtype, const std::vector<uint64_t>& elements);

/// A kernel and one launch of it. Arguments in order: a buffer for each pointer, `scalars` for the rest.
struct Case {
  std::string name;
  ir::Function lanes;
  Grid grid{1, 1, 1};
  std::vector<Buffer> buffers;
  std::vector<uint64_t> scalars;
};

/// All cases whose programs have `threads` threads: 1, or a warp or more.
std::vector<Case> lane_cases(int threads);

/// The buffers after the launch on the lane interpreter, which must report nothing.
std::vector<Buffer> interpret(const Case& c);
/// The buffers after the launch on a device.
std::vector<Buffer> run(const Case& c, Device& device, const Target& target);
/// The first difference between two outcomes, or "". Any NaN equals any NaN.
std::string difference(const Case& c, const std::vector<Buffer>& wanted, const std::vector<Buffer>& found);

}  // namespace strider::backend_test
