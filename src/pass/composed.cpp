// SPDX-License-Identifier: Apache-2.0
#include "pass/composed.h"

#include <limits>

#include "pass/maths.h"
#include "pass/maths_builder.h"
#include "pass/remainder.h"

namespace strider::pass {

using namespace ir;

namespace {

using Args = std::span<const Value>;

// --- pieces

struct Writer {
  Builder& b;

  Value number(Value like, double value) const { return b.constant(b.type(like), value); }
  Value integer(Value like, int64_t value) const { return b.constant_int(b.type(like), value); }
  Value op(Op op, Value x, Value y) const { return b.binary(op, x, y); }
  Value abs(Value x) const { return b.unary(Op::Abs, x); }
  Value both(Value x, Value y) const { return b.binary(Op::And, x, y); }
  Value is_nan(Value x) const { return b.binary(Op::Ne, x, x); }
  Value is_infinite(Value x) const { return op(Op::Eq, abs(x), number(x, infinity)); }
  Value is_negative(Value x) const { return op(Op::Lt, x, integer(x, 0)); }

  /// A quotient or remainder of these signs must be moved by one divisor to be rounded toward -inf.
  Value is_below(Value remainder, Value divisor) const {
    return both(op(Op::Ne, remainder, integer(remainder, 0)), op(Op::Ne, is_negative(remainder), is_negative(divisor)));
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
};

// --- signs and kinds of numbers

Value write_sign(Builder& b, Args x, DType dtype) {
  Writer w{b};
  Value zero = w.integer(x[0], 0), one = w.integer(x[0], 1);
  Value positive = b.where(w.op(Op::Gt, x[0], zero), one, zero);
  if (is_unsigned_int(dtype)) return positive;
  return b.where(w.op(Op::Lt, x[0], zero), w.integer(x[0], -1), positive);
}

template <int value>
Value write_constant(Builder& b, Args x, DType) {
  return b.constant_int(Type::tile(DType::Bool, b.type(x[0]).shape), value);
}

Value write_is_nan(Builder& b, Args x, DType) { return Writer{b}.is_nan(x[0]); }
Value write_is_infinite(Builder& b, Args x, DType) { return Writer{b}.is_infinite(x[0]); }
Value write_is_finite(Builder& b, Args x, DType) {
  Writer w{b};
  return w.op(Op::Lt, w.abs(x[0]), w.number(x[0], Writer::infinity));
}
Value write_integer_sign_bit(Builder& b, Args x, DType dtype) {
  return is_signed_int(dtype) ? Writer{b}.is_negative(x[0]) : write_constant<0>(b, x, dtype);
}

// --- extremes that drop NaN

template <Op extreme>
Value write_extreme_number(Builder& b, Args x, DType) {
  Writer w{b};
  Value other = b.where(w.is_nan(x[1]), x[0], x[1]);
  return b.where(w.is_nan(x[0]), x[1], w.op(extreme, x[0], other));
}

template <Op op>
Value write_as(Builder& b, Args x, DType) {
  return b.emit(op, x);
}

// --- quotients and remainders

Value write_rem(Builder& b, Args x, DType dtype) {
  Value rest = float_remainder(b, b.cast(x[0], DType::F64), b.cast(x[1], DType::F64), dtype);
  return b.cast(rest, b.type(x[0]).dtype);
}

Value write_remainder(Builder& b, Args x, DType dtype) {
  Writer w{b};
  Value rest = is_float(dtype) ? write_rem(b, x, dtype) : b.binary(Op::Rem, x[0], x[1]);
  return is_unsigned_int(dtype) ? rest : b.where(w.is_below(rest, x[1]), b.add(rest, x[1]), rest);
}

Value write_integer_floor_div(Builder& b, Args x, DType dtype) {
  Value quotient = b.binary(Op::Div, x[0], x[1]);
  if (is_unsigned_int(dtype)) return quotient;
  Value below = Writer{b}.is_below(b.binary(Op::Rem, x[0], x[1]), x[1]);
  return b.sub(quotient, b.cast(below, dtype));
}

/// As floor_quotient in ir/semantics.cpp.
Value write_floor_div(Builder& b, Args x, DType) {
  Writer w{b};
  Value quotient = b.binary(Op::Div, x[0], x[1]);
  Value whole = b.unary(Op::Floor, quotient);
  Value rest = b.fma(b.unary(Op::Neg, whole), x[1], x[0]);
  rest = b.where(w.is_infinite(x[1]), x[0], rest);
  whole = b.where(w.is_below(rest, x[1]), b.sub(whole, w.number(whole, 1)), whole);
  whole = b.where(w.is_infinite(x[0]), w.number(whole, std::numeric_limits<double>::quiet_NaN()), whole);
  return b.where(w.op(Op::Eq, x[1], w.number(x[1], 0)), quotient, whole);
}

// --- powers

/// By squaring, one step for each bit of the exponent; constant exponents leave their products only.
Value write_integer_pow(Builder& b, Args x, DType dtype) {
  Writer w{b};
  Value one = w.integer(x[0], 1), zero = w.integer(x[0], 0);
  auto bit = [&](int k) { return w.op(Op::Ne, w.both(x[1], b.binary(Op::Shl, one, w.integer(one, k))), zero); };
  Value result = one, square = x[0];
  for (int k = 0; k < bits_of(dtype); ++k) {
    result = b.where(bit(k), b.mul(result, square), result);
    square = b.mul(square, square);
  }
  if (is_unsigned_int(dtype)) return result;
  Value minus_one = w.integer(one, -1);
  Value unit = b.where(bit(0), x[0], one);
  Value is_unit = b.binary(Op::Or, w.op(Op::Eq, x[0], one), w.op(Op::Eq, x[0], minus_one));
  return b.where(w.is_negative(x[1]), b.where(is_unit, unit, zero), result);
}

Value write_ldexp(Builder& b, Args x, DType) {
  MathsBuilder maths(b);
  Value n = b.unary(Op::Trunc, x[1]);
  return b.type(n).dtype == DType::F64 ? maths::ldexp<maths::F64>(maths, x[0], n) : maths::ldexp<maths::F32>(maths, x[0], n);
}

Value write_integer_fma(Builder& b, Args x, DType) { return b.add(b.mul(x[0], x[1]), x[2]); }

// --- the table

using Write = Value (*)(Builder&, Args, DType);
struct Row {
  Op op;
  Write floats, integers;  // integers and bool; null: as it is
};

constexpr Row kRows[] = {
    {Op::Sign, write_sign, write_sign},
    {Op::IsNan, write_is_nan, write_constant<0>},
    {Op::IsInf, write_is_infinite, write_constant<0>},
    {Op::IsFinite, write_is_finite, write_constant<1>},
    {Op::SignBit, nullptr, write_integer_sign_bit},
    {Op::FMin, write_extreme_number<Op::Minimum>, write_as<Op::Minimum>},
    {Op::FMax, write_extreme_number<Op::Maximum>, write_as<Op::Maximum>},
    {Op::Rem, write_rem, nullptr},
    {Op::Remainder, write_remainder, write_remainder},
    {Op::FloorDiv, write_floor_div, write_integer_floor_div},
    {Op::Pow, nullptr, write_integer_pow},
    {Op::Ldexp, write_ldexp, nullptr},
    {Op::Fma, nullptr, write_integer_fma},
};

// --- on bits

/// Operands as integers.
struct Bits {
  Builder& b;

