// SPDX-License-Identifier: Apache-2.0
// Ops that are short programs of other ops, with exactly the bits that ir/semantics.h gives them.
#pragma once

#include <span>

#include "ir/builder.h"

namespace strider::pass {

/// `op` written in ops that targets spell, or no value if it is one of those itself. Operands are integers, bool, f32 or f64;
/// `asked` is the dtype that the program named, f16 and bf16 included, whose operands came as f32.
ir::Value compose(ir::Builder& b, ir::Op op, std::span<const ir::Value> x, DType asked);

/// The same for ops that look at the bits of floats of any width, so that 16-bit floats are not converted first.
ir::Value compose_on_bits(ir::Builder& b, ir::Op op, std::span<const ir::Value> x);

}  // namespace strider::pass
