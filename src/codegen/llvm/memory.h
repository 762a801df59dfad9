// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomic additions. A lane whose mask is false touches no memory.
#pragma once

#include "codegen/llvm/emitter.h"

namespace strider::codegen {

llvm::Value* emit_load(Emitter& e, ir::Value v);        // scalar, or lane by lane through a vector of pointers
llvm::Value* emit_store(Emitter& e, ir::Value v);
llvm::Value* emit_load_block(Emitter& e, ir::Value v);  // consecutive elements
llvm::Value* emit_store_block(Emitter& e, ir::Value v);
llvm::Value* emit_atomic_add(Emitter& e, ir::Value v);
llvm::Value* emit_alloc(Emitter& e, ir::Value v);

/// Adds to one element in memory; gives what was there.
llvm::Value* emit_atomic_element(Emitter& e, DType dtype, llvm::Value* pointer, llvm::Value* value);

}  // namespace strider::codegen
