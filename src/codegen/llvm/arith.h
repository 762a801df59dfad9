// SPDX-License-Identifier: Apache-2.0
// Pointwise ops on scalars and vectors: one table row per op.
#pragma once

#include "codegen/llvm/emitter.h"

namespace strider::codegen {

/// A pointwise op.
llvm::Value* emit_pointwise(Emitter& e, ir::Value v);

/// For Emitter::shows_bits.
std::vector<bool> values_that_show_bits(const ir::Function& f);

/// `value` of dtype `from`, converted as ir/semantics.h says.
llvm::Value* emit_cast(Emitter& e, llvm::Value* value, DType from, DType to);

/// A binary op on single elements, as an atomic needs it; 16-bit floats by way of f32.
llvm::Value* emit_binary(Emitter& e, ir::Op op, DType dtype, llvm::Value* a, llvm::Value* b);

}  // namespace strider::codegen
