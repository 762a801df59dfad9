// SPDX-License-Identifier: Apache-2.0
// How a block (consecutive elements) is accessed:
//   no mask, or one bool for all lanes   one access, inside a branch if masked; in pieces where Spelling::access_bytes says so
//   a mask that the target can spell     LLVM's masked intrinsics
//   any other mask                       one access if all lanes are set, else lane by lane
#include "codegen/llvm/memory.h"

#include <bit>

#include <llvm/Analysis/VectorUtils.h>

#include "base/error.h"
#include "ir/roots.h"

namespace strider::codegen {

using ir::Op;

namespace {

/// One memory op, unpacked.
struct Access {
  DType dtype;
  int64_t lanes;
  llvm::Value* pointer;  // or a vector of pointers
  llvm::Value* value;    // what is stored or added; of a load, what masked-off lanes give. May be null
  llvm::Value* mask;     // may be null
  int64_t align;         // bytes, of the block
  bool streaming;
  bool invariant;  // a load of memory that the program does not write
};

int64_t known_align(const ir::Node& node, const Spelling& spelling, DType dtype) {
  int64_t align = int64_t{1} << (node.imm >> ir::kAlignShift & 0xff);
  return spelling.access_bytes ? std::max<int64_t>(align, size_of(dtype)) : align;  // GPUs trap on unaligned elements anyway
}

llvm::Value* optional(Emitter& e, ir::Value v, int k) { return k < e.f[v].operand_count ? e.operand(v, k) : nullptr; }

llvm::Value* mask_or_null(Emitter& e, ir::Value v, int k) {
  llvm::Value* mask = optional(e, v, k);
  auto* known = llvm::dyn_cast_or_null<llvm::Constant>(mask);
  return known && known->isAllOnesValue() ? nullptr : mask;
}

bool is_invariant(const ir::Function& f, ir::Value pointer) {
  ir::Value root = ir::root_of(f, pointer);
  for (size_t k = 0; k < f.params().size(); ++k)
    if (f.params()[k] == root) return f.param_info(static_cast<int>(k)).read_only && f.param_info(static_cast<int>(k)).no_alias;
  return false;
}

Access access_of(Emitter& e, ir::Value v) {
  const ir::Node& node = e.f[v];
  bool is_load = node.op == Op::Load || node.op == Op::LoadBlock;
  const ir::Type& accessed = is_load ? node.type : e.f.type(e.f.operand(v, 1));
  Access a{};
  a.dtype = accessed.dtype;
  a.lanes = accessed.elements();
  a.pointer = e.operand(v, 0);
  a.value = optional(e, v, is_load ? 2 : 1);
  a.mask = mask_or_null(e, v, ir::mask_operand(node.op, node.imm));
  if (is_load && !a.value) a.value = llvm::Constant::getNullValue(e.type(accessed));
  bool is_atomic = node.op == ir::Op::Atomic;  // whose imm says something else
  a.align = is_atomic ? size_of(a.dtype) : known_align(node, e.spelling, a.dtype);
  a.streaming = !is_atomic && node.imm & ir::kStreaming;
  a.invariant = is_load && is_invariant(e.f, e.f.operand(v, 0));
  return a;
}

// --- single elements

/// The element's own alignment, or less where the block's is smaller.
int64_t element_align(const Access& a) { return std::min<int64_t>(a.align, size_of(a.dtype)); }

llvm::Value* to_memory(Emitter& e, llvm::Value* x, DType dtype) {
  if (dtype != DType::Bool) return x;
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  return e.b.CreateZExt(x, e.with_lanes(e.b.getInt8Ty(), vector ? vector->getNumElements() : 1));
}

llvm::Value* from_memory(Emitter& e, llvm::Value* x, DType dtype) {
  return dtype == DType::Bool ? e.b.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType())) : x;
}

llvm::Value* load_plain(Emitter& e, const Access& a, llvm::Type* type, llvm::Value* pointer, int64_t align) {
  llvm::LoadInst* loaded = e.b.CreateAlignedLoad(type, pointer, llvm::Align(static_cast<uint64_t>(align)));
  if (a.invariant) loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(e.b.getContext(), {}));
  return loaded;
}

llvm::Value* load_element(Emitter& e, const Access& a, llvm::Value* pointer) {
  return from_memory(e, load_plain(e, a, e.memory_element(a.dtype), pointer, element_align(a)), a.dtype);
}

void store_element(Emitter& e, const Access& a, llvm::Value* pointer, llvm::Value* value) {
  e.b.CreateAlignedStore(to_memory(e, value, a.dtype), pointer, llvm::Align(static_cast<uint64_t>(element_align(a))));
}

