// SPDX-License-Identifier: Apache-2.0
#include "front/lang/dot.h"

#include "front/lang/shape.h"
#include "ir/promote.h"

namespace strider::front {
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

/// What products are added to, in their dtype.
ir::Value addend(Writer& w, const Term& acc, DType dtype, const ir::Shape& shape) {
  if (acc.is_empty()) return w.b.constant_int(ir::Type::scalar(dtype), 0);
  ir::Value sum = w.node_for(acc, dtype);
  const ir::Type given = w.type(sum);
  if (given.is_pointer() || !ir::widens(given.dtype, dtype))
    user_error("dot: acc is {}, products are added in {}: convert it with .to(st::{})", to_string(given), strider::name_of(dtype),
               ir::constant_of(dtype));
  if (!broadcasts_to(given.shape, shape))
    user_error("dot: acc has shape {}, the product {}: acc broadcasts to it", to_string(given.shape), to_string(shape));
  return w.b.cast(sum, dtype);
}

}  // namespace

ir::Value dot(Writer& w, const Term& a, const Term& b, const Term& acc, std::optional<DType> out_dtype) {
  ir::Value x = w.node(a), y = w.node(b);
  const ir::Type left = w.type(x), right = w.type(y);
  check_matrix("a", left);
  check_matrix("b", right);
  if (left.dtype != right.dtype)
    user_error("dot: a is {} and b is {}, expected one dtype: convert one with .to(st::{})", to_string(left), to_string(right),
               ir::constant_of(left.dtype));
  if (left.shape[1] != right.shape[0])
    user_error("dot: tiles of shapes {} and {}, expected [m, k] and [k, n]", to_string(left.shape), to_string(right.shape));
  const DType dtype = accumulator(left.dtype, out_dtype);
  const ir::Shape shape{left.shape[0], right.shape[1]};
  ir::Value sum = broadcast(w.b, addend(w, acc, dtype, shape), shape);
  return w.b.cast(w.b.dot(sum, x, y), out_dtype.value_or(dtype));
}

}  // namespace strider::front
