// SPDX-License-Identifier: Apache-2.0
// PTX: a program is a block of threads, its scratch the block's dynamic shared memory, the grid's axes x, y and z.
#include <cmath>

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/TargetSelect.h>

#include "backend/cuda/spelling.h"
#include "codegen/llvm/codegen.h"
#include "codegen/llvm/emitter.h"

namespace strider {

using namespace codegen;

namespace {

namespace Intrinsic = llvm::Intrinsic;

constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
constexpr int kScratchAlign = 16;
constexpr unsigned kIds[] = {Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                             Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
constexpr unsigned kCounts[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                Intrinsic::nvvm_read_ptx_sreg_nctaid_z};

/// A special register, whose value lies in [least, least + count).
llvm::Value* read(Emitter& e, unsigned id, uint32_t least, uint32_t count) {
  llvm::CallInst* call = e.b.CreateIntrinsic(e.b.getInt32Ty(), id, {});
  auto range = llvm::MDBuilder(e.b.getContext()).createRange(llvm::APInt(32, least), llvm::APInt(32, least + count));
  call->setMetadata(llvm::LLVMContext::MD_range, range);
  return call;
}

llvm::Value* shared_memory(Emitter& e) {
  auto* type = llvm::ArrayType::get(e.b.getInt8Ty(), 0);
  auto* scratch = new llvm::GlobalVariable(e.module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr, "scratch", nullptr,
                                           llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  scratch->setAlignment(llvm::Align(kScratchAlign));
  return scratch;
}

void annotate(Emitter& e, llvm::Function* kernel, const char* what, uint32_t value) {
  llvm::LLVMContext& context = e.b.getContext();
  llvm::Metadata* row[] = {llvm::ValueAsMetadata::get(kernel), llvm::MDString::get(context, what),
                           llvm::ConstantAsMetadata::get(e.b.getInt32(value))};
  e.module.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context, row));
}

/// Bools are passed as bytes.
llvm::Type* param_type(Emitter& e, const ir::Type& type) {
  return type.is_pointer() ? e.type(type) : e.memory_element(type.dtype);
}

llvm::Function* make_kernel(Emitter& e) {
  llvm::SmallVector<llvm::Type*, 16> types;
  for (ir::Value p : e.f.params()) types.push_back(param_type(e, e.f.type(p)));
  auto* type = llvm::FunctionType::get(e.b.getVoidTy(), types, false);
  auto* kernel = llvm::Function::Create(type, llvm::Function::ExternalLinkage, entry_name(e.f), e.module);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel->setDoesNotThrow();
  annotate(e, kernel, "kernel", 1);
  annotate(e, kernel, "reqntidx", static_cast<uint32_t>(e.f.threads));
  return kernel;
}

bool is_pointer(const Emitter& e, unsigned k) { return e.f.type(e.f.params()[k]).is_pointer(); }

/// True if what the program stores reaches nobody's memory but the stores' own.
bool stores_are_apart(const Emitter& e) {
  for (unsigned k = 0; k < e.f.params().size(); ++k) {
    const ir::ParamInfo& info = e.f.param_info(static_cast<int>(k));
    if (is_pointer(e, k) && !info.read_only && !info.no_alias) return false;
  }
  return true;
}

/// What is known about argument `k`. By it LLVM uses the read-only cache, also for pointers that loops carry; to LLVM memory
/// that is never written has no aliases, however many pointers reach it. Of memory that is written it must not be told so:
/// it would believe that no barrier brings other threads' stores.
void add_attributes(Emitter& e, unsigned k) {
  const ir::ParamInfo& info = e.f.param_info(static_cast<int>(k));
  if (!is_pointer(e, k)) return;
  llvm::AttrBuilder known(e.b.getContext());
  if (info.divisible > 1) known.addAlignmentAttr(static_cast<uint64_t>(info.divisible));
  if (info.read_only && (info.no_alias || stores_are_apart(e))) known.addAttribute(llvm::Attribute::NoAlias);
  if (info.read_only) known.addAttribute(llvm::Attribute::ReadOnly);
  e.program.function->addParamAttrs(k, known);
}

void begin(Emitter& e) {
  e.program.function = make_kernel(e);
  e.b.SetInsertPoint(e.block("entry"));
  for (unsigned k = 0; k < e.f.params().size(); ++k) {
    add_attributes(e, k);
    llvm::Value* argument = e.program.function->getArg(k);
    bool is_bool = e.f.type(e.f.params()[k]) == ir::Type::scalar(DType::Bool);
    e.value(e.f.params()[k]) = is_bool ? e.b.CreateIsNotNull(argument) : argument;
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto most = static_cast<uint32_t>(e.target.grid_limit[axis]);
    e.program.id[axis] = read(e, kIds[axis], 0, most);
    e.program.count[axis] = read(e, kCounts[axis], 1, most);
  }
  e.program.thread = read(e, Intrinsic::nvvm_read_ptx_sreg_tid_x, 0, static_cast<uint32_t>(e.f.threads));
  if (e.f.scratch_bytes > 0) e.program.scratch = shared_memory(e);
}

void barrier(Emitter& e) {
  if (e.f.threads > 1) e.b.CreateIntrinsic(Intrinsic::nvvm_barrier0, {}, {});
}

void streaming(Emitter&, llvm::StoreInst*) {}

llvm::Value* exchange(Emitter& e, llvm::Value* word, int64_t xor_mask) {
  uint32_t members = e.f.threads >= e.target.warp ? 0xffffffffu : (1u << e.f.threads) - 1;
  constexpr uint32_t kClamp = 0x1f;  // the whole warp is one segment
  return e.b.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                             {e.b.getInt32(members), word, e.b.getInt32(static_cast<uint32_t>(xor_mask)), e.b.getInt32(kClamp)});
}

/// A cast of the vector would be folded into the store, which LLVM would then split; a permutation of bytes is not.
llvm::Value* pack_bytes(Emitter& e, llvm::Value* bytes) {
  auto byte = [&](int64_t k) { return e.b.CreateZExt(e.lane(bytes, k), e.b.getInt32Ty()); };
  auto permute = [&](llvm::Value* a, llvm::Value* b, uint32_t selector) -> llvm::Value* {
    return e.b.CreateIntrinsic(e.b.getInt32Ty(), Intrinsic::nvvm_prmt, {a, b, e.b.getInt32(selector)});
  };
  constexpr uint32_t kLowBytes = 0x0040, kLowHalves = 0x5410;
  return permute(permute(byte(0), byte(1), kLowBytes), permute(byte(2), byte(3), kLowBytes), kLowHalves);
}

/// ptxas 13.0 negates two 16-bit integers of one register with a carry between them: -{0, 1} gives {0, 0} (seen on sm_90).
/// Negation in 32 bits, written so that LLVM does not narrow it again.
llvm::Value* negate_short(Emitter& e, llvm::Value* x) {
  llvm::Type* word = e.b.getInt32Ty();
  auto* negation = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, false), "neg.s32 $0, $1;", "=r,r", /*hasSideEffects=*/false);
  llvm::Value* negated = e.b.CreateCall(negation, {e.b.CreateSExt(x, word)});
  return e.b.CreateTrunc(negated, x->getType());
}

