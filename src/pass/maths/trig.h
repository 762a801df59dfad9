// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions.
#pragma once

#include <vector>

#include "pass/maths/shared.h"

namespace strider::maths {

// An array of values: those of `slow()` where `rare`, else `fast`. A builder that can branch around code that no lane
// needs offers rarely(condition, slow, fast) with the same meaning; elsewhere both are computed.
template <class B, class C, class V, size_t N, class Slow>
std::array<V, N> rarely(B& b, C rare, Slow slow, std::array<V, N> fast) {
  if constexpr (requires { b.rarely(rare, slow, fast); }) {
    return b.rarely(rare, slow, fast);
  } else {
    std::array<V, N> values = slow();
    for (size_t k = 0; k < N; ++k) values[k] = b.where(rare, values[k], fast[k]);
    return values;
  }
}

// N = 2: |x| as q pi/2 + r, {q as bits, r}, with |r| <= pi/4 and a little; of q the low two bits count.
// N = 3: as q pi/2 + r + low, {q as bits, r, low}.
template <class V, size_t N>
using Reduced = std::array<V, N>;

// The first bits of 1 / (2 pi) in words of 24, ten zeros before the point.
constexpr int64_t kTurn[] = {0x000517, 0xcc1b72, 0x7220a9, 0x4fe13a, 0xbe8fa9, 0xa6ee06, 0xdb14ac, 0xc9e21c, 0x820ff2};

// For a >= 2^12. With a = M 2^(e-23) and words v0, v1, ... that begin at bit e - 22 of 1 / (2 pi), the turn's fraction
// is (lo(M v0) + hi(M v1)) 2^-24 + (lo(M v1) + hi(M v2)) 2^-48 + ..., lo and hi being the halves of 48-bit products; lo
// is integer arithmetic, and hi an exact fma. Whole turns have dropped out.
template <size_t N, class B, class V>
Reduced<V, N> reduce_large(F32, B& b, V a) {
  a = at_least(b, a, 0x1p12);
  auto bits = b.bitcast_int(a);
  auto word = [&](int64_t value) { return b.iconstant(bits, value); };
  auto low_word = [&](auto x) { return b.bit_and(x, word(0xffffff)); };
  auto below = [&](int exponent) { return b.lt(a, b.constant(a, two_to_the(exponent))); };
  auto r0 = below(36), r1 = below(60), r2 = below(84), r3 = below(108);
  auto choose = [&](int64_t c0, int64_t c1, int64_t c2, int64_t c3, int64_t c4) {
    auto high = b.where(r2, word(c2), b.where(r3, word(c3), word(c4)));
    return b.where(r0, word(c0), b.where(r1, word(c1), high));
  };
  auto left = b.sub(b.shr(bits, word(23)), choose(139, 163, 187, 211, 235));  // 0 <= left < 24
  auto right = b.sub(word(24), left);
  auto w = [&](int k) { return choose(kTurn[k], kTurn[k + 1], kTurn[k + 2], kTurn[k + 3], kTurn[k + 4]); };
  auto w0 = w(0), w1 = w(1), w2 = w(2), w3 = w(3), w4 = w(4);
  auto joined = [&](auto high, auto low) { return low_word(b.bit_or(b.shl(high, left), b.shr(low, right))); };
  auto v0 = joined(w0, w1), v1 = joined(w1, w2), v2 = joined(w2, w3), v3 = joined(w3, w4);

  auto m = b.bit_or(b.bit_and(bits, word(0x7fffff)), word(0x800000));
  V mf = b.to_float(m), unit = b.constant(a, 0x1p-24);
  auto low_half = [&](auto v) { return low_word(b.mul(m, v)); };
  auto high_half = [&](auto v, V low) { return b.to_int(b.mul(b.fma(mf, b.to_float(v), b.neg(low)), unit)); };
  auto low1 = low_half(v1), low2 = low_half(v2);
  V low2f = b.to_float(low2);
  V third = b.fma(mf, b.mul(b.to_float(v3), unit), low2f);
  auto second = b.add(low1, high_half(v2, low2f));
  auto carry = b.shr(b.add(second, word(0x800000)), word(24));
  second = b.sub(second, b.shl(carry, word(24)));
  auto first = b.add(b.add(low_half(v0), high_half(v1, b.to_float(low1))), carry);
  auto q = b.shr(b.add(first, word(0x200000)), word(22));
  first = b.sub(first, b.shl(q, word(22)));

  V x = b.add(b.to_float(first), b.sub(a, a));  // NaN for inf and NaN
  V y = b.to_float(second);                     // the fraction is 2^-24 (x + 2^-24 (y + 2^-24 third))
  V h = b.fma(y, unit, x);
  V l = b.fma(third, b.constant(a, 0x1p-48), b.fma(y, unit, b.sub(x, h)));
  V tau = b.constant(a, 0x1.921fb6p-22);
  V small = b.fma(h, b.constant(a, -0x1.777a5cp-47), b.mul(l, tau));
  if constexpr (N == 2) {
    return {b.bitcast_float(q), b.fma(h, tau, small)};
  } else {
    V r = b.mul(h, tau);
    return {b.bitcast_float(q), r, b.add(small, b.fma(h, tau, b.neg(r)))};
  }
}

// The first bits of 1 / (2 pi) in words of 48, with none before them.
constexpr int64_t kTurn64[] = {
    0x0, 0x28be60db9391, 0x54a7f09d5f4, 0x7d4d377036d8, 0xa5664f10e410, 0x7f9458eaf7ae, 0xf1586dc91b8e,
    0x909374b80192, 0x4bba82746487, 0x3f877ac72c4a, 0x69cfba208d7d, 0x4baed1213a67, 0x1c09ad17df90, 0x4e64758e60d4,
    0xce7d272117e2, 0xef7e4a0ec7fe, 0x25fff7816603, 0xfbcbc462d682, 0x9b47db4d9fb3, 0xc9f2c26dd3d1, 0x8fd9a797fa8b,
    0x5d49eeb1faf9, 0x7c5ecf41ce7d, 0xe294a4ba9afe, 0xd7ec47e35742, 0x1580cc11bf1e};
constexpr int kTurn64Scale = 600;  // keeps the last words normal numbers

// A sum whose parts do not overlap much: what each addition loses goes to the next part.
template <class B, class V>
class LongSum {
 public:
  LongSum(B& b, V first) : b_(b), zero_(b.constant(first, 0.0)), parts_{first, zero_, zero_} {}

