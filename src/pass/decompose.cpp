// SPDX-License-Identifier: Apache-2.0
#include "pass/decompose.h"

#include "base/error.h"
#include "ir/rewrite.h"
#include "pass/maths.h"
#include "pass/remainder.h"

namespace strider::pass {

using namespace ir;

namespace {

bool is_narrow(DType t) { return t == DType::F16 || t == DType::BF16; }

// --- functions: maths.h writes them through this

class MathsBuilder {
 public:
  explicit MathsBuilder(Builder& builder) : b_(builder) {}

  Value constant(Value like, double value) { return b_.constant(b_.type(like), value); }
  Value iconstant(Value like, int64_t value) { return b_.constant_int(b_.type(like), value); }
  Value fma(Value x, Value y, Value z) { return b_.fma(x, y, z); }
  Value where(Value condition, Value yes, Value no) { return b_.where(condition, yes, no); }
  Value to_int(Value x) { return b_.cast(x, integer(x)); }
  Value to_float(Value x) { return b_.cast(x, real(x)); }
  Value bitcast_int(Value x) { return b_.bitcast(x, integer(x)); }
  Value bitcast_float(Value x) { return b_.bitcast(x, real(x)); }

#define STRIDER_UNARY(name, op) \
  Value name(Value x) { return b_.unary(Op::op, x); }
#define STRIDER_BINARY(name, op) \
  Value name(Value x, Value y) { return b_.binary(Op::op, x, y); }
  STRIDER_UNARY(neg, Neg) STRIDER_UNARY(abs, Abs) STRIDER_UNARY(sqrt, Sqrt)
  STRIDER_UNARY(round_even, Round) STRIDER_UNARY(floor, Floor) STRIDER_UNARY(logical_not, Not)
  STRIDER_BINARY(add, Add) STRIDER_BINARY(sub, Sub) STRIDER_BINARY(mul, Mul) STRIDER_BINARY(div, Div)
  STRIDER_BINARY(minimum, Minimum) STRIDER_BINARY(maximum, Maximum)
  STRIDER_BINARY(lt, Lt) STRIDER_BINARY(le, Le) STRIDER_BINARY(gt, Gt) STRIDER_BINARY(ge, Ge)
  STRIDER_BINARY(eq, Eq) STRIDER_BINARY(ne, Ne) STRIDER_BINARY(logical_and, And) STRIDER_BINARY(logical_or, Or)
  STRIDER_BINARY(bit_and, And) STRIDER_BINARY(bit_or, Or) STRIDER_BINARY(bit_xor, Xor)
  STRIDER_BINARY(shl, Shl) STRIDER_BINARY(shr, Shr)
#undef STRIDER_UNARY
#undef STRIDER_BINARY

 private:
  bool is_wide(Value x) const { return size_of(b_.type(x).dtype) == 8; }
  DType integer(Value x) const { return is_wide(x) ? DType::I64 : DType::I32; }
  DType real(Value x) const { return is_wide(x) ? DType::F64 : DType::F32; }

