// SPDX-License-Identifier: Apache-2.0
// Atomic additions to one element. Relaxed: they order nothing else. What no instruction adds is exchanged in a loop, on the
// word around the element where the processor cannot exchange anything narrower.
#include "codegen/llvm/arith.h"
#include "codegen/llvm/memory.h"

namespace strider::codegen {
namespace {

constexpr auto kRelaxed = llvm::AtomicOrdering::Monotonic;
constexpr auto kAnyScope = llvm::SyncScope::System;

bool is_narrow_float(DType dtype) { return is_float(dtype) && size_of(dtype) == 2; }

llvm::Value* add_native(Emitter& e, llvm::AtomicRMWInst::BinOp op, llvm::Value* pointer, llvm::Value* value, DType dtype) {
  return e.b.CreateAtomicRMW(op, pointer, value, llvm::Align(size_of(dtype)), kRelaxed, kAnyScope);
}

llvm::Value* add_half(Emitter& e, llvm::Value* pointer, llvm::Value* value) {
  llvm::Value* half = e.b.CreateBitCast(value, e.b.getHalfTy());
  return e.b.CreateBitCast(add_native(e, llvm::AtomicRMWInst::FAdd, pointer, half, DType::F16), e.b.getInt16Ty());
}

/// Where an element lies in the word that is exchanged.
struct Field {
  llvm::Value* word;   // pointer
  llvm::Value* shift;  // bits, of the word's type
  llvm::IntegerType* type;
};

Field field_of(Emitter& e, llvm::Value* pointer, DType dtype) {
  int bytes = std::max(e.spelling.swap_bytes, size_of(dtype));
  llvm::IntegerType* type = e.b.getIntNTy(static_cast<unsigned>(8 * bytes));
  if (bytes == size_of(dtype)) return {pointer, llvm::ConstantInt::get(type, 0), type};
  llvm::Value* offset = e.b.CreateAnd(e.b.CreatePtrToInt(pointer, e.b.getInt64Ty()), static_cast<uint64_t>(bytes - 1));
  llvm::Value* word = e.b.CreateGEP(e.b.getInt8Ty(), pointer, e.b.CreateNeg(offset));
  return {word, e.b.CreateTrunc(e.b.CreateShl(offset, 3), type), type};
}

llvm::Value* extract(Emitter& e, const Field& at, llvm::Value* word, DType dtype) {
  return e.b.CreateTrunc(e.b.CreateLShr(word, at.shift), e.element(dtype));
}

llvm::Value* replace(Emitter& e, const Field& at, llvm::Value* word, llvm::Value* element) {
  llvm::Value* ones = e.b.CreateZExt(llvm::Constant::getAllOnesValue(element->getType()), at.type);
  llvm::Value* rest = e.b.CreateAnd(word, e.b.CreateNot(e.b.CreateShl(ones, at.shift)));
  return e.b.CreateOr(rest, e.b.CreateShl(e.b.CreateZExt(element, at.type), at.shift));
}

llvm::Value* add_in_loop(Emitter& e, DType dtype, llvm::Value* pointer, llvm::Value* value) {
  Field at = field_of(e, pointer, dtype);
  llvm::Align align(at.type->getBitWidth() / 8);
  auto* first = e.b.CreateAlignedLoad(at.type, at.word, align, /*isVolatile=*/true);
  llvm::BasicBlock *before = e.b.GetInsertBlock(), *loop = e.block("swap"), *done = e.block("swapped");
  e.b.CreateBr(loop);
  e.b.SetInsertPoint(loop);
  llvm::PHINode* seen = e.b.CreatePHI(at.type, 2);
  llvm::Value* old = extract(e, at, seen, dtype);
  llvm::Value* wanted = replace(e, at, seen, emit_add(e, dtype, old, value));
  llvm::Value* swap = e.b.CreateAtomicCmpXchg(at.word, seen, wanted, align, kRelaxed, kRelaxed, kAnyScope);
  seen->addIncoming(first, before);
  seen->addIncoming(e.b.CreateExtractValue(swap, 0), loop);
  e.b.CreateCondBr(e.b.CreateExtractValue(swap, 1), done, loop);
  e.b.SetInsertPoint(done);
  return old;
}

}  // namespace

llvm::Value* emit_atomic_element(Emitter& e, DType dtype, llvm::Value* pointer, llvm::Value* value) {
  if (dtype == DType::F16 && e.spelling.half_atomics) return add_half(e, pointer, value);
  if (is_narrow_float(dtype) || size_of(dtype) < e.spelling.swap_bytes) return add_in_loop(e, dtype, pointer, value);
  return add_native(e, is_float(dtype) ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add, pointer, value, dtype);
}

}  // namespace strider::codegen
