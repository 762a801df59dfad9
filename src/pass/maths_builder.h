// SPDX-License-Identifier: Apache-2.0
// The builder through which pass/maths.h writes IR.
#pragma once

#include "ir/builder.h"

namespace strider::pass {

class MathsBuilder {
 public:
  explicit MathsBuilder(ir::Builder& builder) : b_(builder) {}

  ir::Value constant(ir::Value like, double value) { return b_.constant(b_.type(like), value); }
  ir::Value iconstant(ir::Value like, int64_t value) { return b_.constant_int(b_.type(like), value); }
  ir::Value fma(ir::Value x, ir::Value y, ir::Value z) { return b_.fma(x, y, z); }
  ir::Value where(ir::Value condition, ir::Value yes, ir::Value no) { return b_.where(condition, yes, no); }
  ir::Value to_int(ir::Value x) { return b_.cast(x, integer(x)); }
  ir::Value to_float(ir::Value x) { return b_.cast(x, real(x)); }
  ir::Value bitcast_int(ir::Value x) { return b_.bitcast(x, integer(x)); }
  ir::Value bitcast_float(ir::Value x) { return b_.bitcast(x, real(x)); }

#define STRIDER_UNARY(name, op) \
  ir::Value name(ir::Value x) { return b_.unary(ir::Op::op, x); }
#define STRIDER_BINARY(name, op) \
  ir::Value name(ir::Value x, ir::Value y) { return b_.binary(ir::Op::op, x, y); }
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
  bool is_wide(ir::Value x) const { return size_of(b_.type(x).dtype) == 8; }
  DType integer(ir::Value x) const { return is_wide(x) ? DType::I64 : DType::I32; }
  DType real(ir::Value x) const { return is_wide(x) ? DType::F64 : DType::F32; }

  ir::Builder& b_;
};

}  // namespace strider::pass
