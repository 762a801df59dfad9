// SPDX-License-Identifier: Apache-2.0
// expect: more arguments than the operator's lambda takes
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) { return x; });
auto composed = strider::pointwise("g", [](auto x) { return op(x, x); });
