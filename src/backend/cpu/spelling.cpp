// SPDX-License-Identifier: Apache-2.0
// x86-64: one thread runs a program. The device calls
//
//   void <name>(const uint64_t* args, const int64_t* grid, int32_t x, int32_t y, int32_t z, char* scratch)
//
// once for each program. A loop over programs would be a second function or a second level of loops, and take as much of
// LLVM's time as a small kernel; a call takes a few nanoseconds.
#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>

#include "backend/cpu/spelling.h"
#include "base/error.h"
#include "codegen/llvm/codegen.h"
#include "codegen/llvm/emitter.h"

namespace strider {

using namespace codegen;

namespace {

constexpr int kScratchAlign = 64;
constexpr int kStreamAlign = 16;  // below it, LLVM would store piecemeal

/// The function's parameters.
enum { kArgs, kGrid, kId, kScratch = kId + 3 };

void mark_invariant(Emitter& e, llvm::Instruction* load) {
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(e.b.getContext(), {}));
}

llvm::Function* make_function(Emitter& e) {
  llvm::Type *pointer = e.b.getPtrTy(), *number = e.b.getInt32Ty();
  auto* type = llvm::FunctionType::get(e.b.getVoidTy(), {pointer, pointer, number, number, number, pointer}, false);
  auto* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, entry_name(e.f), e.module);
  f->setDoesNotThrow();
  for (unsigned k : {kArgs, kGrid, kScratch}) f->addParamAttr(k, llvm::Attribute::NoAlias);
  f->addParamAttr(kScratch, llvm::Attribute::getWithAlignment(e.b.getContext(), llvm::Align(kScratchAlign)));
  return f;
}

/// A scalar or pointer from its 8-byte slot.
llvm::Value* load_argument(Emitter& e, unsigned k, const ir::Type& type) {
  llvm::Value* slot = e.b.CreateConstGEP1_64(e.b.getInt64Ty(), e.program.function->getArg(kArgs), k);
  llvm::LoadInst* loaded = e.b.CreateLoad(type.is_pointer() ? e.type(type) : e.memory_element(type.dtype), slot);
  mark_invariant(e, loaded);
  return type == ir::Type::scalar(DType::Bool) ? e.b.CreateIsNotNull(loaded) : loaded;
}

void begin(Emitter& e) {
  llvm::Function* f = e.program.function = make_function(e);
  e.b.SetInsertPoint(e.block("entry"));
  for (unsigned k = 0; k < e.f.params().size(); ++k) e.value(e.f.params()[k]) = load_argument(e, k, e.f.type(e.f.params()[k]));
  for (unsigned axis = 0; axis < 3; ++axis) {
    e.program.id[axis] = f->getArg(kId + axis);
    llvm::Value* size = e.b.CreateConstGEP1_64(e.b.getInt64Ty(), f->getArg(kGrid), axis);
    e.program.count[axis] = e.b.CreateTrunc(e.b.CreateLoad(e.b.getInt64Ty(), size), e.b.getInt32Ty());
  }
  e.program.thread = e.b.getInt32(0);
  e.program.scratch = f->getArg(kScratch);
  e.program.readable = f->getArg(kArgs);
  e.program.never_null = f->getArg(kGrid);
}

void barrier(Emitter&) {}

void streaming(Emitter& e, llvm::StoreInst* store) {
  uint64_t bytes = e.module.getDataLayout().getTypeStoreSize(store->getValueOperand()->getType());
  if (store->getAlign() < kStreamAlign || bytes < kStreamAlign) return;
  auto* one = llvm::ConstantAsMetadata::get(e.b.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(e.b.getContext(), one));
}

llvm::Value* exchange(Emitter& e, llvm::Value*, int64_t) {
  unsupported_error("exchange: target {} has no threads that could exchange values", e.target.name);
}

/// Part `k` of a vector's parts of `lanes` each.
llvm::Value* part_of(Emitter& e, llvm::Value* vector, unsigned k, unsigned lanes) {
  llvm::SmallVector<int, 16> picked(lanes);
  std::iota(picked.begin(), picked.end(), static_cast<int>(k * lanes));
  return e.b.CreateShuffleVector(vector, picked);
}

llvm::Value* join(Emitter& e, llvm::ArrayRef<llvm::Value*> parts) {
  return parts.size() == 1 ? parts[0] : llvm::concatenateVectors(e.b, parts);
}

/// VRANGE knows the order of zeros, but drops NaN: lanes with one get a sum instead. It takes 3 instructions where LLVM takes 6.
llvm::Value* range(Emitter& e, ir::Op op, llvm::Value* a, llvm::Value* b) {
  using llvm::Intrinsic::x86_avx512_mask_range_pd_512, llvm::Intrinsic::x86_avx512_mask_range_ps_512;
  constexpr unsigned kSignOfResult = 1 << 2, kMaximum = 1, kCurrentRounding = 4;
  bool is_double = a->getType()->getScalarType()->isDoubleTy();
  llvm::Value* mask = e.b.CreateBitCast(e.b.CreateFCmpORD(a, b), is_double ? e.b.getInt8Ty() : e.b.getInt16Ty());
  llvm::Value* which = e.b.getInt32(kSignOfResult | (op == ir::Op::Maximum ? kMaximum : 0));
  return e.b.CreateIntrinsic(is_double ? x86_avx512_mask_range_pd_512 : x86_avx512_mask_range_ps_512, {},
                             {a, b, which, e.b.CreateFAdd(a, b), mask, e.b.getInt32(kCurrentRounding)});
}

llvm::Value* extremum(Emitter& e, ir::Op op, llvm::Value* a, llvm::Value* b) {
  constexpr unsigned kBits = 512;
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  bool is_known = llvm::isa<llvm::Constant>(a) || llvm::isa<llvm::Constant>(b);  // LLVM's code is as short, without its NaN or sign
  if (!e.has_ranges || !type || is_known || type->getPrimitiveSizeInBits() % kBits != 0) return nullptr;
  unsigned lanes = kBits / type->getScalarSizeInBits();
  Values parts;
  for (unsigned k = 0; k < type->getNumElements() / lanes; ++k) parts.push_back(range(e, op, part_of(e, a, k, lanes), part_of(e, b, k, lanes)));
  return join(e, parts);
}

void start() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

constexpr Spelling kSpelling = {
    .start = start,
    .half_feature = "+f16c",
    .range_feature = "+avx512dq",
    .spaces = {0, 0, 0, 0},
    .access_bytes = 0,
    .swap_bytes = 1,
    .half_atomics = false,
    .masks_are_bits = true,
    .splits_halves = true,
    .masked_loads_wait = true,
    .call_lanes = 0,
    .begin = begin,
    .barrier = barrier,
    .streaming = streaming,
    .exchange = exchange,
    .pack_bytes = nullptr,
    .negate_short = nullptr,
    .magnitude = nullptr,
    .negate_float = nullptr,
    .square_root = nullptr,
    .extremum = extremum,
};

}  // namespace

const Spelling& cpu_spelling() { return kSpelling; }

}  // namespace strider
