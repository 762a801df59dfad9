// SPDX-License-Identifier: Apache-2.0
// expect: std::clamp does not take values: use st::clamp
#include <strider/std_guard.h>
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) { return std::clamp(x, 0.0, 1.0); });
