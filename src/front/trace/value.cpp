// SPDX-License-Identifier: Apache-2.0
// Operations on values: one dtype, one shape, then a node; on literals alone, a number.
#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/ranges.h>

#include "front/trace/trace.h"
#include "ir/infer.h"
#include "ir/promote.h"
#include "ir/semantics.h"

namespace strider {
inline namespace v0 {
namespace detail {

using front::Trace;
using ir::Category;

static_assert(static_cast<int>(OpId::Barrier) == static_cast<int>(ir::Op::Barrier));

Handle literal(bool value) { return {Handle::Bool, 0, value}; }
Handle literal(int64_t value) { return {Handle::Int, 0, static_cast<uint64_t>(value)}; }
Handle literal(uint64_t value) { return {value > INT64_MAX ? Handle::Unsigned : Handle::Int, 0, value}; }
Handle literal(double value) { return {Handle::Float, 0, std::bit_cast<uint64_t>(value)}; }

double evaluate(OpId op, double a, double b, double c) {
  const uint64_t args[] = {std::bit_cast<uint64_t>(a), std::bit_cast<uint64_t>(b), std::bit_cast<uint64_t>(c)};
  bool is_bool = ir::info(static_cast<ir::Op>(op)).result == ir::ResultRule::Bool;
  uint64_t bits = ir::evaluate(static_cast<ir::Op>(op), DType::F64, is_bool ? DType::Bool : DType::F64, args);
  return is_bool ? static_cast<double>(bits) : std::bit_cast<double>(bits);
}

namespace {

using Operands = std::span<const Operand* const>;

// --- dtypes

/// The common dtype of the values that have one.
std::optional<DType> strong_dtype(Operands operands) {
  std::optional<DType> result;
  for (const Operand* o : operands)
    if (!o->value.is_literal()) result = result ? Trace::current().promote(*result, o->value.dtype()) : o->value.dtype();
  return result;
}

/// The dtype that all operands get: literals count only by a higher category.
DType common_dtype(Operands operands) {
  std::optional<DType> strong = strong_dtype(operands);
  std::optional<DType> result = strong;
  for (const Operand* o : operands) {
    if (!o->value.is_literal()) continue;
    DType own = o->value.dtype();
    if (!strong || ir::category_of(own) > ir::category_of(*strong)) result = result ? Trace::current().promote(*result, own) : own;
  }
  return *result;
}

// --- literals

bool all_literals(Operands operands) {
  for (const Operand* o : operands)
    if (!o->value.is_literal()) return false;
  return true;
}

/// Literals are computed in i64 and f64; bool stays where it can.
DType literal_dtype(Operands operands) {
  switch (ir::category_of(common_dtype(operands))) {
    case Category::Bool: return DType::Bool;
    case Category::Int: return DType::I64;
    default: return DType::F64;
  }
}

uint64_t widened_bits(const Handle& h, DType dtype) {
  if (h.kind == Handle::Float) return h.bits;
  if (dtype == DType::F64)
    return ir::bits_of_double(
        dtype, h.kind == Handle::Unsigned ? static_cast<double>(h.bits) : static_cast<double>(static_cast<int64_t>(h.bits)));
  return h.bits;
}

Value literal_from(DType dtype, uint64_t bits) {
  if (dtype == DType::Bool) return Value(literal(bits != 0));
  if (dtype == DType::I64) return Value(literal(static_cast<int64_t>(bits)));
  return Value(literal(std::bit_cast<double>(bits)));
}

Value fold_literals(ir::Op op, Operands operands) {
  DType dtype = literal_dtype(operands);
  uint64_t args[3];
  ir::Type types[3];
  for (size_t k = 0; k < operands.size(); ++k) {
    args[k] = widened_bits(operands[k]->value.handle(), dtype);
    types[k] = ir::Type::scalar(dtype);
  }
  DType result = ir::infer(op, std::span(types, operands.size()), 0, nullptr).dtype;
  return literal_from(result, ir::evaluate(op, dtype, result, args));
}

// --- nodes

ir::Shape broadcast_all(Trace& trace, std::string_view what, std::span<ir::Value> values) {
  ir::Shape shape = trace.b.type(values[0]).shape;
  for (ir::Value v : values.subspan(1)) shape = front::common_shape(shape, trace.b.type(v).shape, what);
  for (ir::Value& v : values) v = front::broadcast(trace.b, v, shape);
  return shape;
}

Value apply_all(ir::Op op, Operands operands) {
  Trace& trace = Trace::current();
  return trace.at(operands[0]->where, [&] {
    for (const Operand* o : operands)
      if (o->value.is_empty()) user_error("{}: a value that was never given one is used", ir::name_of(op));
    if (all_literals(operands)) return fold_literals(op, operands);
    DType dtype = common_dtype(operands);
    ir::Value values[3];
    for (size_t k = 0; k < operands.size(); ++k) values[k] = trace.node(operands[k]->value, dtype);
    broadcast_all(trace, ir::name_of(op), std::span(values, operands.size()));
    return trace.wrap(trace.b.emit(op, std::span<const ir::Value>(values, operands.size())));
  });
}

bool is_integer(const Operand& a) { return ir::category_of(a.value.dtype()) != Category::Float; }

/// An integer as a float of the dialect; an integer literal stays a literal.
Operand as_float(const Operand& a) {
  const Handle& h = a.value.handle();
  if (!a.value.is_literal()) return Operand(a.value.to(Trace::current_dialect().literal_float, a.where), a.where);
  return Operand(Value(std::bit_cast<double>(widened_bits(h, DType::F64))), a.where);
}

/// The ceiling of a / b from the truncated quotient.
Value rounded_up(const Value& quotient, const Value& remainder, const Value& divisor) {
  Value inexact = remainder != 0;
  if (is_signed_int(remainder.dtype())) inexact = inexact & ((remainder < 0) == (divisor < 0));
  return quotient + inexact.to(remainder.dtype());
}

}  // namespace

Value apply(OpId op, const Operand& a) {
  const Operand* operands[] = {&a};
  return apply_all(static_cast<ir::Op>(op), operands);
}
Value apply(OpId op, const Operand& a, const Operand& b) {
  const Operand* operands[] = {&a, &b};
  return apply_all(static_cast<ir::Op>(op), operands);
}
Value apply(OpId op, const Operand& a, const Operand& b, const Operand& c) {
  const Operand* operands[] = {&a, &b, &c};
  return apply_all(static_cast<ir::Op>(op), operands);
}

Value true_divide(const Operand& a, const Operand& b) {
  if (!is_integer(a) || !is_integer(b)) return apply(OpId::Div, a, b);
  return Trace::current().at(a.where, [&] {
    Operand x = as_float(a), y = as_float(b);
    return apply(OpId::Div, x, y);
  });
}

Value ceil_division(const Operand& a, const Operand& b) {
  const Operand* operands[] = {&a, &b};
  return Trace::current().at(a.where, [&] {
    if (!is_integer(a) || !is_integer(b))
      user_error("cdiv of {} and {}, expected integers; floats: ceil(a / b)", name_of(a.value.dtype()), name_of(b.value.dtype()));
    DType dtype = common_dtype(operands);
    Value x = a.value.to(dtype, a.where), y = b.value.to(dtype, b.where);
    return rounded_up(div(x, y), rem(x, y), y);
  });
}

}  // namespace detail

// --- members

DType Value::dtype() const {
  if (is_empty()) user_error("a value that was never given one has no dtype");
  if (is_literal()) return front::literal_dtype(handle_);
  front::Trace& trace = front::Trace::current();
  return trace.b.type(trace.node(*this)).dtype;
}

Dims Value::shape() const {
  if (handle_.kind != detail::Handle::Node) return {};
  front::Trace& trace = front::Trace::current();
  return Dims(trace.b.type(trace.node(*this)).shape.dims());
}

Value Value::to(DType dtype, std::source_location where) const {
  front::Trace& trace = front::Trace::current();
  return trace.at(where, [&] {
    if (handle_.kind != detail::Handle::Float) return trace.wrap(trace.b.cast(trace.node(*this), dtype));
    return trace.wrap(trace.b.cast(trace.constant(*this, DType::F64), dtype));  // rounds once
  });
}

Value Value::operator[](const tl::Subscript& subscript) const {
  front::Trace& trace = front::Trace::current();
  return trace.at(subscript.where, [&] {
    const auto named = std::count(subscript.axes.begin(), subscript.axes.end(), tl::colon);
    if (named > shape().rank())
      user_error("a subscript of {} axes for a tile of shape {}: it has {}; newaxis adds one", named,
                 to_string(trace.b.type(trace.node(*this)).shape), shape().rank());
    Value result = *this;
    int axis = 0;
    for (tl::Axis a : subscript.axes) {
      if (a == tl::newaxis) result = tl::expand_dims(Operand(result, subscript.where), axis);
      ++axis;
    }
    return result;
  });
}

// --- functions that are no plain op

Value where(const Operand& condition, const Operand& a, const Operand& b) {
  front::Trace& trace = front::Trace::current();
  return trace.at(condition.where, [&] {
    if (condition.value.dtype() != DType::Bool)
      user_error("where: the condition is {}, expected bool; compare it with 0", name_of(condition.value.dtype()));
    const Operand* operands[] = {&a, &b};
    DType dtype = detail::common_dtype(operands);
    ir::Value values[] = {trace.node(condition.value), trace.node(a.value, dtype), trace.node(b.value, dtype)};
    detail::broadcast_all(trace, "where", values);
    return trace.wrap(trace.b.where(values[0], values[1], values[2]));
  });
}

double cast(double a, DType dtype) {
  uint64_t bits = std::bit_cast<uint64_t>(a);
  return ir::double_of_bits(dtype, ir::evaluate(ir::Op::Cast, DType::F64, dtype, &bits));
}

Value bitcast(const Operand& a, DType dtype) {
  front::Trace& trace = front::Trace::current();
  return trace.at(a.where, [&] { return trace.wrap(trace.b.bitcast(trace.node(a.value), dtype)); });
}

std::string to_string(const Dims& dims) { return fmt::format("({})", fmt::join(dims, ", ")); }

void detail::too_many_dims(size_t count) { user_error("{} axes, at most {} are possible", count, kMaxDims); }

}  // namespace v0
}  // namespace strider
