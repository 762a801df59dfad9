// SPDX-License-Identifier: Apache-2.0
// Multiply-adds: the one place where a product and a sum become one rounding. No back end contracts anything.
//
//   a * b + c -> fma(a, b, c)        a * b - c -> fma(a, b, -c)
//   c + a * b -> fma(a, b, c)        c - a * b -> fma(-a, b, c)
//
// Needs: tile form, before `decompose`, whose expansions say themselves what is fused.
// Leaves: tile form; f32 and f64 sums of a product that nothing else uses are fused. Of two products the left one is.
// A product is seen through a broadcast, so that an operand that is broadcast gives the bits of one that is not; it is
// not seen through casts, and f16 and bf16 products are rounded. The choice depends on the program alone, not on the target.
#pragma once

#include "base/kit.h"
#include "ir/function.h"

namespace strider::pass {

STRIDER_KIT ir::Function contract(const ir::Function& program);

}  // namespace strider::pass
