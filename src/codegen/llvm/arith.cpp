// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/arith.h"

#include "base/error.h"
#include "codegen/llvm/codegen.h"

namespace strider::codegen {

using ir::Op;

namespace {

using Args = llvm::ArrayRef<llvm::Value*>;
using Function = llvm::Value* (*)(IrBuilder&, Args);
using Instruction = llvm::Instruction;
using Compare = llvm::CmpInst;
namespace Intrinsic = llvm::Intrinsic;

// --- what a cell of the table can say

struct Spell {
  enum Kind : uint8_t { None, Binary, Call, Predicate, Code } kind = None;
  unsigned id = 0;          // opcode, intrinsic or predicate
  Function code = nullptr;  // several instructions
};
constexpr Spell none() { return {}; }
constexpr Spell binary(unsigned opcode) { return {Spell::Binary, opcode}; }
constexpr Spell call(unsigned intrinsic) { return {Spell::Call, intrinsic}; }
constexpr Spell compare(unsigned predicate) { return {Spell::Predicate, predicate}; }
constexpr Spell code(Function f) { return {Spell::Code, 0, f}; }

// --- cells that take several instructions

llvm::Value* integer(llvm::Value* like, uint64_t value) { return llvm::ConstantInt::get(like->getType(), value); }
llvm::Value* smallest(llvm::Value* like) {
  return llvm::ConstantInt::get(like->getType(), llvm::APInt::getSignedMinValue(like->getType()->getScalarSizeInBits()));
}
llvm::Value* width(llvm::Value* like) { return integer(like, like->getType()->getScalarSizeInBits()); }

llvm::Value* negate_float(IrBuilder& b, Args x) { return b.CreateFNeg(x[0]); }
llvm::Value* negate(IrBuilder& b, Args x) { return b.CreateNeg(x[0]); }
llvm::Value* invert(IrBuilder& b, Args x) { return b.CreateNot(x[0]); }
llvm::Value* itself(IrBuilder&, Args x) { return x[0]; }
llvm::Value* magnitude(IrBuilder& b, Args x) { return b.CreateBinaryIntrinsic(Intrinsic::abs, x[0], b.getFalse()); }

/// The divisor, or 1 in lanes where the processor would trap: there x / 0 is put right afterwards, and MIN / -1 is MIN / 1.
llvm::Value* safe_divisor(IrBuilder& b, Args x, bool is_signed) {
  llvm::Value* bad = b.CreateICmpEQ(x[1], integer(x[1], 0));
  if (is_signed) {
    llvm::Value* minus_one = b.CreateICmpEQ(x[1], llvm::Constant::getAllOnesValue(x[1]->getType()));
    bad = b.CreateOr(bad, b.CreateAnd(minus_one, b.CreateICmpEQ(x[0], smallest(x[0]))));
  }
  return b.CreateSelect(bad, integer(x[1], 1), x[1]);
}

template <Instruction::BinaryOps opcode, bool is_signed>
llvm::Value* divide(IrBuilder& b, Args x) {
  llvm::Value* quotient = b.CreateBinOp(opcode, x[0], safe_divisor(b, x, is_signed));
  return b.CreateSelect(b.CreateICmpEQ(x[1], integer(x[1], 0)), integer(x[1], 0), quotient);
}

template <Instruction::BinaryOps opcode, bool is_signed>
llvm::Value* remainder(IrBuilder& b, Args x) {
  return b.CreateBinOp(opcode, x[0], safe_divisor(b, x, is_signed));
}

template <Instruction::BinaryOps opcode>
llvm::Value* shift_to_zero(IrBuilder& b, Args x) {
  llvm::Value* fits = b.CreateICmpULT(x[1], width(x[1]));
  llvm::Value* shifted = b.CreateBinOp(opcode, x[0], b.CreateSelect(fits, x[1], integer(x[1], 0)));
  return b.CreateSelect(fits, shifted, integer(x[0], 0));
}

llvm::Value* shift_to_sign(IrBuilder& b, Args x) {
  llvm::Value* most = integer(x[1], x[1]->getType()->getScalarSizeInBits() - 1);
  return b.CreateAShr(x[0], b.CreateSelect(b.CreateICmpULT(x[1], most), x[1], most));
}

// --- the table

struct Row {
  Op op;
  Spell floats, signeds, unsigneds, bools;
};

constexpr Row same(Op op, Spell floats, Spell integers, Spell bools) { return {op, floats, integers, integers, bools}; }

constexpr Row kRows[] = {
    //   op          f32, f64                      integers                           bool
    same(Op::Neg,    code(negate_float),           code(negate),                      none()),
    same(Op::Not,    none(),                       code(invert),                      code(invert)),
    same(Op::Floor,  call(Intrinsic::floor),       none(),                            none()),
    same(Op::Ceil,   call(Intrinsic::ceil),        none(),                            none()),
    same(Op::Trunc,  call(Intrinsic::trunc),       none(),                            none()),
    same(Op::Round,  call(Intrinsic::rint),        none(),                            none()),
    same(Op::Sqrt,   call(Intrinsic::sqrt),        none(),                            none()),
    same(Op::Add,    binary(Instruction::FAdd),    binary(Instruction::Add),          none()),
    same(Op::Sub,    binary(Instruction::FSub),    binary(Instruction::Sub),          none()),
    same(Op::Mul,    binary(Instruction::FMul),    binary(Instruction::Mul),          none()),
    same(Op::And,    none(),                       binary(Instruction::And),          binary(Instruction::And)),
    same(Op::Or,     none(),                       binary(Instruction::Or),           binary(Instruction::Or)),
    same(Op::Xor,    none(),                       binary(Instruction::Xor),          binary(Instruction::Xor)),
    same(Op::Shl,    none(),                       code(shift_to_zero<Instruction::Shl>), none()),
    same(Op::Eq,     compare(Compare::FCMP_OEQ),   compare(Compare::ICMP_EQ),         compare(Compare::ICMP_EQ)),
    same(Op::Ne,     compare(Compare::FCMP_UNE),   compare(Compare::ICMP_NE),         compare(Compare::ICMP_NE)),
    same(Op::Fma,    call(Intrinsic::fma),         none(),                            none()),

    // op            f32, f64                     signed                               unsigned                              bool
    {Op::Abs,     call(Intrinsic::fabs),       code(magnitude),                        code(itself),                         none()},
    {Op::Div,     binary(Instruction::FDiv),   code(divide<Instruction::SDiv, true>),  code(divide<Instruction::UDiv, false>), none()},
    {Op::Rem,     none(),                      code(remainder<Instruction::SRem, true>), code(remainder<Instruction::URem, false>), none()},
    {Op::Minimum, call(Intrinsic::minimum),    call(Intrinsic::smin),                  call(Intrinsic::umin),                binary(Instruction::And)},
    {Op::Maximum, call(Intrinsic::maximum),    call(Intrinsic::smax),                  call(Intrinsic::umax),                binary(Instruction::Or)},
    {Op::Shr,     none(),                      code(shift_to_sign),                    code(shift_to_zero<Instruction::LShr>), none()},
    {Op::Lt,      compare(Compare::FCMP_OLT),  compare(Compare::ICMP_SLT),             compare(Compare::ICMP_ULT),           compare(Compare::ICMP_ULT)},
    {Op::Le,      compare(Compare::FCMP_OLE),  compare(Compare::ICMP_SLE),             compare(Compare::ICMP_ULE),           compare(Compare::ICMP_ULE)},
    {Op::Gt,      compare(Compare::FCMP_OGT),  compare(Compare::ICMP_SGT),             compare(Compare::ICMP_UGT),           compare(Compare::ICMP_UGT)},
    {Op::Ge,      compare(Compare::FCMP_OGE),  compare(Compare::ICMP_SGE),             compare(Compare::ICMP_UGE),           compare(Compare::ICMP_UGE)},
};

constexpr const Row* row_of(Op op) {
  for (const Row& row : kRows)
    if (row.op == op) return &row;
  return nullptr;
}

/// Ops that pass/decompose.h replaces, and those that keep or convert bits of any dtype.
constexpr bool is_decomposed(Op op) { return has(op, ir::Composed | ir::Approx); }
constexpr bool takes_any(Op op) {
  return op == Op::Cast || op == Op::Bitcast || op == Op::Where || op == Op::PtrAdd || op == Op::Call;
}

constexpr bool all_spelled() {
  for (int k = 0; k < ir::kOpCount; ++k) {
    Op op = ir::op_at(k);
    if (is_pointwise(op) && !is_decomposed(op) && !takes_any(op) && !row_of(op)) return false;
  }
  return true;
}
static_assert(all_spelled(), "a pointwise op of ops.def has no row in arith.cpp");

Spell spell_of(const Row& row, DType dtype) {
  switch (kind_of(dtype)) {
    case DTypeKind::Bool: return row.bools;
    case DTypeKind::Signed: return row.signeds;
    case DTypeKind::Unsigned: return row.unsigneds;
    case DTypeKind::Float: return size_of(dtype) == 2 ? none() : row.floats;
  }
  return none();
}

llvm::Value* write(IrBuilder& b, const Spell& spell, Args args) {
  switch (spell.kind) {
    case Spell::Binary: return b.CreateBinOp(static_cast<Instruction::BinaryOps>(spell.id), args[0], args[1]);
    case Spell::Call: return b.CreateIntrinsic(args[0]->getType(), spell.id, args);
    case Spell::Predicate: return b.CreateCmp(static_cast<Compare::Predicate>(spell.id), args[0], args[1]);
    case Spell::Code: return spell.code(b, args);
    case Spell::None: break;
  }
  internal_error("an illegal op reached the emitter");
}

/// Offsets count elements; they are extended to 64 bits as their dtype says.
llvm::Value* add_offset(Emitter& e, ir::Value v) {
  const ir::Type& offset = e.f.type(e.f.operand(v, 1));
  llvm::Type* wide = e.with_lanes(e.b.getInt64Ty(), offset.elements());
  llvm::Value* extended = e.b.CreateIntCast(e.operand(v, 1), wide, is_signed_int(offset.dtype));
  return e.b.CreateGEP(e.memory_element(e.f.type(v).dtype), e.operand(v, 0), extended);
}

/// A function of one scalar, in each lane.
llvm::Value* lane_by_lane(Emitter& e, ir::Value v, llvm::Value* (*f)(Emitter&, llvm::Value*)) {
  llvm::Value* x = e.operand(v, 0);
  int64_t lanes = e.f.type(v).elements();
  if (lanes == 1) return f(e, x);
  llvm::Value* all = llvm::PoisonValue::get(x->getType());
  for (int64_t k = 0; k < lanes; ++k) all = e.b.CreateInsertElement(all, f(e, e.lane(x, k)), static_cast<uint64_t>(k));
  return all;
}

/// A load becomes no part of a masked instruction: it would begin only when the mask is known, and memory would wait with it.
llvm::Value* whole(Emitter& e, llvm::Value* x) {
  bool delays = e.spelling.masked_loads_wait && llvm::isa<llvm::LoadInst>(x) && x->getType()->isVectorTy();
  return delays ? e.b.CreateFreeze(x) : x;
}

/// A half that became f32 stays f32: LLVM would compare the halves themselves, lane by lane and with branches, and of short
/// vectors of halves LLVM 19 takes minima and maxima that lose NaN beside a zero.
llvm::Value* as_converted(Emitter& e, llvm::Value* x) {
  const llvm::Value* source = x;
  while (llvm::isa<llvm::ShuffleVectorInst, llvm::ExtractElementInst>(source)) source = llvm::cast<llvm::Instruction>(source)->getOperand(0);
  const auto* wide = llvm::dyn_cast<llvm::FPExtInst>(source);
  bool narrows = e.spelling.splits_halves && wide && wide->getSrcTy()->getScalarType()->isHalfTy();
  return narrows ? e.b.CreateArithmeticFence(x, x->getType()) : x;
}

}  // namespace

bool can_spell(Op op, DType dtype) {
  if (takes_any(op)) return true;
  const Row* row = row_of(op);
  return row && spell_of(*row, dtype).kind != Spell::None;
}

/// Arithmetic and comparisons of floats see that an operand is NaN, not which one; a choice shows what its users show; everything
/// else passes bits on.
std::vector<bool> values_that_show_bits(const ir::Function& f) {
  std::vector<bool> shown(f.size());
  for (uint32_t id = f.size(); id-- > 0;) {
    Op op = f[ir::Value{id}].op;
    const Row* row = row_of(op);
    bool computes = op == Op::Cast || (row && row->floats.kind != Spell::None && op != Op::Abs && op != Op::Neg);
    bool chooses = op == Op::Where || op == Op::Abs || op == Op::Neg;
    if (computes || (chooses && !shown[id])) continue;
    for (ir::Value o : f.operands(ir::Value{id})) shown[o.id] = true;
  }
  return shown;
}

llvm::Value* emit_pointwise(Emitter& e, ir::Value v) {
  const ir::Node& node = e.f[v];
  const ir::Type& from = e.f.type(e.f.operand(v, 0));
  switch (node.op) {
    case Op::PtrAdd: return add_offset(e, v);
    case Op::Call: return emit_call(e, v);
    case Op::Where: return e.b.CreateSelect(e.operand(v, 0), whole(e, e.operand(v, 1)), whole(e, e.operand(v, 2)));
    case Op::Bitcast: return e.b.CreateBitCast(e.operand(v, 0), e.type(node.type));
    case Op::Cast: return from.is_pointer() ? e.operand(v, 0) : emit_cast(e, e.operand(v, 0), from.dtype, node.type.dtype);
    case Op::Neg:
      if (e.spelling.negate_short && is_int(from.dtype) && bits_of(from.dtype) == 16)
        return lane_by_lane(e, v, e.spelling.negate_short);
      if (e.spelling.negate_float && is_float(from.dtype) && e.shows_bits[v.id]) return lane_by_lane(e, v, e.spelling.negate_float);
      break;
    case Op::Abs:
      if (e.spelling.magnitude && is_float(from.dtype) && e.shows_bits[v.id]) return lane_by_lane(e, v, e.spelling.magnitude);
      break;
    case Op::Sqrt:
      if (e.spelling.square_root && from.dtype == DType::F32) return lane_by_lane(e, v, e.spelling.square_root);
      break;
    case Op::Minimum:
    case Op::Maximum:
      if (e.spelling.extremum && is_float(from.dtype))
        if (llvm::Value* result = e.spelling.extremum(e, node.op, e.operand(v, 0), e.operand(v, 1))) return result;
      break;
    default: break;
  }
  Values args;
  for (ir::Value operand : e.f.operands(v)) args.push_back(e.value(operand));
  if (from.is_pointer()) return write(e.b, row_of(node.op)->unsigneds, args);  // addresses compare as unsigned integers
  const Spell spell = spell_of(*row_of(node.op), from.dtype);
  bool compares = spell.kind == Spell::Predicate || node.op == Op::Minimum || node.op == Op::Maximum;
  if (compares && is_float(from.dtype))
    for (llvm::Value*& x : args) x = as_converted(e, x);
  return write(e.b, spell, args);
}

llvm::Value* emit_binary(Emitter& e, Op op, DType dtype, llvm::Value* a, llvm::Value* b) {
  if (!is_float(dtype) || size_of(dtype) > 2) return write(e.b, spell_of(*row_of(op), dtype), {a, b});
  llvm::Value* result = emit_binary(e, op, DType::F32, emit_cast(e, a, dtype, DType::F32), emit_cast(e, b, dtype, DType::F32));
  return emit_cast(e, result, DType::F32, dtype);
}

}  // namespace strider::codegen
