// SPDX-License-Identifier: Apache-2.0
// Operators whose maths are a scalar function in the IR, and kernels whose body is a tile program: parsed, derived, or built by a
// plug-in.
#pragma once

#include <strider/kernel.h>
#include <strider/pointwise.h>

#include "base/kit.h"
#include "ir/function.h"

namespace strider {

/// An operator of that function's name, with promotion and caches as every other. It computes in the function's own dtypes;
/// strider::operator_from_ir() says how arguments meet them. User errors: it is no scalar function; the schema does not fit.
STRIDER_KIT Operator operator_of(ir::Function program, Schema schema = {});
/// A kernel of that function's name. A user error if it is no tile form.
STRIDER_KIT Kernel kernel_of(ir::Function program);

}  // namespace strider
