// SPDX-License-Identifier: Apache-2.0
// The exact remainder of two floats (C's fmod), by long division in f64 without a loop. All digits of the quotient but the
// last are rare code (where_likely).
#pragma once

#include "ir/builder.h"

namespace strider::pass {

/// x - trunc(x / y) * y without rounding, with the sign of x; x and y are f64 and came from `dtype`, which bounds the quotient.
ir::Value float_remainder(ir::Builder& b, ir::Value x, ir::Value y, DType dtype);

}  // namespace strider::pass