/// abs and neg of PTX may change the bits of NaN, of which only the sign may change. Integer arithmetic that LLVM sees through
/// would become abs and neg again.
llvm::Value* change_sign(Emitter& e, llvm::Value* x, const char* on_32, const char* on_64) {
  bool is_wide = x->getType()->isDoubleTy();
  llvm::Type* word = is_wide ? e.b.getInt64Ty() : e.b.getInt32Ty();
  auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, false), is_wide ? on_64 : on_32, is_wide ? "=l,l" : "=r,r",
                                    /*hasSideEffects=*/false);
  return e.b.CreateBitCast(e.b.CreateCall(code, {e.b.CreateBitCast(x, word)}), x->getType());
}
llvm::Value* magnitude(Emitter& e, llvm::Value* x) {
  return change_sign(e, x, "and.b32 $0, $1, 0x7fffffff;", "and.b64 $0, $1, 0x7fffffffffffffff;");
}
llvm::Value* negate_float(Emitter& e, llvm::Value* x) {
  return change_sign(e, x, "xor.b32 $0, $1, 0x80000000;", "xor.b64 $0, $1, 0x8000000000000000;");
}

/// sqrt.rn.f32 without its branches, which take ptxas most of the time of a long kernel. The estimate is good to 2^-22.9, so one
/// step with fma rounds correctly wherever nothing leaves the normal range: small numbers are scaled by an even power.
llvm::Value* square_root(Emitter& e, llvm::Value* x) {
  llvm::Type* type = e.b.getFloatTy();
  auto number = [&](double value) { return llvm::ConstantFP::get(type, value); };
  auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) { return e.b.CreateIntrinsic(type, Intrinsic::fma, {a, b, c}); };
  llvm::Value* is_small = e.b.CreateFCmpOLT(x, number(0x1p-96));
  llvm::Value* scaled = e.b.CreateFMul(x, e.b.CreateSelect(is_small, number(0x1p64), number(1)));
  llvm::Value* inverse = e.b.CreateIntrinsic(type, Intrinsic::nvvm_rsqrt_approx_ftz_f, {scaled});
  llvm::Value* root = e.b.CreateFMul(scaled, inverse);
  llvm::Value* rest = fma(e.b.CreateFNeg(root), root, scaled);
  root = fma(rest, e.b.CreateFMul(inverse, number(0.5)), root);
  root = e.b.CreateFMul(root, e.b.CreateSelect(is_small, number(0x1p-32), number(1)));
  llvm::Value* is_own_root = e.b.CreateOr(e.b.CreateFCmpOEQ(x, number(0)), e.b.CreateFCmpOEQ(x, number(HUGE_VAL)));
  return e.b.CreateSelect(is_own_root, x, root);
}

void start() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

constexpr Spelling kSpelling = {
    .start = start,
    .half_feature = nullptr,
    .range_feature = nullptr,
    .spaces = {0, kGlobalSpace, kSharedSpace, 0},
    .access_bytes = 16,
    .swap_bytes = 4,
    .half_atomics = true,
    .masks_are_bits = false,
    .splits_halves = false,
    .masked_loads_wait = false,
    .call_lanes = 1,
    .begin = begin,
    .barrier = barrier,
    .streaming = streaming,
    .exchange = exchange,
    .pack_bytes = pack_bytes,
    .negate_short = negate_short,
    .magnitude = magnitude,
    .negate_float = negate_float,
    .square_root = square_root,
    .extremum = nullptr,
};

}  // namespace

const Spelling& cuda_spelling() { return kSpelling; }

}  // namespace strider
