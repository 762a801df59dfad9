// SPDX-License-Identifier: Apache-2.0
// expect: cannot convert
#include <strider/strider.h>
double number(const strider::Value& x) { return x; }