  Builder& b_;
};

struct Expansion {
  Op op;
  Value (*f32)(MathsBuilder&, Value);
  Value (*f64)(MathsBuilder&, Value);
};

constexpr Expansion kExpansions[] = {
    {Op::Exp, maths::exp_f32, maths::exp_f64},       {Op::Exp2, maths::exp2_f32, maths::exp2_f64},
    {Op::Expm1, maths::expm1_f32, maths::expm1_f64}, {Op::Log, maths::log_f32, maths::log_f64},
    {Op::Log2, maths::log2_f32, maths::log2_f64},    {Op::Log1p, maths::log1p_f32, maths::log1p_f64},
    {Op::Tanh, maths::tanh_f32, maths::tanh_f64},    {Op::Erf, maths::erf_f32, maths::erf_f64},
    {Op::Sigmoid, maths::sigmoid_f32, maths::sigmoid_f64},
};

const Expansion* expansion_of(Op op) {
  for (const Expansion& e : kExpansions)
    if (e.op == op) return &e;
  return nullptr;
}

Value expand_function(Builder& b, const Expansion& e, Value x) {
  MathsBuilder maths(b);
  return b.type(x).dtype == DType::F64 ? e.f64(maths, x) : e.f32(maths, x);
}

// --- single ops

Value expand_sign(Builder& b, Value x) {
  Type type = b.type(x);
  Value zero = b.constant_int(type, 0), one = b.constant_int(type, 1);
  Value positive = b.where(b.binary(Op::Gt, x, zero), one, zero);
  if (is_unsigned_int(type.dtype)) return positive;
  return b.where(b.binary(Op::Lt, x, zero), b.constant_int(type, -1), positive);
}

Value expand_rem(Builder& b, Value x, Value y, DType dtype) {
  DType computed = b.type(x).dtype;
  return b.cast(float_remainder(b, b.cast(x, DType::F64), b.cast(y, DType::F64), dtype), computed);
}

/// neg and abs of a 16-bit float, on its sign bit.
Value change_sign(Builder& b, Op op, Value x) {
  Value bits = b.bitcast(x, DType::U16);
  Value mask = b.constant_bits(b.type(bits), op == Op::Neg ? 0x8000 : 0x7fff);
  return b.bitcast(b.binary(op == Op::Neg ? Op::Xor : Op::And, bits, mask), b.type(x).dtype);
}

// --- fma of 16-bit floats

/// x + y in f64 rounded to odd: what does not fit leaves its trace in the last bit, so that one more rounding, to at most
/// 51 bits, is that of the exact sum.
Value add_to_odd(Builder& b, Value x, Value y) {
  Value sum = b.add(x, y), part = b.sub(sum, x);
  Value lost = b.add(b.sub(x, b.sub(sum, part)), b.sub(y, part));
  Value bits = b.bitcast(sum, DType::I64);
  Value zero = b.constant(b.type(sum), 0), one = b.constant_int(b.type(bits), 1);
  auto above = [&](Value v) { return b.binary(Op::Gt, v, zero); };
  Value outward = b.binary(Op::Eq, above(lost), above(sum));
  Value moved = b.add(bits, b.where(outward, one, b.unary(Op::Neg, one)));
  Value even = b.binary(Op::Eq, b.binary(Op::And, bits, one), b.constant_int(b.type(bits), 0));
  Value inexact = b.binary(Op::Or, above(lost), b.binary(Op::Lt, lost, zero));  // false for NaN: infinities stay
  return b.bitcast(b.where(b.binary(Op::And, even, inexact), moved, bits), DType::F64);
}

Value fma_narrow(Builder& b, std::span<const Value> x) {
  auto wide = [&](Value v) { return b.cast(v, DType::F64); };
  Value product = b.mul(wide(x[0]), wide(x[1]));  // exact: at most 22 bits
  return b.cast(add_to_odd(b, product, wide(x[2])), b.type(x[0]).dtype);
}

// --- the pass

class Decomposer : public Rewriter {
 public:
  using Rewriter::Rewriter;

 protected:
  void visit(Value v) override;

 private:
  /// `op` on operands of f32, f64, integers or bool; `dtype` is what the program asked it of.
  Value expand(Op op, std::span<const Value> x, DType dtype);
  Value narrow(Op op, std::span<const Value> x, const Type& type);
};

/// True for what every target spells as it is; such nodes keep their promises (flags).
bool stays(const Function& f, Value v) {
  Op op = f[v].op;
  if (op == Op::Where || op == Op::Cast || op == Op::Bitcast || op == Op::PtrAdd) return true;
  bool is_number = is_int(f.type(f.operand(v, 0)).dtype);
  return is_number && op != Op::Sign && op != Op::Fma;
}

void Decomposer::visit(Value v) {
  Op op = from[v].op;
  if (!is_pointwise(op) || stays(from, v)) return copy(v);
  std::vector<Value> x = map(from.operands(v));
  DType dtype = b.type(x[0]).dtype;
  set(v, is_narrow(dtype) ? narrow(op, x, from.type(v)) : expand(op, x, dtype));
}

Value Decomposer::narrow(Op op, std::span<const Value> x, const Type& type) {
  if (op == Op::Neg || op == Op::Abs) return change_sign(b, op, x[0]);
  if (op == Op::Fma) return fma_narrow(b, x);
  std::vector<Value> wide;
  for (Value v : x) wide.push_back(b.cast(v, DType::F32));
  return b.cast(expand(op, wide, b.type(x[0]).dtype), type.dtype);
}

Value Decomposer::expand(Op op, std::span<const Value> x, DType dtype) {
  bool real = is_float(dtype);
  if (const Expansion* e = expansion_of(op)) return expand_function(b, *e, x[0]);
  if (op == Op::Sign) return expand_sign(b, x[0]);
  if (op == Op::Rem && real) return expand_rem(b, x[0], x[1], dtype);
  if (op == Op::Fma && !real) return b.add(b.mul(x[0], x[1]), x[2]);
  return b.emit(op, x);
}

}  // namespace

Function decompose(const Function& program) { return Decomposer(program).run(); }

}  // namespace strider::pass
