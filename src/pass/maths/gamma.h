// SPDX-License-Identifier: Apache-2.0
// The error function, its complement, gelu, the gamma function and its logarithm.
#pragma once

#include <type_traits>
#include <utility>

#include "pass/maths/power.h"

namespace strider::maths {

// An odd polynomial below 7/8, else 1 - 2^q(|x|) with q a polynomial for log2(erfc).
template <class F, class B, class V>
V erf(B& b, V x) {
  V a = b.abs(x);
  V small = b.fma(a, quick_polynomial(b, b.mul(x, x), F::kErf), a);

  V q = quick_polynomial(b, at_most(b, a, F::kErfMax), F::kErfc);
  V magic = b.constant(x, rounder<F>(F::kBias + 2 * F::kBias + 2));  // the last term sets the sign: -2^n
  V n = b.add(q, magic);
  V p = quick_polynomial(b, b.sub(q, b.sub(n, magic)), F::kExp2Half);
  V large = b.fma(p, as_exponent<F>(b, n), b.constant(x, 1.0));
  return with_sign_of<F>(b, b.where(b.lt(a, b.constant(x, 0.875)), small, large), x);
}

// e^z for z <= 0, given as z + low, as s (1 + u) 2^-kErfcShift, where s is a power of two: {u, s}.
template <class V>
struct Bell {
  V u, scale;
};

template <class F, class B, class V>
Bell<V> bell(B& b, V z, V low) {
  auto n = round<F>(b, z, F::kLog2E, F::kBias + F::kErfcShift);  // never positive: both powers of two are normal numbers
  V high = b.fma(n.integer, b.constant(z, -F::kLn2High), z);  // exact
  low = b.fma(n.integer, b.constant(z, -F::kLn2Low), low);
  V r = b.add(high, low);
  return {b.add(high, b.fma(b.mul(r, r), polynomial(b, r, F::kExpm1), low)), as_exponent<F>(b, n.biased)};
}

// erfc(a) 2^kErfcShift of large a: e^(-a^2) t R(t) with t = 1 / (a + 1). What t and a + 1 lost by rounding corrects the
// exponential.
template <class B, class V>
V erfc_tail(F32, B& b, V a) {
  V one = b.constant(a, 1.0);
  V d = b.add(a, one);
  V lost = b.sub(a, b.sub(d, one));
  V t = b.div(one, d);
  V residual = b.fma(b.neg(lost), t, b.fma(b.neg(d), t, one));
  V p = polynomial(b, t, F32::kErfcx), c = b.constant(a, 0x1.20ddd8p-1);
  V factor = b.fma(t, p, c);
  V factor_low = b.fma(t, p, b.sub(c, factor));
  auto z = exact_product(b, b.neg(a), a);
  auto [u, scale] = bell<F32>(b, z.high, b.add(z.low, residual));
  return b.mul(b.fma(t, factor, b.fma(t, factor_low, b.mul(u, b.mul(t, factor)))), scale);
}

// The same as e^(-a^2) R((a - 4) / (a + 4)) / (1 + 2a), with R and the quotient as pairs.
template <class B, class V>
V erfc_tail(F64, B& b, V a) {
  V one = b.constant(a, 1.0), middle = b.constant(a, F64::kErfcxMiddle);
  V inverse = b.div(one, b.add(a, middle));
  V q = b.mul(b.sub(a, middle), inverse);  // and its residual: q (a + 4) = a - 4, where a + 4 is not exact
  V residual = b.fma(b.neg(q), a, b.fma(b.constant(a, -F64::kErfcxMiddle), b.add(q, one), a));
  q = b.fma(residual, inverse, q);
  V c = b.constant(a, F64::kErfcx[std::size(F64::kErfcx) - 1]);
  V p = b.mul(q, leading_terms<1>(b, q, F64::kErfcx));
  auto r = exact_sum(b, c, p);

  auto d = exact_sum(b, b.add(a, a), one);
  V over = b.div(one, d.high);
  V m = b.mul(r.high, over);
  V rest = b.fma(b.neg(m), d.low, b.add(b.fma(b.neg(m), d.high, r.high), r.low));
  auto z = exact_product(b, b.neg(a), a);
  auto [u, scale] = bell<F64>(b, z.high, z.low);
  V small = b.mul(rest, over);
  return b.mul(b.add(m, b.fma(m, u, b.fma(small, u, small))), scale);
}

// For a = |x|: 1 - erf(a) where that keeps its digits, else the tail. 2 - that for negative x.
template <class F, class B, class V>
V erfc(B& b, V x) {
  V a = b.abs(x), one = b.constant(x, 1.0), two = b.constant(x, 2.0);
  V small = b.fma(b.neg(a), polynomial(b, b.mul(a, a), F::kErfcSmall), b.sub(one, a));
  V large = b.mul(erfc_tail(F{}, b, at_most(b, a, F::kErfcMax)), b.constant(x, two_to_the(-F::kErfcShift)));
  V value = b.where(b.lt(a, b.constant(x, F::kErfcSmallMax)), small, large);
  return b.where(b.lt(x, b.constant(x, 0.0)), b.sub(two, value), value);
}

// max(x, 0) - a Q(a) for a = |x|, where Q(a) = erfc(a / sqrt 2) / 2 is the normal distribution's tail; a^2 is a pair, since what
// its rounding loses counts a^2 / 2 times. The power of two comes last, so that a result that is normal has all its digits.
template <class F, class B, class V>
V gelu(B& b, V x) {
  V a = at_most(b, b.abs(x), F::kGeluMax), middle = b.constant(x, F::kGeluMiddle);
  auto square = exact_product(b, a, a);
  V small = b.mul(a, b.fma(b.neg(a), quick_polynomial(b, square.high, F::kGeluSmall), b.constant(x, 0.5)));

  V r = quick_polynomial(b, b.div(b.sub(a, middle), b.add(a, middle)), F::kGelu);
  V half = b.constant(x, -0.5);
  auto [u, scale] = bell<F>(b, b.mul(square.high, half), b.mul(square.low, half));
  V large = b.mul(b.mul(b.fma(r, u, r), scale), b.constant(x, two_to_the(-F::kErfcShift)));

  V tail = b.where(b.lt(a, b.constant(x, F::kGeluSmallMax)), small, large);
  V step = b.where(b.lt(x, b.constant(x, 0.0)), b.constant(x, 0.0), b.constant(x, 1.0));
  return b.fma(x, step, b.neg(tail));  // a product, so that -0 stays and -inf gives NaN, as PyTorch has it
}

// ---- the gamma function, in f64; f32 goes through it ---------------------------------------------

template <class B, class V>
Pair<V> product(B& b, Pair<V> x, Pair<V> y) {
  auto p = exact_product(b, x.high, y.high);
  return {p.high, b.fma(x.high, y.low, b.fma(x.low, y.high, p.low))};
}

template <class B, class V>
Pair<V> sum(B& b, Pair<V> x, Pair<V> y) {
  auto s = exact_sum(b, x.high, y.high);
  return {s.high, b.add(b.add(x.low, y.low), s.low)};
}

template <class B, class V>
Pair<V> negated(B& b, Pair<V> x) {
  return {b.neg(x.high), b.neg(x.low)};
}

template <class B, class V, class C>
Pair<V> where(B& b, C condition, Pair<V> x, Pair<V> y) {
  return {b.where(condition, x.high, y.high), b.where(condition, x.low, y.low)};
}

template <class B, class V>
Pair<V> log2_of(B& b, Pair<V> x) {
  auto l = precise_log2<F64>(b, x.high);
  l.low = b.fma(b.div(x.low, x.high), b.constant(x.high, F64::kLog2E), l.low);
  return l;
}

// What gamma and its logarithm are made of. Arguments below 1/2 are reflected: gamma(x) = pi / (sin(pi x) gamma(1 - x)).
// Those below 10 are moved up: gamma(x) = gamma(x + k) / (x (x + 1) ... (x + k - 1)).
template <class B, class V>
struct Gamma {
  using C = decltype(std::declval<B&>().lt(std::declval<V>(), std::declval<V>()));
  C reflected;
  Pair<V> product;  // x (x + 1) ..., of the reflected x
  Pair<V> log2;     // of gamma(x + k)
  Pair<V> sine;     // |sin(pi x)|
  C odd;            // sin(pi x) and x have different signs
};

// What log2_of_gamma's result is to be divided by: for huge y it would leave the range before the natural logarithm does.
template <class B, class V>
V gamma_scale(B& b, V y) {
  return b.where(b.lt(b.constant(y, 0x1p900), y), b.constant(y, 0x1p-64), b.constant(y, 1.0));
}

// Stirling: (y - 1/2) log2(y) - y log2(e) + log2(2 pi) / 2 + 1 / 12y ..., for y >= 10.
template <class B, class V>
Pair<V> log2_of_gamma(B& b, Pair<V> y) {
  auto c = [&](double value) { return b.constant(y.high, value); };
  auto l = precise_log2<F64>(b, y.high);
  V inverse = b.div(c(1.0), y.high);
  V series = polynomial(b, b.mul(inverse, inverse), F64::kStirling);
  V scale = gamma_scale(b, y.high);
  auto first = product(b, Pair<V>{b.mul(b.sub(y.high, c(0.5)), scale), c(0.0)}, l);
  auto second = product(b, Pair<V>{b.mul(y.high, scale), c(0.0)}, Pair<V>{c(-F64::kLog2E), c(-F64::kLog2ELow)});
  auto both = sum(b, first, second);
  V derivative = b.fma(inverse, c(-0.5 * F64::kLog2E), l.high);
  both.low = b.fma(y.low, derivative, both.low);
  auto rest = exact_sum(b, c(F64::kHalfLog2OfTau), b.mul(inverse, series));
  rest.low = b.add(rest.low, c(F64::kHalfLog2OfTauLow));
  return sum(b, both, rest);
}

// |sin(pi f)| for |f| <= 1/2: cos(pi (1/2 - |f|)) beyond a quarter.
template <class B, class V>
Pair<V> sine_of_pi(B& b, V f) {
  auto c = [&](double value) { return b.constant(f, value); };
  V a = b.abs(f);
  auto by_cosine = b.lt(c(0.25), a);
  V t = b.where(by_cosine, b.sub(c(0.5), a), a);
  auto r = exact_product(b, t, c(F64::kPi));
  r.low = b.fma(t, c(F64::kPiLow), r.low);
  V s = b.mul(r.high, r.high);
  V sine = b.fma(b.mul(r.high, s), polynomial(b, s, F64::kSin), b.mul(r.low, b.fma(s, c(-0.5), c(1.0))));
  V s_low = b.fma(b.add(r.high, r.high), r.low, b.fma(r.high, r.high, b.neg(s)));
  auto one_less = exact_sum(b, c(1.0), b.mul(s, c(-0.5)));
  V cosine = b.fma(s_low, c(-0.5), b.fma(b.mul(s, s), leading_terms<2>(b, s, F64::kCos), one_less.low));
  return exact_sum(b, b.where(by_cosine, one_less.high, r.high), b.where(by_cosine, cosine, sine));
}

template <class B, class V>
Gamma<B, V> gamma_parts(B& b, V x, double most) {
  auto c = [&](double value) { return b.constant(x, value); };
  auto reflected = b.lt(x, c(0.5));
  V whole = b.round_even(x), half = b.mul(whole, c(0.5));
  auto start = where(b, reflected, exact_sum(b, c(1.0), b.neg(at_least(b, x, -most))), Pair<V>{at_most(b, x, most), c(0.0)});
  Pair<V> factors{c(1.0), c(0.0)};
  V moved = c(0.0);
  for (int k = 0; k < 10; ++k) {
    auto factor = exact_sum(b, start.high, c(k));
    factor.low = b.add(factor.low, start.low);
    auto below = b.lt(factor.high, c(10.0));
    factors = where(b, below, product(b, factors, factor), factors);
    moved = b.where(below, c(k + 1), moved);
  }
  auto y = exact_sum(b, start.high, moved);
  y.low = b.add(y.low, start.low);
  return {reflected, factors, log2_of_gamma(b, y), sine_of_pi(b, b.sub(x, whole)), b.ne(b.round_even(half), half)};
}

// Down to 2^-60 gamma is 1 / x; at 0 and the negative integers it has poles.
template <class F, class B, class V>
V tgamma(B& b, V x) {
  static_assert(std::is_same_v<F, F64>);
  auto c = [&](double value) { return b.constant(x, value); };
  V one = c(1.0), zero = c(0.0), nan = c(std::numeric_limits<double>::quiet_NaN());
  auto g = gamma_parts(b, x, 200);
  V magic = c(rounder<F>(2 * F::kBias));
  V n = b.sub(b.add(g.log2.high, magic), magic);
  V mantissa = polynomial(b, b.add(b.sub(g.log2.high, n), g.log2.low), F::kExp2Half);
  Pair<V> m{mantissa, zero}, pi{c(F::kPi), c(F::kPiLow)};
  auto above = where(b, g.reflected, product(b, g.product, pi), m);
  auto below = where(b, g.reflected, product(b, g.sine, m), g.product);
  V inverse = b.div(one, below.high);
  V q = b.mul(above.high, inverse);
  V residual = b.fma(b.neg(q), below.low, b.add(b.fma(b.neg(q), below.high, above.high), above.low));
  V value = times_power<F>(b, b.fma(residual, inverse, q), b.add(b.where(g.reflected, b.neg(n), n), magic));

  auto negative = b.lt(x, zero);
  // Below zero the sign is that of sin(pi x), which changes at every integer.
  auto minus = b.logical_and(negative, b.ne(b.lt(b.sub(x, b.round_even(x)), zero), g.odd));
  value = b.where(minus, b.neg(value), value);
  auto pole = b.logical_and(negative, b.eq(b.round_even(x), x));
  value = b.where(pole, nan, value);
  value = b.where(b.lt(b.abs(x), c(0x1p-60)), b.div(one, x), value);
  return b.where(b.eq(x, x), b.where(b.eq(x, c(std::numeric_limits<double>::infinity())), x, value), x);
}

// The logarithm of its absolute value. Polynomials around 1 and 2, where it is 0; -log|x| for tiny x.
template <class F, class B, class V>
V lgamma(B& b, V x) {
  static_assert(std::is_same_v<F, F64>);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto c = [&](double value) { return b.constant(x, value); };
  V a = b.abs(x), infinity = c(kInfinity);
  auto tiny = b.lt(a, c(0x1p-60));
  auto g = gamma_parts(b, x, F::kMax);
  auto l = sum(b, g.log2, negated(b, log2_of(b, g.product)));
  auto sine = log2_of(b, where(b, tiny, Pair<V>{a, c(0.0)}, g.sine));
  auto other = sum(b, sum(b, Pair<V>{c(F::kLog2OfPi), c(F::kLog2OfPiLow)}, negated(b, l)), negated(b, sine));
  l = where(b, tiny, negated(b, sine), where(b, g.reflected, other, l));
  V ln2 = c(F::kLn2);
  V value = b.fma(l.high, ln2, b.fma(l.high, c(F::kLn2Rest), b.mul(l.low, ln2)));
  value = b.div(value, gamma_scale(b, a));

  auto near = [&](double centre, double slope, double slope_low, const auto& coefficients) {
    V f = b.sub(x, c(centre));
    V near_value = b.fma(f, c(slope), b.fma(b.mul(f, f), polynomial(b, f, coefficients), b.mul(f, c(slope_low))));
    value = b.where(b.le(b.abs(f), c(0.25)), near_value, value);
  };
  near(1, -F::kEuler, -F::kEulerLow, F::kLgamma1);
  near(2, F::kOneLessEuler, -F::kEulerLow, F::kLgamma2);
  auto pole = b.logical_and(b.le(x, c(0.0)), b.eq(b.round_even(x), x));
  auto beyond = b.lt(c(0x1.754d9278b51a7p1014), a);  // where it overflows
  value = b.where(b.logical_or(pole, beyond), infinity, value);
  return b.where(b.eq(x, x), value, x);
}

}  // namespace strider::maths
