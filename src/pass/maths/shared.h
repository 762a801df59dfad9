// SPDX-License-Identifier: Apache-2.0
// What the expansions share.
#pragma once

#include <array>
#include <cstddef>

#include "pass/maths/formats.h"

namespace strider::maths {

/// Horner's rule. Infinite x give infinity or NaN, as the leading coefficients say; some functions rest on that.
template <class B, class V, class Coefficients>
V polynomial(B& b, V x, const Coefficients& coefficients) {
  V sum = b.constant(x, coefficients[0]);
  for (size_t k = 1; k < std::size(coefficients); ++k) sum = b.fma(sum, x, b.constant(x, coefficients[k]));
  return sum;
}

/// All terms but the last few, divided by that power of x.
template <size_t last, class B, class V, class Coefficients>
V leading_terms(B& b, V x, const Coefficients& coefficients) {
  V sum = b.constant(x, coefficients[0]);
  for (size_t k = 1; k + last < std::size(coefficients); ++k) sum = b.fma(sum, x, b.constant(x, coefficients[k]));
  return sum;
}

/// Every second coefficient from `first` on, as a polynomial of `square`.
template <class B, class V, class Coefficients>
V every_second(B& b, V x, V square, const Coefficients& coefficients, size_t first) {
  V sum = b.constant(x, coefficients[first]);
  for (size_t k = first + 2; k < std::size(coefficients); k += 2)
    sum = b.fma(sum, square, b.constant(x, coefficients[k]));
  return sum;
}

/// The same polynomial for finite x with even and odd powers apart: two chains of half the length, which a processor
/// computes side by side. A little less exact.
template <class B, class V, class Coefficients>
V quick_polynomial(B& b, V x, const Coefficients& coefficients) {
  size_t count = std::size(coefficients);
  V square = b.mul(x, x);
  V even = every_second(b, x, square, coefficients, (count + 1) % 2);
  V odd = every_second(b, x, square, coefficients, count % 2);
  return b.fma(odd, x, even);
}

// A sum of two floats, the second much smaller.
template <class V>
struct Pair {
  V high, low;
};

template <class B, class V>
Pair<V> exact_product(B& b, V x, V y) {
  V p = b.mul(x, y);
  return {p, b.fma(x, y, b.neg(p))};
}

template <class B, class V>
Pair<V> exact_sum(B& b, V x, V y) {
  V sum = b.add(x, y);
  V part = b.sub(sum, x);
  return {sum, b.add(b.sub(x, b.sub(sum, part)), b.sub(y, part))};
}

// Clamps that let NaN pass; in this operand order each is one minps or maxps on x86.
template <class B, class V>
V at_most(B& b, V x, double limit) {
  V c = b.constant(x, limit);
  return b.where(b.lt(c, x), c, x);
}

template <class B, class V>
V at_least(B& b, V x, double limit) {
  V c = b.constant(x, limit);
  return b.where(b.lt(x, c), c, x);
}

// `magnitude` (not negative) with the sign of `x`.
template <class F, class B, class V>
V with_sign_of(B& b, V magnitude, V x) {
  auto bits = b.bitcast_int(x);
  auto sign = b.bit_and(bits, b.iconstant(bits, F::kSign));
  return b.bitcast_float(b.bit_or(b.bitcast_int(magnitude), sign));
}

// x * scale rounded to an integer by adding 1.5 * 2^mantissa, which needs no conversion and takes NaN. The sum's low
// bits then hold the integer plus `bias`, ready to be shifted into an exponent.
template <class V>
struct Rounded {
  V biased;
  V integer;
};

template <class F>
constexpr double rounder(int64_t bias) {
  return 1.5 * two_to_the(F::kMantissa) + static_cast<double>(bias);
}

template <class F, class B, class V>
Rounded<V> round(B& b, V x, double scale, int64_t bias) {
  V magic = b.constant(x, rounder<F>(bias));
  V biased = b.fma(x, b.constant(x, scale), magic);
  return {biased, b.sub(biased, magic)};
}

// The low bits of a rounding as exponent: 2^n where it was made with F::kBias.
template <class F, class B, class V>
V as_exponent(B& b, V biased) {
  auto bits = b.bitcast_int(biased);
  return b.bitcast_float(b.shl(bits, b.iconstant(bits, F::kMantissa)));
}

}  // namespace strider::maths
