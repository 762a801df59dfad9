// SPDX-License-Identifier: Apache-2.0
// Values and their operators.
#include <algorithm>
#include <bit>

#include <fmt/ranges.h>

#include "base/float_environment.h"
#include "front/lang/arith.h"
#include "front/lang/shape.h"
#include "front/trace/trace.h"
#include "ir/semantics.h"

namespace strider {
inline namespace v0 {
namespace detail {

using front::write;
using front::Writer;

Handle literal(bool value) { return {Handle::Bool, 0, value}; }
Handle literal(int64_t value) { return {Handle::Int, 0, static_cast<uint64_t>(value)}; }
Handle literal(uint64_t value) { return {value > INT64_MAX ? Handle::Unsigned : Handle::Int, 0, value}; }
Handle literal(double value) { return {Handle::Float, 0, std::bit_cast<uint64_t>(value)}; }

namespace {

/// The numbers that programs are compiled with may be newer than this library.
ir::Op op_of(OpId id) {
  auto number = static_cast<uint8_t>(id);
  if (std::optional<ir::Op> op = ir::op_numbered(number)) return *op;
  user_error("there is no op number {}: the program was compiled with the headers of another Strider", number);
}

}  // namespace

double evaluate(OpId id, double a, double b, double c) {
  const DefaultFloatEnvironment environment;
  ir::Op op = op_of(id);
  const uint64_t args[] = {std::bit_cast<uint64_t>(a), std::bit_cast<uint64_t>(b), std::bit_cast<uint64_t>(c)};
  bool is_bool = ir::info(op).result == ir::ResultRule::Bool;
  uint64_t bits = ir::evaluate(op, DType::F64, is_bool ? DType::Bool : DType::F64, args);
  return is_bool ? static_cast<double>(bits) : std::bit_cast<double>(bits);
}

namespace {
auto pointwise(OpId op) {
  return [op](Writer& w, const auto&... x) { return front::apply(w, op_of(op), {x...}); };
}
}  // namespace

Value apply(OpId op, const Operand& a) { return write(a.where, pointwise(op), a); }
Value apply(OpId op, const Operand& a, const Operand& b) { return write(a.where, pointwise(op), a, b); }
Value apply(OpId op, const Operand& a, const Operand& b, const Operand& c) { return write(a.where, pointwise(op), a, b, c); }

Value true_divide(const Operand& a, const Operand& b) { return write(a.where, front::true_divide, a, b); }
Value ceil_division(const Operand& a, const Operand& b) { return write(a.where, front::ceil_division, a, b); }

}  // namespace detail

// --- members

DType Value::dtype() const {
  if (is_empty()) user_error("a value that was never given one has no dtype");
  if (is_literal()) return front::literal_dtype(handle_);
  front::Trace& trace = front::Trace::current();
  return trace.dtype_of(trace.term(*this));
}

Dims Value::shape() const {
  if (handle_.kind != detail::Handle::Node) return {};
  front::Trace& trace = front::Trace::current();
  return Dims(trace.shape_of(trace.term(*this)).dims());
}

Value Value::to(DType dtype, std::source_location where) const { return front::write(where, front::cast, *this, dtype); }

Value Value::operator[](const tl::Subscript& subscript) const {
  auto with_new = [&](front::Writer& w, const front::Term& x) {
    std::array<bool, kMaxDims> is_new{};
    if (subscript.axes.size() > is_new.size()) detail::too_many_dims(subscript.axes.size());
    std::transform(subscript.axes.begin(), subscript.axes.end(), is_new.begin(), [](tl::Axis a) { return a == tl::newaxis; });
    return front::subscript(w, x, std::span(is_new).first(subscript.axes.size()));
  };
  return front::write(subscript.where, with_new, *this);
}

// --- functions that are no plain op

Value where(const Operand& condition, const Operand& a, const Operand& b) {
  return front::write(condition.where, front::where, condition, a, b);
}

double cast(double a, DType dtype) {
  const DefaultFloatEnvironment environment;
  uint64_t bits = std::bit_cast<uint64_t>(a);
  return ir::double_of_bits(dtype, ir::evaluate(ir::Op::Cast, DType::F64, dtype, &bits));
}

Value bitcast(const Operand& a, DType dtype) { return front::write(a.where, front::bitcast, a, dtype); }

std::string to_string(const Dims& dims) { return fmt::format("({})", fmt::join(dims, ", ")); }

void detail::too_many_dims(size_t count) { user_error("{} axes, at most {} are possible", count, kMaxDims); }

}  // namespace v0
}  // namespace strider
