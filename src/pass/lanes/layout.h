// SPDX-License-Identifier: Apache-2.0
// Who owns which lanes of an index space: the one canonical blocked layout.
//
// Axes are padded to powers of two; element e of the padded space, counted in row-major order, is
//   e = (slot * threads + thread) * lanes + lane
// so the low bits of e are the lane of a vector, the next ones the thread, the rest the slot, which a thread walks in turn.
// Slots that hold no element at all are never visited: along axis d there are ceil(size / unit) of them, where `unit` is
// how many elements of the axis the lanes and threads of one slot cover.
#pragma once

#include <array>

#include "ir/type.h"

namespace strider::pass {

struct Layout {
  ir::Shape space;      // without axes of size 1
  int64_t lanes = 1;    // of a vector
  int64_t threads = 1;  // that own different lanes; further threads repeat them
  std::array<int64_t, ir::kMaxRank> padded{}, stride{}, unit{}, slots{};

  int rank() const { return space.rank(); }
  int64_t slot_count() const;
  int64_t kept_elements() const { return slot_count() * lanes; }  // of one thread
  bool is_ragged(int axis) const { return space[axis] % unit[axis] != 0; }
  bool is_ragged() const;
  bool operator==(const Layout&) const = default;
};

/// The layout of `space` for programs of `threads` threads with vectors of `lanes` lanes (both powers of two).
Layout make_layout(const ir::Shape& space, int64_t lanes, int64_t threads);

/// The least power of two that is not below n.
constexpr int64_t round_up_to_power(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}
constexpr int log2_of(int64_t power) {
  int k = 0;
  while ((int64_t{1} << k) < power) ++k;
  return k;
}

}  // namespace strider::pass
