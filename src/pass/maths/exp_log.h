// SPDX-License-Identifier: Apache-2.0
// Exponentials and logarithms, and the functions that are little else.
#pragma once

#include "pass/maths/shared.h"

namespace strider::maths {

// ---- exponentials --------------------------------------------------------------------------------

// e^r - 1, where r = y - n * step * ln 2 is small enough for the polynomial. The first product and difference are
// exact.
template <class F, class B, class V, class Coefficients>
V expm1_reduced(B& b, V y, V n, double step, const Coefficients& coefficients) {
  V r = b.fma(n, b.constant(y, -step * F::kLn2High), y);
  r = b.fma(n, b.constant(y, -step * F::kLn2Low), r);
  return b.fma(b.mul(r, r), quick_polynomial(b, r, coefficients), r);
}

// e^x = 4^h e^r. Multiplying by 2^h twice is exact but for the last rounding, so overflow and gradual underflow come
// out right without a case of their own.
template <class F, class B, class V>
V exp(B& b, V x) {
  x = at_least(b, at_most(b, x, F::kExpMax), F::kExpMin);
  auto h = round<F>(b, x, 0.5 * F::kLog2E, F::kBias);
  V u = expm1_reduced<F>(b, x, h.integer, 2, F::kExp);
  V s = as_exponent<F>(b, h.biased);
  return b.mul(b.fma(u, s, s), s);
}

template <class F, class B, class V>
V exp2(B& b, V x) {
  x = at_least(b, at_most(b, x, F::kExp2Max), F::kExp2Min);
  auto h = round<F>(b, x, 0.5, F::kBias);
  V p = polynomial(b, b.fma(h.integer, b.constant(x, -2.0), x), F::kExp2);
  V s = as_exponent<F>(b, h.biased);
  return b.mul(b.mul(p, s), s);
}

// 2^n (e^r - 1) + (2^n - 1), halved so that n may be the largest exponent plus one.
template <class F, class B, class V>
V expm1(B& b, V x) {
  V y = at_least(b, at_most(b, x, F::kExpMax), F::kExpm1Min);
  auto n = round<F>(b, y, F::kLog2E, F::kBias - 1);
  V u = expm1_reduced<F>(b, y, n.integer, 1, F::kExpm1);
  V s = as_exponent<F>(b, n.biased);
  V half = b.fma(s, u, b.sub(s, b.constant(x, 0.5)));
  return b.where(b.lt(b.abs(x), b.constant(x, F::kEpsilon)), x, b.add(half, half));
}

// With E = e^|x| = s + s u: 1 / (1 + E) below zero, else 1 - 1 / (1 + E); E scaled down by 2^kShift to stay in range.
// `tail` is the denominator's rounding error; the quotient is corrected by its residual, which fma makes exact.
template <class F, class B, class V>
V sigmoid(B& b, V x) {
  V one = b.constant(x, 1.0), unit = b.constant(x, two_to_the(-F::kShift));
  V y = at_most(b, b.abs(x), -F::kExpMin);
  auto n = round<F>(b, y, F::kLog2E, F::kBias - F::kShift);
  V u = expm1_reduced<F>(b, y, n.integer, 1, F::kExpm1);
  V s = as_exponent<F>(b, n.biased);
  V v = b.fma(s, u, unit);
  V d = b.add(s, v);
  V tail = b.sub(v, b.sub(d, s));
  V q = b.div(one, d);
  V residual = b.fma(b.neg(tail), q, b.fma(b.neg(d), q, one));
  q = b.fma(q, residual, q);
  return b.where(b.lt(x, b.constant(x, 0.0)), b.mul(q, unit), b.fma(b.neg(q), unit, one));
}

// From e^r = 1 + r + r^2 (c_n r^n ... c_0), the polynomial for e^2r.
template <size_t N>
constexpr std::array<double, N + 2> doubled(const double (&c)[N]) {
  std::array<double, N + 2> result{};
  for (size_t k = 0; k < N; ++k) result[k] = c[k] * two_to_the(static_cast<int>(N - k) + 1);
  result[N] = 2.0;
  result[N + 1] = 1.0;
  return result;
}

// An odd polynomial below 0.6, else 1 - 2 / (e^2|x| + 1).
template <class F, class B, class V>
V tanh(B& b, V x) {
  V a = b.abs(x), one = b.constant(x, 1.0);
  V s = b.mul(x, x);
  V small = b.fma(b.mul(a, s), polynomial(b, s, F::kTanh), a);

  V y = at_most(b, a, F::kTanhMax);
  auto n = round<F>(b, y, 2.0 * F::kLog2E, F::kBias);
  V p = polynomial(b, b.fma(n.integer, b.constant(x, -0.5 * F::kLn2), y), doubled(F::kExpm1));
  V large = b.sub(one, b.div(b.constant(x, 2.0), b.fma(p, as_exponent<F>(b, n.biased), one)));
  return with_sign_of<F>(b, b.where(b.lt(a, b.constant(x, 0.6)), small, large), x);
}

// ---- logarithms ----------------------------------------------------------------------------------

// A positive number as 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); `exponent` is e in the format's own unit.
// f is inf for inf and NaN for NaN: with a positive leading coefficient the polynomials then give inf and NaN.
template <class V>
struct Split {
  V exponent;
  V f;
};

// The exponent of the nearest power of two, biased and in place.
template <class F, class B, class V>
auto exponent_bits(B& b, V x) {
  auto bits = b.bitcast_int(x);
  auto one = F::kBias << F::kMantissa;
  auto mask = (2 * F::kBias + 1) << F::kMantissa;
  return b.bit_and(b.add(bits, b.iconstant(bits, one - F::kRootHalf)), b.iconstant(bits, mask));
}

// 2^(2-e): two more, so that it is a normal number for all e.
template <class F, class B, class I>
auto four_over(B& b, I exponent) {
  return b.bitcast_float(b.sub(b.iconstant(exponent, F::kSign), exponent));
}

// The unit of exponents as floats: f32 converts the bits where they are; f64 makes them the low bits of 2^52, since
// vector units cannot convert 64-bit integers.
constexpr double exponent_unit(F32) { return 0x1p-23; }
constexpr double exponent_unit(F64) { return 1.0; }

template <class B, class I>
auto exponent_value(B& b, F32, I exponent, I unit) {
  return b.to_float(b.sub(exponent, unit));
}

template <class B, class I>
auto exponent_value(B& b, F64, I exponent, I unit) {
  auto as_float = [&](I bits) {
    auto low = b.shr(bits, b.iconstant(bits, F64::kMantissa));
    return b.bitcast_float(b.bit_or(low, b.iconstant(bits, (F64::kBias + 52) << F64::kMantissa)));
  };
  return b.sub(as_float(exponent), as_float(unit));
}

// Scaled up where small, so that subnormals need no case of their own.
template <class F, class B, class V>
Split<V> split(B& b, V x) {
  V one = b.constant(x, 1.0);
  V unit = b.where(b.lt(x, b.constant(x, two_to_the(-100))), b.constant(x, two_to_the(F::kShift)), one);
  V scaled = b.mul(x, unit);
  auto k = exponent_bits<F>(b, scaled);
  V g = b.fma(scaled, four_over<F>(b, k), b.constant(x, -4.0));
  return {exponent_value(b, F{}, k, b.bitcast_int(unit)), b.mul(g, b.constant(x, 0.25))};
}

// A logarithm's values outside its domain: -inf at the pole, NaN below it.
template <class B, class V>
V with_pole(B& b, V r, V x, double pole) {
  V p = b.constant(x, pole);
  V infinity = b.constant(x, -std::numeric_limits<double>::infinity());
  V outside = b.where(b.eq(x, p), infinity, b.constant(x, std::numeric_limits<double>::quiet_NaN()));
  return b.where(b.lt(p, x), r, outside);
}

template <class F, class B, class V>
V log_of(B& b, Split<V> x) {
  V r = b.fma(b.mul(x.f, x.f), polynomial(b, x.f, F::kLog), x.f);
  return b.fma(x.exponent, b.constant(r, F::kLn2 * exponent_unit(F{})), r);
}

template <class F, class B, class V>
V log(B& b, V x) {
  return with_pole(b, log_of<F>(b, split<F>(b, x)), x, 0.0);
}

// The coefficient of f is a high part and, as the polynomial's constant term, a low one.
template <class F, class B, class V>
V log2(B& b, V x) {
  auto [e, f] = split<F>(b, x);
  V r = b.fma(f, b.constant(x, F::kLog2E), b.mul(f, polynomial(b, f, F::kLog2)));
  return with_pole(b, b.fma(e, b.constant(x, exponent_unit(F{})), r), x, 0.0);
}

// The exponent is that of the rounded 1 + x; f = x / 2^e + (1 / 2^e - 1) has one rounding.
template <class F, class B, class V>
V log1p(B& b, V x) {
  auto k = exponent_bits<F>(b, b.add(x, b.constant(x, 1.0)));
  V scale = four_over<F>(b, k);
  V g = b.fma(x, scale, b.sub(scale, b.constant(x, 4.0)));
  V r = log_of<F>(
      b, Split<V>{exponent_value(b, F{}, k, b.iconstant(k, F::kBias << F::kMantissa)), b.mul(g, b.constant(x, 0.25))});
  return with_pole(b, b.where(b.eq(x, b.constant(x, 0.0)), x, r), x, -1.0);
}

// As log2; e log10(2) is a product that is exact and a small one.
template <class F, class B, class V>
V log10(B& b, V x) {
  auto [e, f] = split<F>(b, x);
  V r = b.fma(f, b.constant(x, F::kLog10E), b.mul(f, polynomial(b, f, F::kLog10)));
  r = b.fma(e, b.constant(x, F::kLog10Of2Low * exponent_unit(F{})), r);
  return with_pole(b, b.fma(e, b.constant(x, F::kLog10Of2High * exponent_unit(F{})), r), x, 0.0);
}

}  // namespace strider::maths
