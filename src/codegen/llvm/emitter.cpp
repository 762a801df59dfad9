// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emitter.h"

#include "base/error.h"

namespace strider::codegen {

Emitter::Emitter(const ir::Function& function, const Target& t, const Spelling& s, llvm::Module& m)
    : f(function), target(t), spelling(s), module(m),
      b(m.getContext(), llvm::TargetFolder(m.getDataLayout())), values(function.size()) {}

llvm::Type* Emitter::element(DType dtype) {
  switch (dtype) {
    case DType::F32: return b.getFloatTy();
    case DType::F64: return b.getDoubleTy();
    default: return b.getIntNTy(bits_of(dtype));
  }
}

llvm::Type* Emitter::memory_element(DType dtype) { return dtype == DType::Bool ? b.getInt8Ty() : element(dtype); }

llvm::Type* Emitter::with_lanes(llvm::Type* element, int64_t lanes) const {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

llvm::Type* Emitter::type(const ir::Type& t) {
  llvm::Type* scalar = t.is_pointer() ? b.getPtrTy(spelling.spaces[static_cast<int>(t.space)]) : element(t.dtype);
  return with_lanes(scalar, t.elements());
}

llvm::Constant* Emitter::constant(DType dtype, uint64_t bits) {
  llvm::APInt wanted(static_cast<unsigned>(bits_of(dtype)), bits);
  if (dtype == DType::F32) return llvm::ConstantFP::get(b.getContext(), llvm::APFloat(llvm::APFloat::IEEEsingle(), wanted));
  if (dtype == DType::F64) return llvm::ConstantFP::get(b.getContext(), llvm::APFloat(llvm::APFloat::IEEEdouble(), wanted));
  return llvm::ConstantInt::get(b.getContext(), wanted);
}

llvm::Value* Emitter::lane(llvm::Value* vector, int64_t index) {
  return vector->getType()->isVectorTy() ? b.CreateExtractElement(vector, static_cast<uint64_t>(index)) : vector;
}

llvm::BasicBlock* Emitter::block(const char* name) {
  return llvm::BasicBlock::Create(b.getContext(), name, program.function);
}

llvm::Value* Emitter::guarded(llvm::Value* condition, llvm::function_ref<llvm::Value*()> body, llvm::Value* otherwise) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) return known->isZero() ? otherwise : body();
  llvm::BasicBlock *before = b.GetInsertBlock(), *then = block("then"), *done = block("done");
  b.CreateCondBr(condition, then, done);
  b.SetInsertPoint(then);
  llvm::Value* computed = body();
  llvm::BasicBlock* end = b.GetInsertBlock();
  b.CreateBr(done);
  b.SetInsertPoint(done);
  if (!computed || !otherwise) return nullptr;
  llvm::PHINode* chosen = b.CreatePHI(computed->getType(), 2);
  chosen->addIncoming(otherwise, before);
  chosen->addIncoming(computed, end);
  return chosen;
}

}  // namespace strider::codegen