  DType integer(Value x) const {
    int size = size_of(b.type(x).dtype);
    return size == 2 ? DType::I16 : size == 4 ? DType::I32 : DType::I64;
  }
  Value of(Value x) const { return b.bitcast(x, integer(x)); }
  Value sign(Value bits) const { return b.binary(Op::And, bits, sign_mask(bits)); }
  Value magnitude(Value bits) const { return b.binary(Op::And, bits, b.unary(Op::Not, sign_mask(bits))); }
  Value sign_mask(Value bits) const {
    return b.constant_bits(b.type(bits), uint64_t{1} << (bits_of(b.type(bits).dtype) - 1));
  }
  /// In a dtype that compares and adds.
  Value number(Value x) const { return size_of(b.type(x).dtype) == 2 ? b.cast(x, DType::F32) : x; }
};

Value copy_sign(Builder& b, Args x) {
  Bits bits{b};
  Value result = b.binary(Op::Or, bits.magnitude(bits.of(x[0])), bits.sign(bits.of(x[1])));
  return b.bitcast(result, b.type(x[0]).dtype);
}

Value sign_bit(Builder& b, Args x) { return Writer{b}.is_negative(Bits{b}.of(x[0])); }

/// The bits of a float count its neighbours, away from zero.
Value next_after(Builder& b, Args x) {
  Bits bits{b};
  Writer w{b};
  DType dtype = b.type(x[0]).dtype;
  Value from = bits.number(x[0]), to = bits.number(x[1]), start = bits.of(x[0]), end = bits.of(x[1]);
  Value zero = w.number(from, 0), one = w.integer(start, 1);
  Value outward = w.op(Op::Eq, w.op(Op::Lt, from, to), w.op(Op::Gt, from, zero));
  Value next = b.add(start, b.where(outward, one, w.integer(start, -1)));
  next = b.where(w.op(Op::Eq, from, zero), b.binary(Op::Or, bits.sign(end), one), next);
  next = b.where(w.op(Op::Eq, from, to), end, next);
  Value unordered = b.binary(Op::Or, w.is_nan(from), w.is_nan(to));
  return b.where(unordered, b.cast(b.add(from, to), dtype), b.bitcast(next, dtype));
}

}  // namespace

Value compose(Builder& b, Op op, Args x, DType asked) {
  for (const Row& row : kRows)
    if (row.op == op)
      if (Write write = is_float(asked) ? row.floats : row.integers) return write(b, x, asked);
  return {};
}

Value compose_on_bits(Builder& b, Op op, Args x) {
  if (!is_float(b.type(x[0]).dtype)) return {};
  if (op == Op::CopySign) return copy_sign(b, x);
  if (op == Op::NextAfter) return next_after(b, x);
  return op == Op::SignBit ? sign_bit(b, x) : Value{};
}

}  // namespace strider::pass
