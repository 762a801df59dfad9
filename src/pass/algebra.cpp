// SPDX-License-Identifier: Apache-2.0
#include "pass/algebra.h"

#include <cmath>

#include "base/float_format.h"
#include "ir/fold.h"
#include "ir/promote.h"
#include "ir/semantics.h"

namespace strider::pass {

using namespace ir;

namespace {

constexpr int kMostOperands = 3;

/// Reads the operands of the node at hand like terms of an equation: x(0) is the first, is(0, Op::Neg) asks for its op.
struct Term {
  Builder& b;
  Op op;
  std::span<const Value> operands;
  int64_t imm;
  const Type& type;

  const Function& f() const { return b.function(); }
  DType dtype() const { return f().type(operands[0]).dtype; }
  Value x(int k) const { return operands[k]; }
  Op op_of(Value v) const { return f()[v].op; }
  bool is(int k, Op wanted) const { return op_of(x(k)) == wanted; }
  /// Operand j of operand k.
  Value inner(int k, int j = 0) const { return f().operand(x(k), j); }
  bool is_constant(Value v) const { return f().is_constant(v) && !f().type(v).is_pointer(); }
  bool is_bits(Value v, uint64_t wanted) const {
    uint64_t bits;
    return constant_bits(f(), v, &bits) && bits == wanted;
  }
  bool is_float(Value v, double wanted) const { return is_bits(v, bits_of_double(f().type(v).dtype, wanted)); }
};

// --- integers

/// (x + c) + d = x + (c + d), and the same for the other ops that associate.
Value associate(const Term& t) {
  if (!t.is(0, t.op) || !t.is_constant(t.x(1)) || !t.is_constant(t.inner(0, 1))) return {};
  return t.b.binary(t.op, t.inner(0, 0), t.b.binary(t.op, t.inner(0, 1), t.x(1)));
}

Value integer_sum(const Term& t) {
  if (t.op == Op::Sub && t.is_constant(t.x(1))) return t.b.add(t.x(0), t.b.unary(Op::Neg, t.x(1)));
  if (t.op == Op::Add && t.is(0, Op::Constant) && !t.is(1, Op::Constant)) return t.b.add(t.x(1), t.x(0));
  return {};
}

bool associates(Op op) { return op == Op::Add || op == Op::Mul || op == Op::And || op == Op::Or || op == Op::Xor; }

Value integer_rules(const Term& t) {
  if (t.operands.size() != 2 || is_float(t.dtype()) || t.op == Op::PtrAdd) return {};
  bool number = is_int(t.dtype());
  if (number)
    if (Value v = integer_sum(t); v.valid()) return v;
  if (associates(t.op) && (number || t.dtype() == DType::Bool)) return associate(t);
  return {};
}

// --- floats

bool is_power_of_two(double x) {
  int exponent;
  return std::isfinite(x) && x != 0 && std::frexp(std::fabs(x), &exponent) == 0.5;
}

/// x / c = x * (1 / c) for a power of two whose reciprocal is one as well and not subnormal.
Value divide_by_power(const Term& t) {
  uint64_t bits;
  if (!constant_bits(t.f(), t.x(1), &bits)) return {};
  double c = double_of_bits(t.dtype(), bits);
  double smallest = std::ldexp(1.0, format_of(t.dtype()).least_exponent());
  if (!is_power_of_two(c) || std::fabs(1 / c) < smallest) return {};
  Value reciprocal = t.b.constant(t.f().type(t.x(1)), 1 / c);
  return t.is_float(reciprocal, 1 / c) ? t.b.mul(t.x(0), reciprocal) : Value{};
}

Value float_product(const Term& t) {
  if (t.is_float(t.x(1), 1)) return t.x(0);
  if (t.op == Op::Mul && t.is_float(t.x(0), 1)) return t.x(1);
  if (t.is_float(t.x(1), -1)) return t.b.unary(Op::Neg, t.x(0));
  if (t.op == Op::Mul && t.is_float(t.x(0), -1)) return t.b.unary(Op::Neg, t.x(1));
  if (t.is(0, Op::Neg) && t.is(1, Op::Neg)) return t.b.binary(t.op, t.inner(0), t.inner(1));
  return t.op == Op::Div ? divide_by_power(t) : Value{};
}

Value float_sum(const Term& t) {
  bool minus = t.op == Op::Sub;
  if (t.is_float(t.x(1), minus ? 0.0 : -0.0)) return t.x(0);
  if (!minus && t.is_float(t.x(0), -0.0)) return t.x(1);
  if (t.is(1, Op::Neg)) return t.b.binary(minus ? Op::Add : Op::Sub, t.x(0), t.inner(1));
  if (!minus && t.is(0, Op::Neg)) return t.b.sub(t.x(1), t.inner(0));
  return {};
}

Value float_rules(const Term& t) {
  if (t.operands.size() != 2 || !is_float(t.dtype()) || t.type.is_pointer()) return {};
  if (t.op == Op::Add || t.op == Op::Sub) return float_sum(t);
  if (t.op == Op::Mul || t.op == Op::Div) return float_product(t);
  return {};
}

// --- signs, order, choice

Op complement(Op op) {
  switch (op) {
    case Op::Eq: return Op::Ne;
    case Op::Ne: return Op::Eq;
    case Op::Lt: return Op::Ge;
    case Op::Ge: return Op::Lt;
    case Op::Gt: return Op::Le;
    case Op::Le: return Op::Gt;
    default: return Op::Not;
  }
}

/// not (x < y) = x >= y, but for floats only not (x == y) = x != y: order is partial there.
Value negate_comparison(const Term& t) {
  Op inner = t.op_of(t.x(0)), opposite = complement(inner);
  if (opposite == Op::Not || t.dtype() != DType::Bool) return {};
  bool total = !is_float(t.f().type(t.inner(0)).dtype);
  return total || inner == Op::Eq || inner == Op::Ne ? t.b.binary(opposite, t.inner(0, 0), t.inner(0, 1)) : Value{};
}

Value unary_rules(const Term& t) {
  if ((t.op == Op::Neg || t.op == Op::Not) && t.is(0, t.op)) return t.inner(0);
  if (t.op == Op::Abs && t.is(0, Op::Abs)) return t.x(0);
  if (t.op == Op::Abs && t.is(0, Op::Neg)) return t.b.unary(Op::Abs, t.inner(0));
  return t.op == Op::Not ? negate_comparison(t) : Value{};
}

/// x op x, where every x equals itself.
Value reflexive(const Term& t) {
  if (t.operands.size() != 2 || t.x(0) != t.x(1) || t.type.is_pointer()) return {};
  if (t.op == Op::Minimum || t.op == Op::Maximum) return t.x(0);
  if (is_float(t.dtype()) || t.op < Op::Eq || t.op > Op::Ge) return {};
  return t.b.constant_int(t.type, t.op == Op::Eq || t.op == Op::Le || t.op == Op::Ge);
}

Value where_rules(const Term& t) {
  if (t.op != Op::Where) return {};
  if (t.is(0, Op::Not)) return t.b.where(t.inner(0), t.x(2), t.x(1));
  if (t.is(1, Op::Where) && t.inner(1, 0) == t.x(0)) return t.b.where(t.x(0), t.inner(1, 1), t.x(2));
  if (t.is(2, Op::Where) && t.inner(2, 0) == t.x(0)) return t.b.where(t.x(0), t.x(1), t.inner(2, 2));
  if (t.type.is_pointer() || t.type.dtype != DType::Bool) return {};
  if (t.is_bits(t.x(1), 1) && t.is_bits(t.x(2), 0)) return t.x(0);
  if (t.is_bits(t.x(1), 0) && t.is_bits(t.x(2), 1)) return t.b.unary(Op::Not, t.x(0));
  return {};
}

// --- conversions

/// A conversion through a wider type. Not from integer through float to integer: floats do not wrap.
Value cast_rules(const Term& t) {
  if (t.op != Op::Cast || !t.is(0, Op::Cast)) return {};
  DType first = t.f().type(t.inner(0)).dtype, middle = t.dtype(), last = t.type.dtype;
  bool through_float = !is_float(first) && is_float(middle) && !is_float(last);
  return widens(first, middle) && !through_float ? t.b.cast(t.inner(0), last) : Value{};
}

// --- shapes

bool is_splat(const Term& t, int k) { return t.is(k, Op::Broadcast) && t.f().type(t.inner(k)).is_scalar(); }

Value transpose_twice(const Term& t) {
  int64_t inner = t.f()[t.x(0)].imm;
  int axes[kMaxRank];
  int rank = t.type.shape.rank();
  bool identity = true;
  for (int k = 0; k < rank; ++k) {
    axes[k] = static_cast<int>(inner >> (4 * (t.imm >> (4 * k) & 15)) & 15);
    identity = identity && axes[k] == k;
  }
  return identity ? t.inner(0) : t.b.trans(t.inner(0), {axes, static_cast<size_t>(rank)});
}

Value shape_rules(const Term& t) {
  if (!has(t.op, Shapes)) return {};
  if (is_splat(t, 0) || (t.op == Op::Broadcast && t.is(0, Op::Broadcast))) return t.b.broadcast(t.inner(0), t.type.shape);
  if (t.op == Op::Reshape && t.is(0, Op::Reshape)) return t.b.reshape(t.inner(0), t.type.shape);
  if (t.op == Op::Trans && t.is(0, Op::Trans)) return transpose_twice(t);
  return {};
}

/// f(broadcast x, broadcast y, c) = broadcast f(x, y, c): computed on the smaller shape.
Value compute_before_broadcast(const Term& t) {
  if (!is_pointwise(t.op)) return {};
  const Shape* shape = nullptr;
  for (size_t k = 0; k < t.operands.size(); ++k) {
    if (t.is_constant(t.operands[k])) continue;
    if (!t.is(static_cast<int>(k), Op::Broadcast)) return {};
    const Shape& source = t.f().type(t.inner(static_cast<int>(k))).shape;
    if (shape && source != *shape) return {};
    shape = &source;
  }
  if (!shape) return {};
  Shape small = *shape;
  Value narrow[kMostOperands];
  for (size_t k = 0; k < t.operands.size(); ++k) {
    Value v = t.operands[k];
    narrow[k] = t.is_constant(v) ? t.b.constant_bits(t.f().type(v).with_shape(small), static_cast<uint64_t>(t.f()[v].imm))
                                 : t.inner(static_cast<int>(k));
  }
  Type result = t.type.with_shape(small);
  return t.b.broadcast(t.b.emit(t.op, {narrow, t.operands.size()}, t.imm, &result), t.type.shape);
}

using Rule = Value (*)(const Term&);
constexpr Rule kRules[] = {where_rules, unary_rules, reflexive,  integer_rules, float_rules,
                           cast_rules,  shape_rules, compute_before_broadcast};

}  // namespace

Value simpler(Builder& builder, Op op, std::span<const Value> operands, int64_t imm, const Type& type) {
  if (operands.empty()) return {};
  Term term{builder, op, operands, imm, type};
  for (Rule rule : kRules)
    if (Value v = rule(term); v.valid()) return v;
  return {};
}

}  // namespace strider::pass
