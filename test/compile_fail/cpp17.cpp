// SPDX-License-Identifier: Apache-2.0
// expect: Strider needs C++20: compile with -std=c++20
// standard: 17
// lines: 16
#include <strider/strider.h>
auto op = strider::pointwise("f", [](auto x) { return x; });
