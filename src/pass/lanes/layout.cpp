// SPDX-License-Identifier: Apache-2.0
#include "pass/lanes/layout.h"

#include <algorithm>

namespace strider::pass {

int64_t Layout::slot_count() const {
  int64_t n = 1;
  for (int d = 0; d < rank(); ++d) n *= slots[d];
  return n;
}

bool Layout::is_ragged() const {
  for (int d = 0; d < rank(); ++d)
    if (is_ragged(d)) return true;
  return false;
}

Layout make_layout(const ir::Shape& space, int64_t lanes, int64_t threads) {
  Layout l;
  l.space = space;
  int64_t elements = 1;
  for (int d = space.rank() - 1; d >= 0; --d) {
    l.padded[d] = round_up_to_power(space[d]);
    l.stride[d] = elements;
    elements *= l.padded[d];
  }
  l.lanes = std::min(lanes, elements);
  l.threads = std::min(threads, elements / l.lanes);
  for (int d = 0; d < space.rank(); ++d) {
    l.unit[d] = std::clamp<int64_t>(l.lanes * l.threads / l.stride[d], 1, l.padded[d]);
    l.slots[d] = (space[d] + l.unit[d] - 1) / l.unit[d];
  }
  return l;
}

}  // namespace strider::pass
