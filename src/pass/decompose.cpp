// SPDX-License-Identifier: Apache-2.0
#include "pass/decompose.h"

#include "base/error.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/semantics.h"
#include "pass/composed.h"
#include "pass/maths.h"
#include "pass/maths_builder.h"

namespace strider::pass {

using namespace ir;

namespace {

bool is_narrow(DType t) { return t == DType::F16 || t == DType::BF16; }

// --- functions

/// The same expansion for both formats. Without one for f32, f32 goes through f64.
template <class Fn>
struct Expansion {
  Op op;
  Fn* f32;
  Fn* f64;
};

#define STRIDER_EXPANSION(op, f) {Op::op, maths::f<maths::F32>, maths::f<maths::F64>}

constexpr Expansion<Value(MathsBuilder&, Value)> kOfOne[] = {
    STRIDER_EXPANSION(Rsqrt, rsqrt), STRIDER_EXPANSION(Cbrt, cbrt), STRIDER_EXPANSION(Exp, exp), STRIDER_EXPANSION(Exp2, exp2),
    STRIDER_EXPANSION(Expm1, expm1), STRIDER_EXPANSION(Log, log), STRIDER_EXPANSION(Log2, log2),
    STRIDER_EXPANSION(Log10, log10), STRIDER_EXPANSION(Log1p, log1p), STRIDER_EXPANSION(Sin, sin), STRIDER_EXPANSION(Cos, cos),
    STRIDER_EXPANSION(Tan, tan), STRIDER_EXPANSION(Asin, asin), STRIDER_EXPANSION(Acos, acos), STRIDER_EXPANSION(Atan, atan),
    STRIDER_EXPANSION(Sinh, sinh), STRIDER_EXPANSION(Cosh, cosh), STRIDER_EXPANSION(Tanh, tanh),
    STRIDER_EXPANSION(Asinh, asinh), STRIDER_EXPANSION(Acosh, acosh), STRIDER_EXPANSION(Atanh, atanh),
    STRIDER_EXPANSION(Erf, erf), STRIDER_EXPANSION(Erfc, erfc), STRIDER_EXPANSION(Sigmoid, sigmoid),
    STRIDER_EXPANSION(Gelu, gelu),
    {Op::Tgamma, nullptr, maths::tgamma<maths::F64>},
    {Op::Lgamma, nullptr, maths::lgamma<maths::F64>},
};

constexpr Expansion<Value(MathsBuilder&, Value, Value)> kOfTwo[] = {
    STRIDER_EXPANSION(Atan2, atan2), STRIDER_EXPANSION(Hypot, hypot), STRIDER_EXPANSION(Pow, pow),
};
#undef STRIDER_EXPANSION

template <class Fn, size_t n, class... Values>
Value expand_by(Builder& b, const Expansion<Fn> (&table)[n], Op op, DType dtype, Values... x) {
  MathsBuilder maths(b);
  for (const Expansion<Fn>& e : table) {
    if (e.op != op) continue;
    if (dtype == DType::F64) return e.f64(maths, x...);
    return e.f32 ? e.f32(maths, x...) : b.cast(e.f64(maths, b.cast(x, DType::F64)...), DType::F32);
  }
  return {};
}

Value expand_function(Builder& b, Op op, std::span<const Value> x) {
  DType dtype = b.type(x[0]).dtype;
  return x.size() == 1 ? expand_by(b, kOfOne, op, dtype, x[0]) : expand_by(b, kOfTwo, op, dtype, x[0], x[1]);
}

/// Powers whose exponent is a constant and that are products: pow(x, 2) is x * x, correctly rounded.
Value expand_constant_pow(Builder& b, std::span<const Value> x) {
  Value exponent = x[1];
  while (b.function()[exponent].op == Op::Broadcast) exponent = b.function().operand(exponent, 0);
  uint64_t bits;
  if (!constant_bits(b.function(), exponent, &bits)) return {};
  double n = double_of_bits(b.type(exponent).dtype, bits);
  if (n == 2) return b.mul(x[0], x[0]);
  if (n == 3) return b.mul(b.mul(x[0], x[0]), x[0]);
  return n == -1 ? b.binary(Op::Div, b.constant(b.type(x[0]), 1), x[0]) : Value{};
}

// --- 16-bit floats

/// neg and abs of a 16-bit float, on its sign bit.
Value change_sign(Builder& b, Op op, Value x) {
  Value bits = b.bitcast(x, DType::U16);
  Value mask = b.constant_bits(b.type(bits), op == Op::Neg ? 0x8000 : 0x7fff);
  return b.bitcast(b.binary(op == Op::Neg ? Op::Xor : Op::And, bits, mask), b.type(x).dtype);
}

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

}  // namespace

Value fma_by_f64(Builder& b, std::span<const Value> x) {
  auto wide = [&](Value v) { return b.cast(v, DType::F64); };
  Value product = b.mul(wide(x[0]), wide(x[1]));  // exact: at most 48 bits
  return b.cast(add_to_odd(b, product, wide(x[2])), b.type(x[0]).dtype);
}

namespace {

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
  const Type& operand = f.type(f.operand(v, 0));
  if (op == Op::Where || op == Op::Cast || op == Op::Bitcast || operand.is_pointer()) return true;
  return is_int(operand.dtype) && !has(op, Composed | Approx) && op != Op::Fma;
}

void Decomposer::visit(Value v) {
  Op op = from[v].op;
  if (!is_pointwise(op) || stays(from, v)) return copy(v);
  std::vector<Value> x = map(from.operands(v));
  DType dtype = b.type(x[0]).dtype;
  if (Value on_bits = compose_on_bits(b, op, x); on_bits.valid()) return set(v, on_bits);
  set(v, is_narrow(dtype) ? narrow(op, x, from.type(v)) : expand(op, x, dtype));
}

Value Decomposer::narrow(Op op, std::span<const Value> x, const Type& type) {
  if (op == Op::Neg || op == Op::Abs) return change_sign(b, op, x[0]);
  if (op == Op::Fma) return fma_by_f64(b, x);
  std::vector<Value> wide;
  for (Value v : x) wide.push_back(b.cast(v, DType::F32));
  return b.cast(expand(op, wide, b.type(x[0]).dtype), type.dtype);
}

Value Decomposer::expand(Op op, std::span<const Value> x, DType dtype) {
  if (op == Op::Pow && is_float(dtype))
    if (Value product = expand_constant_pow(b, x); product.valid()) return product;
  if (has(op, Approx) && is_float(dtype)) return expand_function(b, op, x);
  Value composed = compose(b, op, x, dtype);
  return composed.valid() ? composed : b.emit(op, x);
}

}  // namespace

Function decompose(const Function& program) { return Decomposer(program).run(); }

}  // namespace strider::pass