/// A lane of a vector; where that is a product with one factor in all lanes, as a product of scalars.
llvm::Value* lane_of_product(Emitter& e, llvm::Value* vector, int64_t lane) {
  auto* product = llvm::dyn_cast<llvm::BinaryOperator>(vector);
  if (!product || product->getOpcode() != llvm::Instruction::Mul) return e.lane(vector, lane);
  return e.b.CreateMul(e.lane(product->getOperand(0), lane), e.lane(product->getOperand(1), lane));
}

llvm::Value* element_pointer(Emitter& e, const Access& a, int64_t lane) {
  if (a.pointer->getType()->isVectorTy()) {
    // One base and a vector of offsets: the offsets may be the same in all rounds of a loop, the sums are not.
    auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(a.pointer);
    llvm::Value* base = sum && sum->getNumIndices() == 1 ? llvm::getSplatValue(sum->getPointerOperand()) : nullptr;
    if (!base) return e.lane(a.pointer, lane);
    return e.b.CreateGEP(sum->getSourceElementType(), base, lane_of_product(e, sum->getOperand(1), lane));
  }
  return e.b.CreateConstGEP1_64(e.memory_element(a.dtype), a.pointer, static_cast<uint64_t>(lane));
}

// --- lane by lane

/// The bools of a mask, one by one.
struct MaskBits {
  MaskBits(Emitter& emitter, llvm::Value* m, int64_t lanes) : e(emitter), mask(m) {
    if (m && lanes > 1 && e.spelling.masks_are_bits) bits = e.b.CreateBitCast(m, e.b.getIntNTy(static_cast<unsigned>(lanes)));
  }
  llvm::Value* operator[](int64_t lane) const {
    if (!mask) return e.b.getTrue();
    if (!bits) return e.lane(mask, lane);
    llvm::Value* bit = e.b.CreateAnd(bits, llvm::ConstantInt::get(bits->getType(), uint64_t{1} << lane));
    return e.b.CreateIsNotNull(bit);
  }
  Emitter& e;
  llvm::Value *mask, *bits = nullptr;
};

llvm::Value* all_set(Emitter& e, llvm::Value* mask, int64_t lanes) {
  if (e.spelling.masks_are_bits) return e.b.CreateAndReduce(mask);
  llvm::Value* all = e.lane(mask, 0);
  for (int64_t k = 1; k < lanes; ++k) all = e.b.CreateAnd(all, e.lane(mask, k));
  return all;
}

/// `body(pointer, k)` for every lane k that is set, in order; gives what it returns, and `a.value` in the other lanes.
llvm::Value* each_lane(Emitter& e, const Access& a, llvm::Value* otherwise,
                       llvm::function_ref<llvm::Value*(llvm::Value*, int64_t)> body) {
  MaskBits set(e, a.mask, a.lanes);
  llvm::Value* all = otherwise;
  for (int64_t k = 0; k < a.lanes; ++k) {
    llvm::Value* before = otherwise ? e.lane(otherwise, k) : nullptr;
    llvm::Value* one = e.guarded(set[k], [&] { return body(element_pointer(e, a, k), k); }, before);
    if (all) all = a.lanes == 1 ? one : e.b.CreateInsertElement(all, one, static_cast<uint64_t>(k));
  }
  return all;
}

llvm::Value* load_lanes(Emitter& e, const Access& a) {
  return each_lane(e, a, a.value, [&](llvm::Value* p, int64_t) { return load_element(e, a, p); });
}

llvm::Value* store_lanes(Emitter& e, const Access& a) {
  return each_lane(e, a, nullptr, [&](llvm::Value* p, int64_t k) {
    store_element(e, a, p, e.lane(a.value, k));
    return nullptr;
  });
}

// --- blocks without a mask

int64_t piece_bytes(const Emitter& e, const Access& a) {
  int64_t all = a.lanes * size_of(a.dtype);
  return e.spelling.access_bytes ? std::min({int64_t{e.spelling.access_bytes}, a.align, all}) : all;
}

