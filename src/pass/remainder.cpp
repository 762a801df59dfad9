// SPDX-License-Identifier: Apache-2.0
// Digit i of the quotient counts multiples of s = |y| 2^(50 i). Going down, r < s 2^50 holds before a digit is taken, so the
// rounded quotient r / s is at most one too large after truncation, and r - q s is a multiple of the last place of s below
// s in magnitude: fma gives it exactly, and so does the correction by s. A scale that overflows counts no digit.
#include "pass/remainder.h"

#include <algorithm>
#include <cmath>

#include "base/float_format.h"
#include "pass/maths_builder.h"

namespace strider::pass {

using namespace ir;

namespace {

constexpr int kDigitBits = 50;
constexpr int kMostScale = 1000;  // 2^1000 is finite

/// Digits that the largest quotient of two values of this dtype has.
int digit_count(DType dtype) {
  const FloatFormat format = format_of(dtype);
  int bits = format.bias() + 1 - (format.least_exponent() - format.fraction);  // max / smallest subnormal < 2^bits
  return (bits + kDigitBits - 1) / kDigitBits;
}

Value scaled(Builder& b, Value x, int exponent) {
  for (; exponent > 0; exponent -= kMostScale)
    x = b.mul(x, b.constant(b.type(x), std::ldexp(1.0, std::min(exponent, kMostScale))));
  return x;
}

/// r modulo s, when r < s 2^50.
Value without_digit(Builder& b, Value r, Value s) {
  Value q = b.unary(Op::Trunc, b.binary(Op::Div, r, s));
  Value rest = b.fma(b.unary(Op::Neg, q), s, r);
  rest = b.where(b.binary(Op::Lt, rest, b.constant(b.type(r), 0)), b.add(rest, s), rest);
  return b.where(b.binary(Op::Ge, r, s), rest, r);
}

/// r modulo s 2^50. Quotients of more than one digit are rare.
Value with_one_digit(Builder& b, Value r, Value s, int digits) {
  if (digits == 1) return r;
  Value common = b.binary(Op::Lt, r, scaled(b, s, kDigitBits)), rest = r;
  for (int i = digits - 1; i > 0; --i) rest = without_digit(b, rest, scaled(b, s, i * kDigitBits));
  return where_likely(b, common, r, rest);
}

Value with_sign_of(Builder& b, Value magnitude, Value x) {
  Value bits = b.bitcast(x, DType::I64);
  Value sign = b.binary(Op::And, bits, b.constant_int(b.type(bits), INT64_MIN));
  return b.bitcast(b.binary(Op::Or, b.bitcast(magnitude, DType::I64), sign), DType::F64);
}

}  // namespace

Value float_remainder(Builder& b, Value x, Value y, DType dtype) {
  Value divisor = b.unary(Op::Abs, y);
  Value r = with_one_digit(b, b.unary(Op::Abs, x), divisor, digit_count(dtype));
  return b.where(b.binary(Op::Ne, y, y), y, with_sign_of(b, without_digit(b, r, divisor), x));
}

}  // namespace strider::pass
