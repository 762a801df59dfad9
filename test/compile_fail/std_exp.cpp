// SPDX-License-Identifier: Apache-2.0
// expect: std::exp does not take values: use st::exp
#include <strider/std_guard.h>
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) { return std::exp(x); });
