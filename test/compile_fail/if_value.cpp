// SPDX-License-Identifier: Apache-2.0
// expect: a tile is no condition: use where(condition, a, b)
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) -> decltype(x) {
  if (x < 0) return -x;
  return x;
});
