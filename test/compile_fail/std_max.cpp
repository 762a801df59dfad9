// SPDX-License-Identifier: Apache-2.0
// expect: std::max does not take values: use st::maximum
#include <strider/std_guard.h>
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x, auto y) { return std::max(x, y); });
