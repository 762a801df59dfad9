// SPDX-License-Identifier: Apache-2.0
// expect: an operator's lambda returns nothing: its maths need a return
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) { x * 2.0; });
