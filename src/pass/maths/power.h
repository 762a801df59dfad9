// SPDX-License-Identifier: Apache-2.0
// Powers and roots.
#pragma once

#include <type_traits>

#include "pass/maths/exp_log.h"

namespace strider::maths {

// a^(-1/3) guessed from the bits of a. f64 has them as a float without a conversion of 64-bit integers.
template <class B, class V>
V guess_inverse_cbrt(F32, B& b, V a) {
  V guess = b.fma(b.to_float(b.bitcast_int(a)), b.constant(a, -1.0 / 3.0), b.constant(a, 0x1.5287acp30));
  return b.bitcast_float(b.to_int(guess));
}

template <class B, class V>
V guess_inverse_cbrt(F64, B& b, V a) {
  constexpr double kIntegers = 0x1p52;  // added to small positive integers, it leaves them in the low bits
  auto bits = b.bitcast_int(a);
  auto top = b.bit_or(b.shr(bits, b.iconstant(bits, 20)), b.iconstant(bits, (F64::kBias + 52) << F64::kMantissa));
  V value = b.sub(b.bitcast_float(top), b.constant(a, kIntegers));
  V guess = b.fma(value, b.constant(a, -1.0 / 3.0), b.constant(a, 1363.9317 * 0x1p32));
  return b.bitcast_float(b.shl(b.bitcast_int(b.add(guess, b.constant(a, kIntegers))), b.iconstant(bits, 20)));
}

// The guess is improved by a series in what 1 - a y^3 is, once for f32 and twice for f64; then one Newton step on the root.
template <class F, class B, class V>
V cbrt(B& b, V x) {
  V one = b.constant(x, 1.0);
  auto tiny = b.lt(b.abs(x), b.constant(x, 0x1p-100));
  V a = b.mul(b.abs(x), b.where(tiny, b.constant(x, two_to_the(3 * F::kCbrtShift)), one));
  V y = guess_inverse_cbrt(F{}, b, a);
  for (int step = 0; step < F::kCbrtSteps; ++step) {
    V r = b.fma(b.mul(a, b.neg(y)), b.mul(y, y), one);
    y = b.fma(b.mul(y, r), polynomial(b, r, F::kCbrt), y);
  }
  V w = b.mul(y, y);
  V c = b.mul(a, w);
  V residual = b.fma(b.mul(c, c), b.neg(c), a);
  c = b.fma(residual, b.mul(w, b.constant(x, F::kThird)), c);
  c = b.mul(c, b.where(tiny, b.constant(x, two_to_the(-F::kCbrtShift)), one));
  V infinity = b.constant(x, std::numeric_limits<double>::infinity());
  return with_sign_of<F>(b, b.where(b.lt(a, infinity), c, b.abs(x)), x);
}

template <class F, class B, class V>
V rsqrt(B& b, V x) {
  return b.div(b.constant(x, 1.0), b.sqrt(x));
}

// Scaled so that no square that counts leaves the range of normal numbers.
template <class F, class B, class V>
V hypot(B& b, V x, V y) {
  V ax = b.abs(x), ay = b.abs(y), one = b.constant(x, 1.0);
  V infinity = b.constant(x, std::numeric_limits<double>::infinity());
  V most = b.where(b.lt(ax, ay), ay, ax);
  auto huge = b.le(b.constant(x, F::kSquareMost), most), tiny = b.lt(most, b.constant(x, F::kSquareLeast));
  auto choose = [&](double if_huge, double if_tiny) {
    return b.where(huge, b.constant(x, if_huge), b.where(tiny, b.constant(x, if_tiny), one));
  };
  V scale = choose(F::kSquareDown, F::kSquareUp);
  V sx = b.mul(ax, scale), sy = b.mul(ay, scale);
  V root = b.mul(b.sqrt(b.fma(sx, sx, b.mul(sy, sy))), choose(1 / F::kSquareDown, 1 / F::kSquareUp));
  return b.where(b.logical_or(b.eq(ax, infinity), b.eq(ay, infinity)), infinity, root);
}

// x 2^n for an integer n; exact, or rounded once: before the last step a result that will be subnormal has all its bits.
template <class F, class B, class V>
V ldexp(B& b, V x, V n) {
  constexpr int kUp = F::kBias, kDown = 1 - F::kBias + F::kMantissa + 1;
  auto c = [&](double value) { return b.constant(x, value); };
  V rest = n, value = x;
  for (int step = 0; step < 2; ++step) {
    auto high = b.lt(c(kUp), rest), low = b.lt(rest, c(1 - F::kBias));
    value = b.mul(value, b.where(high, c(two_to_the(kUp)), b.where(low, c(two_to_the(kDown)), c(1.0))));
    rest = b.sub(rest, b.where(high, c(kUp), b.where(low, c(kDown), c(0.0))));
  }
  rest = at_least(b, at_most(b, rest, kUp), 1 - F::kBias);
  V power = as_exponent<F>(b, b.add(rest, c(rounder<F>(F::kBias))));
  return b.where(b.eq(n, n), b.mul(value, power), n);
}

// log2 of |x|, positive and finite, to 2^-34 (f32) or 2^-65 (f64) of its value: with s = f / (2 + f),
// 2 / ln 2 * (s + s^3 / 3 + s^5 / 5 ...).
template <class F, class B, class V>
Pair<V> precise_log2(B& b, V a) {
  auto c = [&](double value) { return b.constant(a, value); };
  auto [e, f] = split<F>(b, a);
  V d = b.add(f, c(2.0));
  V lost = b.sub(f, b.sub(d, c(2.0)));
  V inverse = b.div(c(1.0), d);
  V s = b.mul(f, inverse);
  V residual = b.fma(b.neg(s), lost, b.fma(b.neg(s), d, f));
  V s_low = b.mul(residual, inverse);

  auto v = exact_product(b, s, s);
  v.low = b.fma(b.mul(s, c(2.0)), s_low, v.low);
  auto t = exact_product(b, v.high, c(F::kThird));  // s^2 / 3 + s^4 (1/5 + ...)
  V t_low = b.fma(v.low, c(F::kThird), b.fma(v.high, c(F::kThirdLow), t.low));
  t_low = b.fma(b.mul(v.high, v.high), polynomial(b, v.high, F::kPowTail), t_low);
  if constexpr (std::is_same_v<F, F64>) {  // t_low is up to 2^-12, too much for the large exponents of f64
    V total = b.add(t.high, t_low);
    t_low = b.sub(t_low, b.sub(total, t.high));
    t.high = total;
  }

  V sum = b.fma(s, t.high, s);  // what a sum of products loses by rounding is again a sum of products
  V sum_low = b.fma(s, t.high, b.fma(sum, c(-1.0), s));
  sum_low = b.fma(residual, inverse, b.fma(s, t_low, b.fma(s_low, t.high, sum_low)));
  V unit = c(exponent_unit(F{}));
  V high = b.fma(sum, c(F::kTwoLog2E), b.mul(e, unit));
  V low = b.fma(sum, c(F::kTwoLog2E), b.fma(e, unit, b.neg(high)));
  return {high, b.fma(sum_low, c(F::kTwoLog2E), b.fma(sum, c(F::kTwoLog2ELow), low))};
}

// value * 2^n in two steps, each by a normal number; `biased` is n plus 2 kBias in the low bits of a rounding.
template <class F, class B, class V>
V times_power(B& b, V value, V biased) {
  auto bits = b.bitcast_int(biased);
  auto half = b.shr(bits, b.iconstant(bits, 1));
  value = b.mul(value, as_exponent<F>(b, b.bitcast_float(half)));
  return b.mul(value, as_exponent<F>(b, b.bitcast_float(b.sub(bits, half))));
}

// 2^(z + low) for z that is in range or not much beyond.
template <class F, class B, class V>
V two_to_the_sum(B& b, V z, V low) {
  V magic = b.constant(z, rounder<F>(2 * F::kBias));
  V n = b.add(z, magic);
  V value = polynomial(b, b.add(b.sub(z, b.sub(n, magic)), low), F::kExp2Half);
  return times_power<F>(b, value, n);
}

// |x|^y = 2^(y log2 |x|), then the sign and the special cases of IEEE 754's pow. An infinite y acts as the largest number.
template <class F, class B, class V>
V pow(B& b, V x, V y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto c = [&](double value) { return b.constant(x, value); };
  V a = b.abs(x), zero = c(0.0), one = c(1.0), infinity = c(kInfinity);
  auto l = precise_log2<F>(b, a);
  l.high = b.where(b.eq(a, zero), c(-kInfinity), b.where(b.lt(a, infinity), l.high, a));

  V exponent = at_least(b, at_most(b, y, F::kMax), -F::kMax);
  V z = b.mul(exponent, l.high);
  V z_low = b.fma(exponent, l.low, b.fma(exponent, l.high, b.neg(z)));
  z_low = b.where(b.lt(b.abs(z), c(F::kPowMost)), z_low, zero);
  z = at_least(b, at_most(b, z, F::kExp2Max), F::kExp2Min - 1);
  V value = two_to_the_sum<F>(b, z, z_low);
  value = b.where(b.logical_or(b.eq(y, zero), b.eq(x, one)), one, value);

  V half = b.mul(y, c(0.5));
  auto integer = b.eq(b.round_even(y), y);
  auto odd = b.logical_and(integer, b.ne(b.round_even(half), half));
  auto invalid = b.logical_and(b.logical_and(b.lt(x, zero), b.lt(a, infinity)), b.logical_not(integer));
  value = b.where(invalid, c(std::numeric_limits<double>::quiet_NaN()), value);
  return b.where(odd, with_sign_of<F>(b, value, x), value);
}

}  // namespace strider::maths