llvm::FixedVectorType* vector_of(llvm::Type* element, int64_t lanes) {
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

/// What a piece looks like to the processor: elements, or 32-bit words when elements are narrower (one access, not many).
llvm::Type* piece_type(Emitter& e, const Access& a, int64_t bytes) {
  bool as_words = e.spelling.access_bytes && size_of(a.dtype) < 4 && bytes >= 4;
  if (as_words) return e.with_lanes(e.b.getInt32Ty(), bytes / 4);
  return e.with_lanes(e.memory_element(a.dtype), bytes / size_of(a.dtype));
}

llvm::Value* load_whole(Emitter& e, const Access& a) {
  int64_t bytes = piece_bytes(e, a), elements = bytes / size_of(a.dtype);
  llvm::Type* type = piece_type(e, a, bytes);
  Values pieces;
  for (int64_t k = 0; k < a.lanes; k += elements) {
    llvm::Value* piece = load_plain(e, a, type, element_pointer(e, a, k), std::min(a.align, bytes));
    pieces.push_back(e.b.CreateBitCast(piece, e.with_lanes(e.memory_element(a.dtype), elements)));
  }
  if (elements == 1 && a.lanes > 1) {
    llvm::Value* all = llvm::PoisonValue::get(vector_of(e.memory_element(a.dtype), a.lanes));
    for (int64_t k = 0; k < a.lanes; ++k) all = e.b.CreateInsertElement(all, pieces[k], static_cast<uint64_t>(k));
    return from_memory(e, all, a.dtype);
  }
  return from_memory(e, llvm::concatenateVectors(e.b, pieces), a.dtype);
}

llvm::Value* slice(Emitter& e, llvm::Value* vector, int64_t first, int64_t count) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  if (!type || type->getNumElements() == count) return vector;
  if (count == 1) return e.lane(vector, first);
  llvm::SmallVector<int, 16> lanes;
  for (int64_t k = 0; k < count; ++k) lanes.push_back(static_cast<int>(first + k));
  return e.b.CreateShuffleVector(vector, lanes);
}

/// Narrow elements packed into words, one word at a time: a cast of the whole vector would be folded into the store, which
/// LLVM would then split.
llvm::Value* as_piece(Emitter& e, llvm::Value* elements, llvm::Type* type) {
  if (elements->getType() == type) return elements;
  auto* words = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!words) return e.b.CreateBitCast(elements, type);
  int64_t each = llvm::cast<llvm::FixedVectorType>(elements->getType())->getNumElements() / words->getNumElements();
  llvm::Value* all = llvm::PoisonValue::get(words);
  for (unsigned k = 0; k < words->getNumElements(); ++k) {
    llvm::Value* part = slice(e, elements, k * each, each);
    bool is_bytes = each == 4 && e.spelling.pack_bytes != nullptr;
    llvm::Value* word = is_bytes ? e.spelling.pack_bytes(e, part) : e.b.CreateBitCast(part, words->getElementType());
    all = e.b.CreateInsertElement(all, word, uint64_t{k});
  }
  return all;
}

llvm::Value* store_whole(Emitter& e, const Access& a) {
  int64_t bytes = piece_bytes(e, a), elements = bytes / size_of(a.dtype);
  llvm::Value* data = to_memory(e, a.value, a.dtype);
  for (int64_t k = 0; k < a.lanes; k += elements) {
    llvm::Value* piece = as_piece(e, slice(e, data, k, elements), piece_type(e, a, bytes));
    auto* store = e.b.CreateAlignedStore(piece, element_pointer(e, a, k), llvm::Align(static_cast<uint64_t>(std::min(a.align, bytes))));
    if (a.streaming) e.spelling.streaming(e, store);
  }
  return nullptr;
}

// --- blocks with a mask

enum class MaskKind { None, Uniform, Native, Lanes };

MaskKind mask_kind(Emitter& e, const Access& a, bool is_load) {
  if (!a.mask) return MaskKind::None;
  if (a.lanes == 1 || llvm::getSplatValue(a.mask)) return MaskKind::Uniform;
  llvm::Type* type = vector_of(e.memory_element(a.dtype), a.lanes);
  llvm::Align align(element_align(a));
  bool native = is_load ? e.costs->isLegalMaskedLoad(type, align) : e.costs->isLegalMaskedStore(type, align);
  return native ? MaskKind::Native : MaskKind::Lanes;
}

llvm::Value* uniform_bit(const Access& a) {
  return a.lanes == 1 ? a.mask : llvm::getSplatValue(a.mask);
}

/// One access if all lanes are set, else lane by lane.
llvm::Value* whole_or_lanes(Emitter& e, const Access& a, llvm::function_ref<llvm::Value*()> whole,
                            llvm::function_ref<llvm::Value*()> lanes) {
  llvm::BasicBlock *all = e.block("all"), *some = e.block("some"), *done = e.block("done");
  e.b.CreateCondBr(all_set(e, a.mask, a.lanes), all, some);
  e.b.SetInsertPoint(all);
  llvm::Value* from_all = whole();
  llvm::BasicBlock* all_end = e.b.GetInsertBlock();
  e.b.CreateBr(done);
  e.b.SetInsertPoint(some);
  llvm::Value* from_some = lanes();
  llvm::BasicBlock* some_end = e.b.GetInsertBlock();
  e.b.CreateBr(done);
  e.b.SetInsertPoint(done);
  if (!from_all) return nullptr;
  llvm::PHINode* chosen = e.b.CreatePHI(from_all->getType(), 2);
  chosen->addIncoming(from_all, all_end);
  chosen->addIncoming(from_some, some_end);
  return chosen;
}

