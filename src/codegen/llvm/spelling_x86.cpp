// SPDX-License-Identifier: Apache-2.0
// x86-64: one thread runs a program. The device calls
//
//   void <name>(const uint64_t* args, const int64_t* grid, int64_t begin, int64_t end, char* scratch)
//
// which runs the programs with linear ids [begin, end), axis 0 fastest, one after another. The program itself is a function
// of its own, whose parameters carry what is known about each pointer.
#include <llvm/IR/IntrinsicsX86.h>

#include "base/error.h"
#include "codegen/llvm/codegen.h"
#include "codegen/llvm/emitter.h"

namespace strider::codegen {

extern const Spelling kX86Spelling;

namespace {

constexpr int kScratchAlign = 64;
constexpr int kStreamAlign = 16;  // below it, LLVM would store piecemeal

/// The program's parameters after the kernel's own.
enum Extra { kId, kGrid = 3, kScratch, kExtraCount };

void begin(Emitter& e) {
  llvm::SmallVector<llvm::Type*, 16> types;
  for (ir::Value p : e.f.params()) types.push_back(e.type(e.f.type(p)));
  types.append({e.b.getInt32Ty(), e.b.getInt32Ty(), e.b.getInt32Ty(), e.b.getPtrTy(), e.b.getPtrTy()});
  auto* type = llvm::FunctionType::get(e.b.getVoidTy(), types, false);
  auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, "program", e.module);
  f->setDoesNotThrow();
  e.program.function = f;
  e.b.SetInsertPoint(e.block("entry"));

  unsigned count = static_cast<unsigned>(e.f.params().size());
  for (unsigned k = 0; k < count; ++k) {
    add_param_attributes(e, k);
    e.value(e.f.params()[k]) = f->getArg(k);
  }
  f->addParamAttr(count + kScratch, llvm::Attribute::getWithAlignment(e.b.getContext(), llvm::Align(kScratchAlign)));
  f->addParamAttr(count + kScratch, llvm::Attribute::NoAlias);
  for (unsigned axis = 0; axis < 3; ++axis) {
    e.program.id[axis] = f->getArg(count + kId + axis);
    llvm::Value* size = e.b.CreateConstGEP1_64(e.b.getInt64Ty(), f->getArg(count + kGrid), axis);
    e.program.count[axis] = e.b.CreateTrunc(e.b.CreateLoad(e.b.getInt64Ty(), size), e.b.getInt32Ty());
  }
  e.program.thread = e.b.getInt32(0);
  e.program.scratch = f->getArg(count + kScratch);
}

/// A scalar or pointer from its 8-byte slot.
llvm::Value* load_argument(Emitter& e, llvm::Value* args, unsigned k, const ir::Type& type) {
  llvm::Value* slot = e.b.CreateConstGEP1_64(e.b.getInt64Ty(), args, k);
  if (type.is_pointer()) return e.b.CreateLoad(e.type(type), slot);
  llvm::Value* loaded = e.b.CreateLoad(e.memory_element(type.dtype), slot);
  return type.dtype == DType::Bool ? e.b.CreateIsNotNull(loaded) : loaded;
}

/// The three coordinates of a program, counted up without division.
struct Coordinates {
  std::array<llvm::Value*, 3> first, size;

