// SPDX-License-Identifier: Apache-2.0
// expect: a tile is no condition: use where(condition, a, b)
// Without std_guard.h: std::max compares, and a value is no condition.
#include <algorithm>

#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x, auto y) { return std::max(x, y); });