  void add(V x) {
    auto first = exact_sum(b_, parts_[0], x);
    auto second = exact_sum(b_, parts_[1], first.low);
    parts_ = {first.high, second.high, b_.add(parts_[2], second.low)};
  }
  // Takes a multiple of the highest part's unit away.
  void take(V quarters) { parts_[0] = b_.fma(quarters, b_.constant(zero_, -0.25), parts_[0]); }
  V high() const { return parts_[0]; }
  Pair<V> pair() {
    auto high = exact_sum(b_, parts_[0], parts_[1]);
    return {high.high, b_.add(high.low, parts_[2])};
  }

 private:
  B& b_;
  V zero_;
  std::array<V, 3> parts_;
};

// Five words of 1 / (2 pi) as numbers times 2^600: those that a = 2^e ... with 53 bits needs, less the ones whose product
// with it is a multiple of a turn. They are moved to the front by 16, 8, 4, 2 and 1 place.
template <class B, class V>
std::array<V, 5> turn_words(B& b, V a) {
  constexpr size_t kCount[] = {20, 12, 8, 6, 5};
  auto bits = b.bitcast_int(a);
  auto word = [&](int64_t value) { return b.iconstant(bits, value); };
  auto exponent = b.sub(b.shr(bits, word(52)), word(F64::kBias + 4));
  auto index = b.shr(b.mul(exponent, word(1366)), word(16));  // exponent / 48
  std::vector<V> words;
  for (size_t k = 0; k < std::size(kTurn64); ++k)
    words.push_back(b.constant(a, static_cast<double>(kTurn64[k]) * two_to_the(kTurn64Scale - 48 * static_cast<int>(k))));
  for (int step = 0; step < 5; ++step) {
    size_t shift = size_t{16} >> step;
    auto moved = b.ne(b.bit_and(index, word(static_cast<int64_t>(shift))), word(0));
    for (size_t k = 0; k < kCount[step] && k + shift < words.size(); ++k) words[k] = b.where(moved, words[k + shift], words[k]);
    words.resize(kCount[step]);
  }
  return {words[0], words[1], words[2], words[3], words[4]};
}

// For a >= 2^30: the products with five words, each as its rounded value and what that lost, less whole turns. Near a
// multiple of pi/2 sixty bits cancel, so three parts are summed.
template <size_t N, class B, class V>
Reduced<V, N> reduce_large(F64, B& b, V a) {
  V x = b.mul(at_least(b, a, F64::kLargeAngle), b.constant(a, two_to_the(-kTurn64Scale)));
  auto words = turn_words(b, at_least(b, a, F64::kLargeAngle));
  auto fraction = [&](V v) { return b.sub(v, b.round_even(v)); };
  auto product = exact_product(b, x, words[0]);
  LongSum<B, V> turns(b, fraction(product.high));
  turns.add(fraction(product.low));
  for (size_t k = 1; k < words.size(); ++k) {
    product = exact_product(b, x, words[k]);
    turns.add(k < 3 ? fraction(product.high) : product.high);
    turns.add(k < 3 ? fraction(product.low) : product.low);
  }
  V quarters = b.round_even(b.mul(turns.high(), b.constant(a, 4.0)));
  turns.take(quarters);
  auto [high, low] = turns.pair();
  high = b.add(high, b.sub(a, a));  // NaN for inf and NaN
  V tau = b.constant(a, F64::kTau);
  V r = b.mul(high, tau);
  V rest = b.fma(low, tau, b.fma(high, b.constant(a, F64::kTauLow), b.fma(high, tau, b.neg(r))));
  V q = b.add(quarters, b.constant(a, rounder<F64>(0)));
  if constexpr (N == 2) return {q, b.add(r, rest)};
  else return {q, r, rest};
}

template <class F, size_t N, class B, class V>
Reduced<V, N> reduce(B& b, V x) {
  constexpr double kLow = -F::kHalfPiLow, kLowest = -F::kHalfPiLowest;
  V a = b.abs(x);
  auto n = round<F>(b, a, F::kTwoByPi, 0);
  V high = b.fma(n.integer, b.constant(a, -F::kHalfPi), a);  // exact
  V r = b.fma(n.integer, b.constant(a, kLow), high);
  auto large = b.le(b.constant(a, N == 2 ? F::kLargeAngle : F::kLargeAngleForTan), a);
  auto slow = [&] { return reduce_large<N>(F{}, b, a); };
  if constexpr (N == 2) {
    r = b.fma(n.integer, b.constant(a, kLowest), r);
    return rarely(b, large, slow, Reduced<V, N>{n.biased, r});
  } else {  // what r lost by rounding; for tiny r the difference may not be exact, but there r alone is good enough
    V lost = b.fma(n.integer, b.constant(a, kLow), b.sub(high, r));
    lost = b.where(b.lt(b.abs(r), b.constant(a, 0x1p-12)), b.constant(a, 0.0), lost);
    V low = b.fma(n.integer, b.constant(a, kLowest), lost);
    return rarely(b, large, slow, Reduced<V, N>{n.biased, r, low});
  }
}

// sin(r) for even q and cos(r) for odd q, negated by bit 1 of q and by the sign of `sign`.
template <class F, class B, class V, class I>
V sine(B& b, V r, I q, I sign) {
  V s = b.mul(r, r);
  V sine = b.fma(b.mul(r, s), polynomial(b, s, F::kSin), r);
  V value = b.where(b.eq(b.bit_and(q, b.iconstant(q, 1)), b.iconstant(q, 0)), sine, polynomial(b, s, F::kCos));
  auto flip = b.bit_and(b.bit_xor(sign, b.shl(q, b.iconstant(q, F::kSignBit - 1))), b.iconstant(q, F::kSign));
  return b.bitcast_float(b.bit_xor(b.bitcast_int(value), flip));
}

template <class F, class B, class V>
V sin(B& b, V x) {
  auto [q, r] = reduce<F, 2>(b, x);
  return sine<F>(b, r, b.bitcast_int(q), b.bitcast_int(x));
}

template <class F, class B, class V>
V cos(B& b, V x) {
  auto [q, r] = reduce<F, 2>(b, x);
  auto bits = b.bitcast_int(q);
  return sine<F>(b, r, b.add(bits, b.iconstant(bits, 1)), b.iconstant(bits, 0));
}

// tan(r) for even q and -1 / tan(r) for odd q.
template <class F, class B, class V>
V tan(B& b, V x) {
  auto [q, r, low] = reduce<F, 3>(b, x);
  V s = b.mul(r, r);
  V t = b.add(r, b.fma(b.mul(r, s), polynomial(b, s, F::kTan), b.fma(low, s, low)));
  auto bits = b.bitcast_int(q);
  auto even = b.eq(b.bit_and(bits, b.iconstant(bits, 1)), b.iconstant(bits, 0));
  V value = b.where(even, t, b.div(b.constant(x, -1.0), t));
  auto sign = b.bit_and(b.bitcast_int(x), b.iconstant(bits, F::kSign));
  return b.bitcast_float(b.bit_xor(b.bitcast_int(value), sign));
}

}  // namespace strider::maths
