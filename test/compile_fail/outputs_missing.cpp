// SPDX-License-Identifier: Apache-2.0
// expect: give all of an operator's outputs, or none
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) { return std::tuple{x, x + 1}; });
void call(const strider::Tensor& t) { op(t, strider::out(t)); }
