// SPDX-License-Identifier: Apache-2.0
// Hyperbolic functions and their inverses.
#pragma once

#include "pass/maths/exp_log.h"

namespace strider::maths {

// |x| = n ln 2 + r, with quarters of 2^n - 2^-n and 2^n + 2^-n: quarters, so that nothing overflows before the result does.
template <class V>
struct Hyperbolic {
  V difference, sum, r;
};

template <class F, class B, class V>
Hyperbolic<V> hyperbolic(B& b, V a) {
  V y = at_most(b, a, F::kHyperbolicMax);
  auto n = round<F>(b, y, F::kLog2E, F::kBias - 2);
  V r = b.fma(n.integer, b.constant(a, -F::kLn2High), y);
  r = b.fma(n.integer, b.constant(a, -F::kLn2Low), r);
  V up = as_exponent<F>(b, n.biased);
  auto bits = b.bitcast_int(up);  // of 2^-n times 4: zero at the largest n
  V down = b.bitcast_float(b.sub(b.iconstant(bits, (2 * F::kBias) << F::kMantissa), bits));
  return {b.fma(down, b.constant(a, -0x1p-4), up), b.fma(down, b.constant(a, 0x1p-4), up), r};
}

// sinh(r) of small r, and cosh(r) - 1.
template <class F, class B, class V>
V small_sinh(B& b, V r) {
  V s = b.mul(r, r);
  return b.fma(b.mul(r, s), polynomial(b, s, F::kSinh), r);
}

template <class F, class B, class V>
V small_cosh(B& b, V r) {
  V s = b.mul(r, r);
  return b.mul(s, polynomial(b, s, F::kCosh));
}

// A polynomial below 0.6; then (2^n - 2^-n) / 2 cosh(r) + (2^n + 2^-n) / 2 sinh(r), halved.
template <class F, class B, class V>
V sinh(B& b, V x) {
  V a = b.abs(x);
  auto small = b.lt(a, b.constant(x, 0.6));
  auto h = hyperbolic<F>(b, a);
  V s = small_sinh<F>(b, b.where(small, a, h.r));
  V half = b.add(h.difference, b.fma(h.difference, small_cosh<F>(b, h.r), b.mul(h.sum, s)));
  return with_sign_of<F>(b, b.where(small, s, b.add(half, half)), x);
}

template <class F, class B, class V>
V cosh(B& b, V x) {
  auto h = hyperbolic<F>(b, b.abs(x));
  V half = b.add(h.sum, b.fma(h.sum, small_cosh<F>(b, h.r), b.mul(h.difference, small_sinh<F>(b, h.r))));
  return b.add(half, half);
}

// root (1 + d P(d)), where 1 + d P(d) is acosh(1 + d) / sqrt(d (2 + d)) for d <= 2.2: smooth, and the same for asinh.
template <class F, class B, class V>
V arc(B& b, V root, V d) {
  return b.fma(root, b.mul(d, polynomial(b, d, F::kArc)), root);
}

// log(x) + more * ln 2 for x >= 1/2, inf and NaN.
template <class F, class B, class V>
V log_normal(B& b, V x, int more) {
  auto k = exponent_bits<F>(b, x);
  V g = b.fma(x, four_over<F>(b, k), b.constant(x, -4.0));
  V e = exponent_value(b, F{}, k, b.iconstant(k, (F::kBias - more) << F::kMantissa));
  return log_of<F>(b, Split<V>{e, b.mul(g, b.constant(x, 0.25))});
}

// The logarithm of a + sqrt(a^2 +- 1), with half of it inside to stay in range. `root` may overflow to inf.
template <class F, class B, class V>
V log_sum(B& b, V a, V root) {
  V half = b.constant(a, 0.5);
  V s = b.where(b.lt(a, b.constant(a, 0x1p30)), root, a);
  return log_normal<F>(b, b.fma(a, half, b.mul(s, half)), 1);
}

template <class F, class B, class V>
V asinh(B& b, V x) {
  V a = b.abs(x), one = b.constant(x, 1.0);
  V root = b.sqrt(b.fma(x, x, one));
  V small = arc<F>(b, a, b.sub(root, one));
  return with_sign_of<F>(b, b.where(b.lt(a, b.constant(x, 2.0)), small, log_sum<F>(b, a, root)), x);
}

template <class F, class B, class V>
V acosh(B& b, V x) {
  V one = b.constant(x, 1.0);
  V d = b.sub(x, one);
  V root = b.sqrt(b.fma(d, x, d));
  V small = arc<F>(b, root, d);
  V r = b.where(b.lt(x, b.constant(x, 2.0)), small, log_sum<F>(b, x, root));
  return b.where(b.lt(x, one), b.constant(x, std::numeric_limits<double>::quiet_NaN()), r);
}

// An odd polynomial up to 1/2, else half the logarithm of (1 + a) / (1 - a).
template <class F, class B, class V>
V atanh(B& b, V x) {
  V a = b.abs(x), one = b.constant(x, 1.0);
  V s = b.mul(x, x);
  V small = b.fma(b.mul(a, s), polynomial(b, s, F::kAtanh), a);
  V ratio = b.div(b.add(one, a), b.sub(one, a));
  V large = b.mul(log_normal<F>(b, ratio, 0), b.constant(x, 0.5));
  V r = b.where(b.lt(a, b.constant(x, 0.5)), small, large);
  r = b.where(b.lt(one, a), b.constant(x, std::numeric_limits<double>::quiet_NaN()), r);
  return with_sign_of<F>(b, r, x);
}

}  // namespace strider::maths
