// SPDX-License-Identifier: Apache-2.0
// expect: ! cannot invert a mask: use ~mask
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) { return !(x > 0); });