  Coordinates(Emitter& e, llvm::Value* grid, llvm::Value* linear) {
    llvm::Value* rest = linear;
    for (unsigned axis = 0; axis < 3; ++axis) {
      size[axis] = e.b.CreateLoad(e.b.getInt64Ty(), e.b.CreateConstGEP1_64(e.b.getInt64Ty(), grid, axis));
      first[axis] = axis < 2 ? e.b.CreateURem(rest, size[axis]) : rest;
      rest = e.b.CreateUDiv(rest, size[axis]);
    }
  }
  std::array<llvm::Value*, 3> after(Emitter& e, llvm::ArrayRef<llvm::Value*> at) const {
    std::array<llvm::Value*, 3> next;
    llvm::Value* carry = e.b.getTrue();
    for (unsigned axis = 0; axis < 3; ++axis) {
      llvm::Value* up = e.b.CreateAdd(at[axis], e.b.CreateZExt(carry, e.b.getInt64Ty()));
      carry = axis < 2 ? e.b.CreateICmpEQ(up, size[axis]) : e.b.getFalse();
      next[axis] = e.b.CreateSelect(carry, e.b.getInt64(0), up);
    }
    return next;
  }
};

void write_entry(Emitter& e, llvm::Function* entry, llvm::Function* program) {
  llvm::Value *args = entry->getArg(0), *grid = entry->getArg(1), *begin = entry->getArg(2), *end = entry->getArg(3);
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(e.b.getContext(), name, entry); };
  llvm::BasicBlock *head = block("entry"), *loop = block("programs"), *done = block("done");
  e.b.SetInsertPoint(head);
  llvm::SmallVector<llvm::Value*, 16> call;
  for (unsigned k = 0; k < e.f.params().size(); ++k) call.push_back(load_argument(e, args, k, e.f.type(e.f.params()[k])));
  Coordinates coordinates(e, grid, begin);
  e.b.CreateBr(loop);

  e.b.SetInsertPoint(loop);
  llvm::SmallVector<llvm::PHINode*, 4> at;
  for (llvm::Value* start : {begin, coordinates.first[0], coordinates.first[1], coordinates.first[2]}) {
    at.push_back(e.b.CreatePHI(e.b.getInt64Ty(), 2));
    at.back()->addIncoming(start, head);
  }
  for (unsigned axis = 0; axis < 3; ++axis) call.push_back(e.b.CreateTrunc(at[axis + 1], e.b.getInt32Ty()));
  call.append({grid, entry->getArg(4)});
  e.b.CreateCall(program, call);
  llvm::Value* next = e.b.CreateAdd(at[0], e.b.getInt64(1));
  at[0]->addIncoming(next, loop);
  auto moved = coordinates.after(e, {at[1], at[2], at[3]});
  for (unsigned axis = 0; axis < 3; ++axis) at[axis + 1]->addIncoming(moved[axis], loop);
  e.b.CreateCondBr(e.b.CreateICmpSLT(next, end), loop, done);

  e.b.SetInsertPoint(done);
  if (e.streams) e.b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});  // streaming stores overtake ordinary ones
  e.b.CreateRetVoid();
}

llvm::Function* finish(Emitter& e) {
  e.b.CreateRetVoid();
  llvm::Type *pointer = e.b.getPtrTy(), *number = e.b.getInt64Ty();
  auto* type = llvm::FunctionType::get(e.b.getVoidTy(), {pointer, pointer, number, number, pointer}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, entry_name(e.f), e.module);
  entry->setDoesNotThrow();
  write_entry(e, entry, e.program.function);
  return entry;
}

void barrier(Emitter&) {}

void streaming(Emitter& e, llvm::StoreInst* store) {
  uint64_t bytes = e.module.getDataLayout().getTypeStoreSize(store->getValueOperand()->getType());
  if (store->getAlign() < kStreamAlign || bytes < kStreamAlign) return;
  auto* one = llvm::ConstantAsMetadata::get(e.b.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(e.b.getContext(), one));
  e.streams = true;
}

llvm::Value* exchange(Emitter& e, llvm::Value*, int64_t) {
  unsupported_error("exchange: target {} has no threads that could exchange values", e.target.name);
}

}  // namespace

constexpr Spelling kX86Spelling = {
    .spaces = {0, 0, 0, 0},
    .access_bytes = 0,
    .swap_bytes = 1,
    .half_atomics = false,
    .masks_are_bits = true,
    .begin = begin,
    .finish = finish,
    .barrier = barrier,
    .streaming = streaming,
    .exchange = exchange,
};

}  // namespace strider::codegen
