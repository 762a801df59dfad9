// SPDX-License-Identifier: Apache-2.0
// expect: std::abs does not take values: use st::abs
#include <strider/std_guard.h>
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) { return std::abs(x); });
