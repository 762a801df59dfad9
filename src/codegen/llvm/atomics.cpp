// SPDX-License-Identifier: Apache-2.0
// Atomics on one element. Relaxed: they order nothing else. What no instruction does is exchanged in a loop, on the word around
// the element where the processor cannot exchange anything narrower.
#include "codegen/llvm/arith.h"
#include "codegen/llvm/memory.h"

namespace strider::codegen {

using ir::AtomicKind;

namespace {

constexpr auto kRelaxed = llvm::AtomicOrdering::Monotonic;
constexpr auto kAnyScope = llvm::SyncScope::System;

bool is_narrow_float(DType dtype) { return is_float(dtype) && size_of(dtype) == 2; }

// --- one instruction

/// The instruction that does it: of integers, by AtomicKind.
using Rmw = llvm::AtomicRMWInst::BinOp;
constexpr struct {
  Rmw as_signed, as_unsigned;
} kInstructions[] = {{Rmw::Add, Rmw::Add}, {Rmw::Max, Rmw::UMax}, {Rmw::Min, Rmw::UMin}, {Rmw::And, Rmw::And},
                     {Rmw::Or, Rmw::Or},   {Rmw::Xor, Rmw::Xor},  {Rmw::Xchg, Rmw::Xchg}};

llvm::Value* modify(Emitter& e, Rmw op, const AtomicElement& a, llvm::Value* value) {
  return e.b.CreateAtomicRMW(op, a.pointer, value, llvm::Align(static_cast<uint64_t>(size_of(a.dtype))), kRelaxed, kAnyScope);
}

llvm::Value* add_half(Emitter& e, const AtomicElement& a) {
  llvm::Value* half = e.b.CreateBitCast(a.value, e.b.getHalfTy());
  return e.b.CreateBitCast(modify(e, Rmw::FAdd, a, half), e.b.getInt16Ty());
}

llvm::IntegerType* bits_type(Emitter& e, DType dtype) { return e.b.getIntNTy(static_cast<unsigned>(8 * size_of(dtype))); }

/// An element in a register as the bits that memory holds, and back.
llvm::Value* to_bits(Emitter& e, DType dtype, llvm::Value* x) {
  return dtype == DType::Bool ? e.b.CreateZExt(x, e.b.getInt8Ty()) : e.b.CreateBitCast(x, bits_type(e, dtype));
}
llvm::Value* from_bits(Emitter& e, DType dtype, llvm::Value* bits) {
  if (dtype == DType::Bool) return e.b.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
  return e.b.CreateBitCast(bits, e.element(dtype));
}

llvm::Value* swap_native(Emitter& e, const AtomicElement& a) {
  llvm::Value* swap = e.b.CreateAtomicCmpXchg(a.pointer, to_bits(e, a.dtype, a.compare), to_bits(e, a.dtype, a.value),
                                              llvm::Align(static_cast<uint64_t>(size_of(a.dtype))), kRelaxed, kRelaxed, kAnyScope);
  return from_bits(e, a.dtype, e.b.CreateExtractValue(swap, 0));
}

/// Null where no instruction does it.
llvm::Value* emit_native(Emitter& e, const AtomicElement& a) {
  if (a.kind == AtomicKind::Add && a.dtype == DType::F16 && e.spelling.half_atomics) return add_half(e, a);
  // A byte that is not 0 is true: which one it is must not decide.
  if (size_of(a.dtype) < e.spelling.swap_bytes || a.dtype == DType::Bool) return nullptr;
  if (a.kind == AtomicKind::CompareExchange) return swap_native(e, a);
  if (a.kind == AtomicKind::Exchange) return from_bits(e, a.dtype, modify(e, Rmw::Xchg, a, to_bits(e, a.dtype, a.value)));
  if (is_float(a.dtype)) return a.kind == AtomicKind::Add && !is_narrow_float(a.dtype) ? modify(e, Rmw::FAdd, a, a.value) : nullptr;
  const auto& row = kInstructions[static_cast<int>(a.kind)];
  return modify(e, is_signed_int(a.dtype) ? row.as_signed : row.as_unsigned, a, a.value);
}

// --- a loop

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
  return from_bits(e, dtype, e.b.CreateTrunc(e.b.CreateLShr(word, at.shift), bits_type(e, dtype)));
}

llvm::Value* replace(Emitter& e, const Field& at, llvm::Value* word, DType dtype, llvm::Value* element) {
  llvm::Value* bits = to_bits(e, dtype, element);
  llvm::Value* ones = e.b.CreateZExt(llvm::Constant::getAllOnesValue(bits->getType()), at.type);
  llvm::Value* rest = e.b.CreateAnd(word, e.b.CreateNot(e.b.CreateShl(ones, at.shift)));
  return e.b.CreateOr(rest, e.b.CreateShl(e.b.CreateZExt(bits, at.type), at.shift));
}

/// What the element becomes.
llvm::Value* result_of(Emitter& e, const AtomicElement& a, llvm::Value* old) {
  constexpr ir::Op kOps[] = {ir::Op::Add, ir::Op::Maximum, ir::Op::Minimum, ir::Op::And, ir::Op::Or, ir::Op::Xor};
  if (a.kind == AtomicKind::Exchange) return a.value;
  if (a.kind != AtomicKind::CompareExchange) return emit_binary(e, kOps[static_cast<int>(a.kind)], a.dtype, old, a.value);
  llvm::Value* same = e.b.CreateICmpEQ(to_bits(e, a.dtype, old), to_bits(e, a.dtype, a.compare));
  return e.b.CreateSelect(same, a.value, old);
}

/// Where the word would stay as it is, as a maximum mostly does, nothing is written.
llvm::Value* emit_in_loop(Emitter& e, const AtomicElement& a) {
  Field at = field_of(e, a.pointer, a.dtype);
  llvm::Align align(at.type->getBitWidth() / 8);
  auto* first = e.b.CreateAlignedLoad(at.type, at.word, align, /*isVolatile=*/true);
  llvm::BasicBlock *before = e.b.GetInsertBlock(), *loop = e.block("seen"), *write = e.block("swap"), *done = e.block("swapped");
  e.b.CreateBr(loop);
  e.b.SetInsertPoint(loop);
  llvm::PHINode* seen = e.b.CreatePHI(at.type, 2);
  llvm::Value* old = extract(e, at, seen, a.dtype);
  llvm::Value* wanted = replace(e, at, seen, a.dtype, result_of(e, a, old));
  e.b.CreateCondBr(e.b.CreateICmpEQ(wanted, seen), done, write);
  e.b.SetInsertPoint(write);
  llvm::Value* swap = e.b.CreateAtomicCmpXchg(at.word, seen, wanted, align, kRelaxed, kRelaxed, kAnyScope);
  seen->addIncoming(first, before);
  seen->addIncoming(e.b.CreateExtractValue(swap, 0), write);
  e.b.CreateCondBr(e.b.CreateExtractValue(swap, 1), done, loop);
  e.b.SetInsertPoint(done);
  return old;
}

}  // namespace

llvm::Value* emit_atomic_element(Emitter& e, const AtomicElement& a) {
  llvm::Value* old = emit_native(e, a);
  return old ? old : emit_in_loop(e, a);
}

}  // namespace strider::codegen
