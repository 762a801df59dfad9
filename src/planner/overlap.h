// SPDX-License-Identifier: Apache-2.0
// Whether strided tensors share memory: intervals first, then an exact search with a bound.
#pragma once

#include <cstdint>
#include <span>

#include <strider/dims.h>

namespace strider::planner {

__extension__ typedef __int128 Wide;

enum class Answer : uint8_t { No, Yes, Undecided };

/// One unknown 0 <= x <= bound with its coefficient above zero.
struct Term {
  int64_t coefficient;
  int64_t bound;
};

/// Whether some choice of the unknowns makes the sum of coefficient * x equal `target`. Sorts the terms.
Answer has_solution(std::span<Term> terms, Wide target, int64_t budget);

/// Strided elements of `bytes` bytes each, strides in elements.
struct Region {
  uint64_t address;
  int bytes;
  const Dims& shape;
  const Dims& strides;
};

/// Whether two indices of one tensor name the same element.
Answer overlaps_itself(const Dims& shape, const Dims& strides);
/// Whether some byte belongs to both.
Answer overlap(const Region& a, const Region& b);

}  // namespace strider::planner
