// SPDX-License-Identifier: Apache-2.0
// The tile language's product of matrices.
#include "front/trace/shape.h"
#include "front/trace/trace.h"
#include "ir/promote.h"

namespace strider {
inline namespace v0 {
namespace tl {

using front::Trace;

namespace {

/// The dtype in which products are added.
DType accumulator(DType operand, std::optional<DType> out) {
  if (is_float(operand)) return operand == DType::F64 || out == DType::F64 ? DType::F64 : DType::F32;
  return bits_of(operand) < 32 ? DType::I32 : operand;
}

void check_matrix(std::string_view which, const ir::Type& t) {
  if (t.shape.rank() != 2 || t.is_pointer() || t.dtype == DType::Bool)
    user_error("dot: {} is {}, expected a tile of numbers with two axes", which, to_string(t));
}

}  // namespace

Value dot(const Operand& a, const Operand& b, const Value& acc, std::optional<DType> out_dtype) {
  Trace& trace = Trace::current();
  return trace.at(a.where, [&] {
    ir::Value x = trace.node(a.value), y = trace.node(b.value);
    const ir::Type left = trace.b.type(x), right = trace.b.type(y);
    check_matrix("a", left);
    check_matrix("b", right);
    if (left.dtype != right.dtype)
      user_error("dot: a is {} and b is {}, expected one dtype: convert one with .to()", to_string(left), to_string(right));
    if (left.shape[1] != right.shape[0])
      user_error("dot: tiles of shapes {} and {}, expected [m, k] and [k, n]", to_string(left.shape), to_string(right.shape));
    const DType dtype = accumulator(left.dtype, out_dtype);
    const ir::Shape shape{left.shape[0], right.shape[1]};
    ir::Value sum = trace.b.constant_int(ir::Type::scalar(dtype), 0);
    if (!acc.is_empty()) {
      sum = acc.is_literal() ? trace.constant(acc, dtype) : trace.node(acc);
      const ir::Type given = trace.b.type(sum);
      if (given.is_pointer() || !ir::widens(given.dtype, dtype))
        user_error("dot: acc is {}, products are added in {}: convert it with .to(st::{})", to_string(given), name_of(dtype),
                   name_of(dtype));
      if (!front::broadcasts_to(given.shape, shape))
        user_error("dot: acc has shape {}, the product {}: acc broadcasts to it", to_string(given.shape), to_string(shape));
    }
    sum = front::broadcast(trace.b, trace.b.cast(sum, dtype), shape);
    ir::Value product = trace.b.dot(sum, x, y);
    return trace.wrap(trace.b.cast(product, out_dtype.value_or(dtype)));
  });
}

}  // namespace tl
}  // namespace v0
}  // namespace strider
