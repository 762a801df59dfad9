// SPDX-License-Identifier: Apache-2.0
// expect: an operator's lambda returns a value, or a tuple of values
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto) { return "text"; });
