// SPDX-License-Identifier: Apache-2.0
// Operations lane by lane: one dtype, one shape, then a node; of literals alone, a literal.
#pragma once

#include <span>

#include "front/lang/writer.h"

namespace strider::front {

using Terms = std::span<const Term>;

/// The dtype that all operands get: literals count only by a higher category.
DType common_dtype(const Writer& w, Terms terms);

/// A pointwise op of 1 to 3 operands.
Term apply(Writer& w, ir::Op op, Terms terms);
inline Term apply(Writer& w, ir::Op op, std::initializer_list<Term> terms) {
  return apply(w, op, Terms(terms.begin(), terms.size()));
}

/// `/`: integers become floats of the dialect first, in kernels 16-bit floats, too.
Term true_divide(Writer& w, const Term& a, const Term& b);
/// The quotient of integers rounded up.
Term ceil_division(Writer& w, const Term& a, const Term& b);
/// minimum(maximum(x, low), high), or of those that drop NaN.
Term clamp(Writer& w, const Term& x, const Term& low, const Term& high, bool drop_nan);
/// By a bool; of two pointers to one dtype, too.
ir::Value where(Writer& w, const Term& condition, const Term& a, const Term& b);
/// A literal is rounded once.
ir::Value cast(Writer& w, const Term& a, DType dtype);
ir::Value bitcast(Writer& w, const Term& a, DType dtype);

/// Broadcasts to one shape as NumPy does; a user error that names both shapes, and `what` was to be done with them.
ir::Shape common_shape(const ir::Shape& a, const ir::Shape& b, std::string_view what = {});
/// `values` in their common shape.
void broadcast_all(ir::Builder& b, std::string_view what, std::span<ir::Value> values);

/// A term and its writer, for operations that are composed of others and read as formulas.
struct Expr {
  Writer* writer;
  Term term;

  DType dtype() const { return writer->dtype_of(term); }
  Expr to(DType dtype) const { return {writer, cast(*writer, term, dtype)}; }
  Expr bits(DType dtype) const { return {writer, bitcast(*writer, term, dtype)}; }
  ir::Value node() const { return writer->node(term); }
};
/// What an Expr meets: another one, or a number.
struct ExprOperand {
  ExprOperand(const Expr& e) : term(e.term) {}
  ExprOperand(int value) : term(Literal::of(int64_t{value})) {}
  ExprOperand(uint64_t value) : term(Literal::of(value)) {}
  ExprOperand(double value) : term(Literal::of(value)) {}
  Term term;
};
inline Expr apply(ir::Op op, const Expr& a) { return {a.writer, apply(*a.writer, op, {a.term})}; }
inline Expr apply(ir::Op op, const Expr& a, const ExprOperand& b) { return {a.writer, apply(*a.writer, op, {a.term, b.term})}; }
inline Expr choose(const Expr& condition, const ExprOperand& a, const ExprOperand& b) {
  return {condition.writer, where(*condition.writer, condition.term, a.term, b.term)};
}
inline Expr operator+(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Add, a, b); }
inline Expr operator-(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Sub, a, b); }
inline Expr operator*(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Mul, a, b); }
inline Expr operator&(const Expr& a, const ExprOperand& b) { return apply(ir::Op::And, a, b); }
inline Expr operator|(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Or, a, b); }
inline Expr operator^(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Xor, a, b); }
inline Expr operator<<(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Shl, a, b); }
inline Expr operator>>(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Shr, a, b); }
inline Expr operator==(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Eq, a, b); }
inline Expr operator!=(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Ne, a, b); }
inline Expr operator<(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Lt, a, b); }
inline Expr operator>=(const Expr& a, const ExprOperand& b) { return apply(ir::Op::Ge, a, b); }
inline Expr operator~(const Expr& a) { return apply(ir::Op::Not, a); }

}  // namespace strider::front
