// SPDX-License-Identifier: Apache-2.0
// expect: no matching function for call to
// Without std_guard.h: a value becomes no number.
#include <cmath>
#include <cstdlib>

#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) { return std::abs(x); });
