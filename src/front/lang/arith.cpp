// SPDX-License-Identifier: Apache-2.0
#include "front/lang/arith.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "front/lang/shape.h"
#include "ir/infer.h"
#include "ir/promote.h"
#include "ir/semantics.h"

namespace strider::front {

using ir::Category;
using ir::Op;

namespace {

// --- dtypes

/// The common dtype of the nodes.
std::optional<DType> strong_dtype(const Writer& w, Terms terms) {
  std::optional<DType> result;
  for (const Term& t : terms)
    if (!t.is_literal()) result = result ? w.promote(*result, w.dtype_of(t)) : w.dtype_of(t);
  return result;
}

bool is_integer(const Writer& w, const Term& t) { return ir::category_of(w.dtype_of(t)) != Category::Float; }

// --- literals

/// Literals are computed in i64 and f64; bool stays where it can.
DType literal_dtype(const Writer& w, Terms terms) {
  switch (ir::category_of(common_dtype(w, terms))) {
    case Category::Bool: return DType::Bool;
    case Category::Int: return DType::I64;
    default: return DType::F64;
  }
}

Literal literal_from(DType dtype, uint64_t bits) {
  if (dtype == DType::Bool) return Literal::of(bits != 0);
  if (dtype == DType::I64) return Literal::of(static_cast<int64_t>(bits));
  return Literal::of(std::bit_cast<double>(bits));
}

Literal fold_literals(const Writer& w, Op op, Terms terms) {
  DType dtype = literal_dtype(w, terms);
  uint64_t args[3];
  ir::Type types[3];
  for (size_t k = 0; k < terms.size(); ++k) {
    const Literal& literal = terms[k].literal();
    args[k] = dtype == DType::F64 ? std::bit_cast<uint64_t>(literal.as_double()) : literal.bits;
    types[k] = ir::Type::scalar(dtype);
  }
  DType result = ir::infer(op, std::span(types, terms.size()), 0, nullptr).dtype;
  return literal_from(result, ir::evaluate(op, dtype, result, args));
}

/// A value as a float of the dialect; a literal stays one.
Term as_float(Writer& w, const Term& t) {
  return t.is_literal() ? Term(Literal::of(t.literal().as_double())) : Term(cast(w, t, w.dialect().literal_float));
}

// --- where kernels follow Triton

/// `%` of 16-bit floats is computed and given in f32, as `/` is.
bool is_widened(const Writer& w, Op op, DType dtype) { return w.dialect().is_tile && op == Op::Rem && ir::is_half(dtype); }

/// The left operand says whether its sign is shifted in, also where the common dtype has none.
bool shifts_sign_of_unsigned(const Writer& w, Op op, Terms terms, DType dtype) {
  bool may = w.dialect().is_tile && op == Op::Shr && is_unsigned_int(dtype);
  return may && terms[0].is_node() && is_signed_int(w.dtype_of(terms[0]));
}

ir::Value shift_in_sign(ir::Builder& b, ir::Value x, ir::Value amount) {
  DType dtype = b.type(x).dtype, with_sign = ir::signed_of_size(size_of(dtype));
  return b.bitcast(b.binary(Op::Shr, b.bitcast(x, with_sign), b.bitcast(amount, with_sign)), dtype);
}

/// The ceiling of a / b from the truncated quotient.
Expr rounded_up(const Expr& quotient, const Expr& remainder, const Expr& divisor) {
  Expr inexact = remainder != 0;
  if (is_signed_int(remainder.dtype())) inexact = inexact & ((remainder < 0) == (divisor < 0));
  return quotient + inexact.to(remainder.dtype());
}

bool is_pointer(const Writer& w, const Term& t) { return t.is_node() && w.type(t.node()).is_pointer(); }

}  // namespace

DType common_dtype(const Writer& w, Terms terms) {
  std::optional<DType> strong = strong_dtype(w, terms);
  std::optional<DType> result = strong;
  for (const Term& t : terms) {
    if (!t.is_literal()) continue;
    DType own = w.dtype_of(t);
    if (!strong || ir::category_of(own) > ir::category_of(*strong)) result = result ? w.promote(*result, own) : own;
  }
  return *result;
}

namespace {

bool is_order(Op op) { return op == Op::Lt || op == Op::Le || op == Op::Gt || op == Op::Ge; }

/// What C++ makes of `a < x < b`.
void check_no_chain(const Writer& w, Op op, Terms terms, DType common) {
  if (!is_order(op) || common == DType::Bool) return;
  for (const Term& t : terms)
    if (w.dtype_of(t) == DType::Bool)
      user_error("{}: a bool is compared with {} by order: a < x < b is written (a < x) & (x < b); if the bool is meant, convert it "
                 "with .to(st::{})", ir::name_of(op), strider::name_of(common), ir::constant_of(common));
}

}  // namespace

Term apply(Writer& w, Op op, Terms terms) {
  for (const Term& t : terms)
    if (t.is_empty()) user_error("{}: a value that was never given one is used", ir::name_of(op));
  if (std::all_of(terms.begin(), terms.end(), [](const Term& t) { return t.is_literal(); })) return fold_literals(w, op, terms);
  DType dtype = common_dtype(w, terms);
  check_no_chain(w, op, terms, dtype);
  if (is_widened(w, op, dtype)) dtype = DType::F32;
  ir::Value values[3];
  for (size_t k = 0; k < terms.size(); ++k) values[k] = w.node(terms[k], dtype);
  broadcast_all(w.b, ir::name_of(op), std::span(values, terms.size()));
  if (shifts_sign_of_unsigned(w, op, terms, dtype)) return shift_in_sign(w.b, values[0], values[1]);
  return w.b.emit(op, std::span<const ir::Value>(values, terms.size()));
}

Term clamp(Writer& w, const Term& x, const Term& low, const Term& high, bool drop_nan) {
  Term raised = apply(w, drop_nan ? Op::FMax : Op::Maximum, {x, low});
  return apply(w, drop_nan ? Op::FMin : Op::Minimum, {raised, high});
}

Term true_divide(Writer& w, const Term& a, const Term& b) {
  bool converts = is_integer(w, a) && is_integer(w, b);
  if (w.dialect().is_tile && !(a.is_literal() && b.is_literal())) converts |= ir::is_half(common_dtype(w, {{a, b}}));
  return converts ? apply(w, Op::Div, {as_float(w, a), as_float(w, b)}) : apply(w, Op::Div, {a, b});
}

Term ceil_division(Writer& w, const Term& a, const Term& b) {
  if (!is_integer(w, a) || !is_integer(w, b))
    user_error("cdiv of {} and {}, expected integers; floats: ceil(a / b)", name_of(w.dtype_of(a)), name_of(w.dtype_of(b)));
  DType dtype = common_dtype(w, {{a, b}});
  Expr x{&w, cast(w, a, dtype)}, y{&w, cast(w, b, dtype)};
  return rounded_up(apply(Op::Div, x, y), apply(Op::Rem, x, y), y).term;
}

ir::Value where(Writer& w, const Term& condition, const Term& a, const Term& b) {
  if (w.dtype_of(condition) != DType::Bool)
    user_error("where: the condition is {}, expected bool; compare it with 0", name_of(w.dtype_of(condition)));
  ir::Value values[] = {w.node(condition), {}, {}};
  if (is_pointer(w, a) && is_pointer(w, b)) {
    values[1] = a.node();
    values[2] = b.node();
  } else {
    DType dtype = common_dtype(w, {{a, b}});
    values[1] = w.node(a, dtype);
    values[2] = w.node(b, dtype);
  }
  broadcast_all(w.b, "where", values);
  return w.b.where(values[0], values[1], values[2]);
}

ir::Value cast(Writer& w, const Term& a, DType dtype) {
  bool is_fraction = a.is_literal() && a.literal().kind == Literal::Float;
  return w.b.cast(is_fraction ? w.constant(a.literal(), DType::F64) : w.node(a), dtype);
}

ir::Value bitcast(Writer& w, const Term& a, DType dtype) { return w.b.bitcast(w.node(a), dtype); }

// --- shapes

ir::Shape common_shape(const ir::Shape& a, const ir::Shape& b, std::string_view what) {
  const ir::Shape& longer = a.rank() >= b.rank() ? a : b;
  ir::Shape shape = longer;
  for (int k = 1; k <= std::min(a.rank(), b.rank()); ++k) {
    int64_t x = a[a.rank() - k], y = b[b.rank() - k];
    if (x != y && x != 1 && y != 1)
      user_error("{}{}tiles of shapes {} and {} do not broadcast: counted from the last axis, sizes must agree or be 1; "
                 "x[{{tl::colon, tl::newaxis}}] adds an axis of size 1",
                 what, what.empty() ? "" : ": ", to_string(a), to_string(b));
    shape[shape.rank() - k] = x == 1 ? y : x;
  }
  return shape;
}

void broadcast_all(ir::Builder& b, std::string_view what, std::span<ir::Value> values) {
  ir::Shape shape = b.type(values[0]).shape;
  for (ir::Value v : values.subspan(1)) shape = common_shape(shape, b.type(v).shape, what);
  for (ir::Value& v : values) v = broadcast(b, v, shape);
}

}  // namespace strider::front
