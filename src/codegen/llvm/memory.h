// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics. A lane whose mask is false touches no memory.
#pragma once

#include "codegen/llvm/emitter.h"

namespace strider::codegen {

llvm::Value* emit_load(Emitter& e, ir::Value v);        // scalar, or lane by lane through a vector of pointers
llvm::Value* emit_store(Emitter& e, ir::Value v);
llvm::Value* emit_load_block(Emitter& e, ir::Value v);  // consecutive elements
llvm::Value* emit_store_block(Emitter& e, ir::Value v);
llvm::Value* emit_atomic(Emitter& e, ir::Value v);
llvm::Value* emit_alloc(Emitter& e, ir::Value v);

/// An atomic on one element: what it is given, as values in registers.
struct AtomicElement {
  ir::AtomicKind kind;
  DType dtype;
  llvm::Value *pointer, *value;
  llvm::Value* compare;  // of compare-and-swap
};
/// Gives what was in memory.
llvm::Value* emit_atomic_element(Emitter& e, const AtomicElement& a);

}  // namespace strider::codegen
