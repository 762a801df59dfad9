// SPDX-License-Identifier: Apache-2.0
// expect: && cannot join masks: use a & b
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x, auto y) { return x > 0 && y > 0; });
