// SPDX-License-Identifier: Apache-2.0
// Inverse trigonometric functions.
#pragma once

#include "pass/maths/shared.h"

namespace strider::maths {

// p negated where `minus`, plus `turns` * pi/2; `turns` is a small integer.
template <class F, class B, class V, class C>
V plus_quarter_turns(B& b, V p, C minus, V turns) {
  V signed_p = b.where(minus, b.neg(p), p);
  V low = b.fma(turns, b.constant(p, F::kHalfPiLow), signed_p);
  return b.fma(turns, b.constant(p, F::kHalfPi), low);
}

// asin of a <= kAsinLarge or, where a is larger, half of acos(a), which is asin(sqrt((1 - a) / 2)).
template <class F, class B, class V, class C>
V asin_or_half_acos(B& b, V a, C large) {
  V s = b.where(large, b.fma(a, b.constant(a, -0.5), b.constant(a, 0.5)), b.mul(a, a));
  V z = b.where(large, b.sqrt(s), a);
  return b.fma(b.mul(z, s), polynomial(b, s, F::kAsin), z);
}

template <class F, class B, class V>
V asin(B& b, V x) {
  V a = b.abs(x);
  auto large = b.lt(b.constant(x, F::kAsinLarge), a);
  V p = asin_or_half_acos<F>(b, a, large);
  V rest = b.fma(p, b.constant(x, -2.0), b.constant(x, F::kHalfPiLow));
  return with_sign_of<F>(b, b.where(large, b.add(rest, b.constant(x, F::kHalfPi)), p), x);
}

template <class F, class B, class V>
V acos(B& b, V x) {
  V a = b.abs(x), zero = b.constant(x, 0.0);
  auto large = b.lt(b.constant(x, F::kAsinLarge), a);
  auto negative = b.lt(x, zero);
  V p = asin_or_half_acos<F>(b, a, large);
  V turns = b.where(large, b.where(negative, b.constant(x, 2.0), zero), b.constant(x, 1.0));
  auto minus = b.logical_or(b.logical_and(large, negative), b.logical_not(b.logical_or(large, negative)));
  return plus_quarter_turns<F>(b, b.where(large, b.add(p, p), p), minus, turns);
}

// atan on [0, 1].
template <class F, class B, class V>
V atan_small(B& b, V z) {
  V s = b.mul(z, z);
  return b.fma(b.mul(z, s), polynomial(b, s, F::kAtan), z);
}

template <class F, class B, class V>
V atan(B& b, V x) {
  V a = b.abs(x), one = b.constant(x, 1.0);
  auto large = b.lt(one, a);
  V p = atan_small<F>(b, b.where(large, b.div(one, a), a));
  V rest = b.sub(b.constant(x, F::kHalfPiLow), p);
  return with_sign_of<F>(b, b.where(large, b.add(rest, b.constant(x, F::kHalfPi)), p), x);
}

template <class F, class B, class V>
V atan2(B& b, V y, V x) {
  V ax = b.abs(x), ay = b.abs(y), zero = b.constant(x, 0.0), one = b.constant(x, 1.0);
  auto steep = b.lt(ax, ay);
  V n = b.where(steep, ax, ay), d = b.where(steep, ay, ax);
  V t = b.where(b.eq(n, d), b.where(b.eq(n, zero), zero, one), b.div(n, d));  // both 0 or both inf included
  V p = atan_small<F>(b, t);
  auto bits = b.bitcast_int(x);
  auto backward = b.lt(bits, b.iconstant(bits, 0));
  V turns = b.where(steep, one, b.where(backward, b.constant(x, 2.0), zero));
  return with_sign_of<F>(b, plus_quarter_turns<F>(b, p, b.ne(steep, backward), turns), y);
}

}  // namespace strider::maths