/// Where no memory is, a processor takes hundreds of cycles to find that a load wants none of it: such a load reads elsewhere.
llvm::Value* pointer_of_some(Emitter& e, const Access& a) {
  if (!e.program.readable) return a.pointer;
  llvm::Value* bits = e.b.CreateBitCast(a.mask, e.b.getIntNTy(static_cast<unsigned>(a.lanes)));
  return e.b.CreateSelect(e.b.CreateIsNotNull(bits), a.pointer, e.program.readable);
}

llvm::Value* masked_load(Emitter& e, const Access& a) {
  llvm::Type* type = vector_of(e.memory_element(a.dtype), a.lanes);
  constexpr int64_t kReadableAlign = 8;
  int64_t align = e.program.readable ? std::min<int64_t>(a.align, kReadableAlign) : a.align;
  llvm::Value* loaded = e.b.CreateMaskedLoad(type, pointer_of_some(e, a), llvm::Align(static_cast<uint64_t>(align)), a.mask,
                                             to_memory(e, a.value, a.dtype));
  return from_memory(e, loaded, a.dtype);
}

llvm::Value* masked_store(Emitter& e, const Access& a) {
  e.b.CreateMaskedStore(to_memory(e, a.value, a.dtype), a.pointer, llvm::Align(a.align), a.mask);
  return nullptr;
}

}  // namespace

// Scattered elements go one by one: gather instructions take longer where that was measured (Zen 5: 0.31 to 0.13 ns an element in
// the cache), and prefetchers do not see them (2.0 to 0.5 ns in memory).

llvm::Value* emit_load(Emitter& e, ir::Value v) {
  Access a = access_of(e, v);
  a.align = size_of(a.dtype);
  return load_lanes(e, a);
}

llvm::Value* emit_store(Emitter& e, ir::Value v) {
  Access a = access_of(e, v);
  a.align = size_of(a.dtype);
  return store_lanes(e, a);
}

llvm::Value* emit_load_block(Emitter& e, ir::Value v) {
  Access a = access_of(e, v);
  switch (mask_kind(e, a, true)) {
    case MaskKind::None: return load_whole(e, a);
    case MaskKind::Uniform: return e.guarded(uniform_bit(a), [&] { return load_whole(e, a); }, a.value);
    case MaskKind::Native: return masked_load(e, a);
    case MaskKind::Lanes: break;
  }
  return whole_or_lanes(e, a, [&] { return load_whole(e, a); }, [&] { return load_lanes(e, a); });
}

llvm::Value* emit_store_block(Emitter& e, ir::Value v) {
  Access a = access_of(e, v);
  switch (mask_kind(e, a, false)) {
    case MaskKind::None: return store_whole(e, a);
    case MaskKind::Uniform: return e.guarded(uniform_bit(a), [&] { return store_whole(e, a); }, nullptr);
    case MaskKind::Native: return masked_store(e, a);
    case MaskKind::Lanes: break;
  }
  return whole_or_lanes(e, a, [&] { return store_whole(e, a); }, [&] { store_lanes(e, a); return nullptr; });
}

llvm::Value* emit_atomic(Emitter& e, ir::Value v) {
  const ir::Node& node = e.f[v];
  Access a = access_of(e, v);
  llvm::Value* compare = ir::is_compare_exchange(node.op, node.imm) ? e.operand(v, 2) : nullptr;
  return each_lane(e, a, llvm::Constant::getNullValue(e.type(e.f.type(v))), [&](llvm::Value* p, int64_t k) {
    return emit_atomic_element(
        e, {ir::atomic_kind(node.imm), a.dtype, p, e.lane(a.value, k), compare ? e.lane(compare, k) : nullptr});
  });
}

llvm::Value* emit_alloc(Emitter& e, ir::Value v) {
  const ir::Node& node = e.f[v];
  if (node.type.space == ir::Space::Shared) return e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), e.program.scratch, node.aux);
  constexpr int64_t kMostAlign = 64;
  int64_t bytes = node.imm * size_of(node.type.dtype);
  llvm::IRBuilderBase::InsertPointGuard back(e.b);
  llvm::BasicBlock& entry = e.program.function->getEntryBlock();
  e.b.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  auto* array = e.b.CreateAlloca(llvm::ArrayType::get(e.memory_element(node.type.dtype), static_cast<uint64_t>(node.imm)));
  array->setAlignment(llvm::Align(std::min<int64_t>(std::bit_ceil(static_cast<uint64_t>(bytes)), kMostAlign)));
  return array;
}

}  // namespace strider::codegen
