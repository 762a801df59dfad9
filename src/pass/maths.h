// SPDX-License-Identifier: Apache-2.0
// Elementary functions as expansions in basic operations: the CPU, the GPU and the interpreters compute the same bits.
//
// Each function is a template over a builder `b` with value handles V (any copyable handle; floats, integers and
// booleans may have handles of different types):
//
//   constant(like, double)  iconstant(like, int64)  add sub mul div fma neg abs sqrt  round_even
//   lt le eq ne  where  logical_and logical_or logical_not  bit_and bit_or bit_xor shl shr
//   to_int to_float (of the same width)  bitcast_int bitcast_float
//   rarely (optional, see there): code that few lanes need may be branched around
//
// where() evaluates both sides. Nothing here branches, looks up a table or traps. NaN, infinities, signed zeros and
// subnormals, given or resulting, are right everywhere.
//
// Contraction: what must round once is written fma, and no plain add or sub has a product as operand, unless one by a
// power of two, so contracting them changes nothing inside an expansion. A result that is a product may be contracted
// with a sum of the user's.
//
// Worst errors in units of the last place: f32 over all inputs where the method differs between them, f64 and functions
// of two arguments over millions of random ones. In brackets the operations for f32, as vector instructions with fma.
//
//   exp     1.50 (19)   f64 1.40     sin    1.55 (22+95)    sinh   1.82 (26)    cbrt   0.74 (27)
//   exp2    1.32 (15)   f64 1.18     cos    1.54 (23+95)    cosh   1.83 (22)    erfc   1.96 (56)
//   expm1   1.47 (20)   f64 1.86     tan    1.93 (28+98)    asinh  1.41 (40)    log10  1.21 (26)
//   log     1.14 (24)   f64 1.26     asin   1.36 (19)       acosh  2.00 (39)    pow    1.02 (92)
//   log2    1.29 (25)   f64 0.92     acos   1.11 (27)       atanh  1.41 (36)
//   log1p   1.74 (25)   f64 1.73     atan   1.37 (20)
//   tanh    1.41 (26)   f64 1.51     atan2  1.52 (32)
//   sigmoid 1.14 (27)   f64 1.00
//   erf     1.29 (34)   f64 1.26
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace strider::maths {

namespace detail {

// ---- formats: layout, limits and coefficients (highest power first) -----------------------------

struct F32 {
  static constexpr int kMantissa = 23;
  static constexpr int64_t kBias = 127;
  static constexpr int64_t kSign = std::numeric_limits<int32_t>::min();
  static constexpr int64_t kRootHalf = 0x3f3504f3;  // bits of sqrt(1/2)
  static constexpr double kLn2High = 0x1.62e4p-1;   // its product with any exponent is exact
  static constexpr double kLn2Low = 0x1.7f7d1cp-20;
  static constexpr double kLn2 = 0x1.62e43p-1;
  static constexpr double kLog2E = 0x1.715476p0;
  static constexpr double kExpMin = -104, kExpMax = 89, kExp2Min = -151, kExp2Max = 129, kExpm1Min = -20;
  static constexpr double kTanhMax = 9.1, kErfMax = 4;  // the result is 1 from there on
  static constexpr double kEpsilon = 0x1p-24;
  static constexpr int kShift = 32;  // a power of two that keeps scaled values in range
  static constexpr double kExp[] = {0x1.a696fp-13, 0x1.721044p-10, 0x1.1107cap-7,
                                    0x1.55483ep-5, 0x1.555568p-3,  0x1.00001p-1};
  static constexpr double kExp2[] = {0x1.03894cp-16, 0x1.485f44p-13, 0x1.5d7e96p-10, 0x1.3b1e68p-7,
                                     0x1.c6b09ap-5,  0x1.ebfcp-3,    0x1.62e43p-1,   1.0};
  static constexpr double kExpm1[] = {0x1.6a604ap-10, 0x1.123ac8p-7, 0x1.5558ap-5, 0x1.55549p-3, 0x1.fffffcp-2};
  static constexpr double kLog[] = {0x1.661df8p-4, -0x1.252f5ap-3, 0x1.31881ep-3, -0x1.535774p-3,
                                    0x1.98d202p-3, -0x1.0004b8p-2, 0x1.5556f6p-2, -0x1.fffffap-2};
  static constexpr double kLog2[] = {0x1.02201cp-3,  -0x1.a8d262p-3, 0x1.b9c7b8p-3, -0x1.e94f5p-3, 0x1.26d306p-2,
                                     -0x1.715c98p-2, 0x1.ec73dcp-2,  -0x1.71547p-1, -0x1.3b28p-26};
  static constexpr double kTanh[] = {-0x1.7d7f24p-8, 0x1.53c03cp-6, -0x1.b87712p-5, 0x1.1108cap-3, -0x1.55553ap-2};
  static constexpr double kErf[] = {-0x1.4309dap-11, 0x1.4942c8p-8,  -0x1.b6dc18p-6,
                                    0x1.ce1f5ep-4,   -0x1.8126fep-2, 0x1.06eba6p-3};
  static constexpr double kErfc[] = {0x1.2f3a76p-12, -0x1.23e3f6p-8, 0x1.08c04p-5,   -0x1.342494p-3,
                                     -0x1.d65c38p-1, -0x1.a092b2p0,  -0x1.a193f4p-13};
  static constexpr double kExp2Half[] = {0x1.3fb5f2p-13, 0x1.5f0e12p-10, 0x1.3b309p-7, 0x1.c6af72p-5,
                                         0x1.ebfbd8p-3,  0x1.62e43p-1,   1.0};
};

struct F64 {
  static constexpr int kMantissa = 52;
  static constexpr int64_t kBias = 1023;
  static constexpr int64_t kSign = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  static constexpr double kLog2E = 0x1.71547652b82fep0;
  static constexpr double kExpMin = -746, kExpMax = 710, kExp2Min = -1076, kExp2Max = 1025, kExpm1Min = -40;
  static constexpr double kTanhMax = 19.1, kErfMax = 6;
  static constexpr double kEpsilon = 0x1p-53;
  static constexpr int kShift = 64;
  static constexpr double kExp[] = {0x1.645003f1af6b1p-33, 0x1.218e7865d5b3ap-29, 0x1.ae5f9497be776p-26,
                                    0x1.27e190c77ab48p-22, 0x1.71de3df0fe34ap-19, 0x1.a01a05fd7b3d3p-16,
                                    0x1.a01a019d397bep-13, 0x1.6c16c16945c3ap-10, 0x1.11111111123p-7,
                                    0x1.5555555557008p-5,  0x1.555555555554bp-3,  0x1.fffffffffffebp-2};
  static constexpr double kExp2[] = {0x1.83f5ca32ccdfp-40,  0x1.c7e196db044fdp-36,
                                     0x1.e8c8670d64ea2p-32, 0x1.e4c9b58465b74p-28,
                                     0x1.b5253d6d69032p-24, 0x1.62c025f68fb42p-20,
                                     0x1.ffcbfc5a58fe7p-17, 0x1.430912f5e8653p-13,
                                     0x1.5d87fe78a458ep-10, 0x1.3b2ab6fba676cp-7,
                                     0x1.c6b08d704a0f6p-5,  0x1.ebfbdff82c57ap-3,
                                     0x1.62e42fefa39efp-1,  1.0};
  static constexpr double kExpm1[] = {
      0x1.ad936192cfc04p-26, 0x1.28ae0ce834cfdp-22, 0x1.71df18bdec10dp-19, 0x1.a019994fd49f6p-16, 0x1.a01a012ffa4e4p-13,
      0x1.6c16c1847b80fp-10, 0x1.1111111126b2bp-7,  0x1.55555555506afp-5,  0x1.55555555554fep-3,  0x1.000000000000ap-1};
  static constexpr double kLog[] = {
      0x1.ac2424e9d378ap-6, -0x1.eba054171a171p-5, 0x1.0b74b2d70067ep-4, -0x1.d1523094071a6p-5,
      0x1.cfa0bd0d5cacbp-5, -0x1.fb6aabb8ea09dp-5, 0x1.11d993709f0f3p-4, -0x1.24dcb4246209bp-4,
      0x1.3b0ab2761c9dp-4,  -0x1.55506b2ad591ap-4, 0x1.745d45c95eea3p-4, -0x1.9999c97503c88p-4,
      0x1.c71c71d6f1dc2p-4, -0x1.fffffef4059e4p-4, 0x1.2492492240fa7p-3, -0x1.55555556e6804p-3,
      0x1.99999999a19a3p-3, -0x1.fffffffffde97p-3, 0x1.555555555551bp-2, -0x1.0000000000003p-1};
  static constexpr double kLog2[] = {
      0x1.358a9b934910cp-5,  -0x1.63661f5f92934p-4, 0x1.824aca4fa1b84p-4,  -0x1.4f87d0d94f713p-4, 0x1.4e3ff94d17ebcp-4,
      -0x1.6e0146138337dp-4, 0x1.8b1c6b1e93cd9p-4,  -0x1.a6847fcd5dca7p-4, 0x1.c681c736eafefp-4,  -0x1.ec6953e67fcaap-4,
      0x1.0c9aa937292c6p-3,  -0x1.2776e91112083p-3, 0x1.484b13d49063bp-3,  -0x1.71547584e2959p-3, 0x1.a61762a455a37p-3,
      -0x1.ec709dc61cd87p-3, 0x1.2776c50f00064p-2,  -0x1.71547652b66d7p-2, 0x1.ec709dc3a0392p-2,  -0x1.71547652b8304p-1,
      0x1.b933069056756p-56};
  static constexpr double kTanh[] = {-0x1.1c75b5638b9e2p-16, 0x1.4ae326c87d11p-14,   -0x1.e273540a06281p-13,
                                     0x1.33c5b73a6f3f5p-11,  -0x1.7d76d03d1b45ep-10, 0x1.d6d07fa5f18bcp-9,
                                     -0x1.226e20898d624p-7,  0x1.664f47dd8a5f1p-6,   -0x1.ba1ba1b7200aep-5,
                                     0x1.111111110d9f2p-3,   -0x1.5555555555529p-2};
  static constexpr double kErf[] = {0x1.661b1823fbc46p-27,  -0x1.4f27864bf34b4p-23, 0x1.b7d84100eee81p-20,
                                    -0x1.f4a89362eac89p-17, 0x1.f9a102559de5bp-14,  -0x1.c02da1e0a6815p-11,
                                    0x1.565bccaed2abep-8,   -0x1.b82ce3103dfcap-6,  0x1.ce2f21a03b997p-4,
                                    -0x1.812746b037961p-2,  0x1.06eba8214db68p-3};
  static constexpr double kErfc[] = {
      0x1.26702d9e83a49p-39, -0x1.992e698611499p-34, 0x1.0a4ee99cb733ap-29,  -0x1.af203c79422b3p-26,
      0x1.e574490f712dbp-23, -0x1.92003581f575ep-20, 0x1.f6a4b03fec324p-18,  -0x1.daf2aa506121ap-16,
      0x1.45f6bf713dfd2p-14, -0x1.1155b3072c461p-13, -0x1.a81b16df1662fp-17, 0x1.bdc394b885557p-11,
      -0x1.435f8b112faaep-9, 0x1.59579e8b8945ep-12,  0x1.c3c96a68a265ep-6,   -0x1.2fa20b473ddcap-3,
      -0x1.d63f57c3df458p-1, -0x1.a0be76b5abafap0,   -0x1.3a452a7c8575bp-24};
  static constexpr double kExp2Half[] = {0x1.e96f767e95aefp-32, 0x1.e61d80b84d7ap-28,  0x1.b525254792cf9p-24,
                                         0x1.62bfc63b910dep-20, 0x1.ffcbfc6547f79p-17, 0x1.4309130f75cf5p-13,
                                         0x1.5d87fe789ed57p-10, 0x1.3b2ab6fb9fd8bp-7,  0x1.c6b08d704a12bp-5,
                                         0x1.ebfbdff82c5a6p-3,  0x1.62e42fefa39efp-1,  1.0};
};

constexpr double two_to_the(int n) { return std::bit_cast<double>((int64_t{n} + F64::kBias) << F64::kMantissa); }

// ---- shared pieces -------------------------------------------------------------------------------

/// Horner's rule. Infinite x give infinity or NaN, as the leading coefficients say; some functions rest on that.
template <class B, class V, class Coefficients>
V polynomial(B& b, V x, const Coefficients& coefficients) {
  V sum = b.constant(x, coefficients[0]);
  for (size_t k = 1; k < std::size(coefficients); ++k) sum = b.fma(sum, x, b.constant(x, coefficients[k]));
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

// ---- error function ------------------------------------------------------------------------------

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

// ---- f32 only: logarithm to base 10 --------------------------------------------------------------

// As log2; e log10(2) is a product that is exact and a small one.
template <class B, class V>
V log10_f32(B& b, V x) {
  constexpr double kLog10[] = {0x1.369818p-5,  -0x1.ff69ap-5, 0x1.09fe1ap-4,  -0x1.269accp-4, 0x1.6300ep-4,
                               -0x1.bcc156p-4, 0x1.287c6ap-3, -0x1.bcb7aap-3, -0x1.6fcf9p-26};
  auto [e, f] = split<F32>(b, x);
  V r = b.fma(f, b.constant(x, 0x1.bcb7b2p-2), b.mul(f, polynomial(b, f, kLog10)));
  r = b.fma(e, b.constant(x, 0x1.3509f8p-18 * exponent_unit(F32{})), r);
  return with_pole(b, b.fma(e, b.constant(x, 0x1.344p-2 * exponent_unit(F32{})), r), x, 0.0);
}

// ---- f32 only: trigonometric functions -----------------------------------------------------------

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

// The first bits of 1 / (2 pi) in words of 24, ten zeros before the point.
constexpr int64_t kTurn[] = {0x000517, 0xcc1b72, 0x7220a9, 0x4fe13a, 0xbe8fa9, 0xa6ee06, 0xdb14ac, 0xc9e21c, 0x820ff2};

// N = 2: |x| as q pi/2 + r, {q as bits, r}, with |r| <= pi/4 and a little; of q the low two bits count.
// N = 3: as q pi/2 + r + low, {q as bits, r, low}.
template <class V, size_t N>
using Reduced = std::array<V, N>;

// For a >= 2^12. With a = M 2^(e-23) and words v0, v1, ... that begin at bit e - 22 of 1 / (2 pi), the turn's fraction
// is (lo(M v0) + hi(M v1)) 2^-24 + (lo(M v1) + hi(M v2)) 2^-48 + ..., lo and hi being the halves of 48-bit products; lo
// is integer arithmetic, and hi an exact fma. Whole turns have dropped out.
template <size_t N, class B, class V>
Reduced<V, N> reduce_large_f32(B& b, V a) {
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

template <size_t N, class B, class V>
Reduced<V, N> reduce_f32(B& b, V x) {
  constexpr double kLow = 0x1.777a5cp-25, kLowest = 0x1.ee59dap-50;
  V a = b.abs(x);
  auto n = round<F32>(b, a, 0x1.45f306p-1, 0);
  V high = b.fma(n.integer, b.constant(a, -0x1.921fb6p0), a);  // exact
  V r = b.fma(n.integer, b.constant(a, kLow), high);
  auto large = b.le(b.constant(a, N == 2 ? 0x1p17 : 0x1p12), a);
  auto slow = [&] { return reduce_large_f32<N>(b, a); };
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
template <class B, class V, class I>
V sine_f32(B& b, V r, I q, I sign) {
  constexpr double kSin[] = {-0x1.992784p-13, 0x1.1106dcp-7, -0x1.555544p-3};
  constexpr double kCos[] = {0x1.99e526p-16, -0x1.6c0c22p-10, 0x1.55554ap-5, -0.5, 1.0};
  V s = b.mul(r, r);
  V sine = b.fma(b.mul(r, s), polynomial(b, s, kSin), r);
  V value = b.where(b.eq(b.bit_and(q, b.iconstant(q, 1)), b.iconstant(q, 0)), sine, polynomial(b, s, kCos));
  auto flip = b.bit_and(b.bit_xor(sign, b.shl(q, b.iconstant(q, 30))), b.iconstant(q, F32::kSign));
  return b.bitcast_float(b.bit_xor(b.bitcast_int(value), flip));
}

template <class B, class V>
V sin_f32(B& b, V x) {
  auto [q, r] = reduce_f32<2>(b, x);
  return sine_f32(b, r, b.bitcast_int(q), b.bitcast_int(x));
}

template <class B, class V>
V cos_f32(B& b, V x) {
  auto [q, r] = reduce_f32<2>(b, x);
  auto bits = b.bitcast_int(q);
  return sine_f32(b, r, b.add(bits, b.iconstant(bits, 1)), b.iconstant(bits, 0));
}

// tan(r) for even q and -1 / tan(r) for odd q.
template <class B, class V>
V tan_f32(B& b, V x) {
  constexpr double kTan[] = {0x1.229198p-8, -0x1.d7bf2cp-16, 0x1.6629a6p-7, 0x1.5c12aap-6,
                             0x1.baebd6p-5, 0x1.110d2cp-3,   0x1.555562p-2};
  auto [q, r, low] = reduce_f32<3>(b, x);
  V s = b.mul(r, r);
  V t = b.add(r, b.fma(b.mul(r, s), polynomial(b, s, kTan), b.fma(low, s, low)));
  auto bits = b.bitcast_int(q);
  auto even = b.eq(b.bit_and(bits, b.iconstant(bits, 1)), b.iconstant(bits, 0));
  V value = b.where(even, t, b.div(b.constant(x, -1.0), t));
  auto sign = b.bit_and(b.bitcast_int(x), b.iconstant(bits, F32::kSign));
  return b.bitcast_float(b.bit_xor(b.bitcast_int(value), sign));
}

// ---- f32 only: inverse trigonometric functions ---------------------------------------------------

constexpr double kHalfPi = 0x1.921fb6p0, kHalfPiLow = -0x1.777a5cp-25;

// p negated where `minus`, plus `turns` * pi/2; `turns` is a small integer.
template <class B, class V, class C>
V plus_quarter_turns(B& b, V p, C minus, V turns) {
  V signed_p = b.where(minus, b.neg(p), p);
  V low = b.fma(turns, b.constant(p, kHalfPiLow), signed_p);
  return b.fma(turns, b.constant(p, kHalfPi), low);
}

// asin of a <= 0.6 or, where a is larger, half of acos(a), which is asin(sqrt((1 - a) / 2)).
template <class B, class V, class C>
V asin_or_half_acos_f32(B& b, V a, C large) {
  constexpr double kAsin[] = {0x1.cca80ep-5, -0x1.5a95a2p-10, 0x1.2d22a8p-5,
                              0x1.66e464p-5, 0x1.336692p-4,   0x1.5554d6p-3};
  V s = b.where(large, b.fma(a, b.constant(a, -0.5), b.constant(a, 0.5)), b.mul(a, a));
  V z = b.where(large, b.sqrt(s), a);
  return b.fma(b.mul(z, s), polynomial(b, s, kAsin), z);
}

template <class B, class V>
V asin_f32(B& b, V x) {
  V a = b.abs(x);
  auto large = b.lt(b.constant(x, 0.6), a);
  V p = asin_or_half_acos_f32(b, a, large);
  V rest = b.fma(p, b.constant(x, -2.0), b.constant(x, kHalfPiLow));
  return with_sign_of<F32>(b, b.where(large, b.add(rest, b.constant(x, kHalfPi)), p), x);
}

template <class B, class V>
V acos_f32(B& b, V x) {
  V a = b.abs(x), zero = b.constant(x, 0.0);
  auto large = b.lt(b.constant(x, 0.6), a);
  auto negative = b.lt(x, zero);
  V p = asin_or_half_acos_f32(b, a, large);
  V turns = b.where(large, b.where(negative, b.constant(x, 2.0), zero), b.constant(x, 1.0));
  auto minus = b.logical_or(b.logical_and(large, negative), b.logical_not(b.logical_or(large, negative)));
  return plus_quarter_turns(b, b.where(large, b.add(p, p), p), minus, turns);
}

// atan on [0, 1].
template <class B, class V>
V atan_small_f32(B& b, V z) {
  constexpr double kAtan[] = {-0x1.d5a1aap-10, 0x1.6551e2p-7,  -0x1.fe7d24p-6, 0x1.da9c2ep-5, -0x1.5825f2p-4,
                              0x1.c0946cp-4,   -0x1.24211ap-3, 0x1.9991ecp-3,  -0x1.55553ep-2};
  V s = b.mul(z, z);
  return b.fma(b.mul(z, s), polynomial(b, s, kAtan), z);
}

template <class B, class V>
V atan_f32(B& b, V x) {
  V a = b.abs(x), one = b.constant(x, 1.0);
  auto large = b.lt(one, a);
  V p = atan_small_f32(b, b.where(large, b.div(one, a), a));
  V rest = b.sub(b.constant(x, kHalfPiLow), p);
  return with_sign_of<F32>(b, b.where(large, b.add(rest, b.constant(x, kHalfPi)), p), x);
}

template <class B, class V>
V atan2_f32(B& b, V y, V x) {
  V ax = b.abs(x), ay = b.abs(y), zero = b.constant(x, 0.0), one = b.constant(x, 1.0);
  auto steep = b.lt(ax, ay);
  V n = b.where(steep, ax, ay), d = b.where(steep, ay, ax);
  V t = b.where(b.eq(n, d), b.where(b.eq(n, zero), zero, one), b.div(n, d));  // both 0 or both inf included
  V p = atan_small_f32(b, t);
  auto bits = b.bitcast_int(x);
  auto backward = b.lt(bits, b.iconstant(bits, 0));
  V turns = b.where(steep, one, b.where(backward, b.constant(x, 2.0), zero));
  return with_sign_of<F32>(b, plus_quarter_turns(b, p, b.ne(steep, backward), turns), y);
}

// ---- f32 only: hyperbolic functions and their inverses -------------------------------------------

// With |x| = n ln 2 + r: quarters of 2^n - 2^-n and 2^n + 2^-n, cosh(r) - 1 and sinh(r). Quarters, so that nothing
// overflows before the result does.
template <class V>
struct Hyperbolic {
  V difference, sum, c, s;
};

template <class B, class V>
Hyperbolic<V> hyperbolic_f32(B& b, V x) {
  constexpr double kSinh[] = {0x1.a28f4p-13, 0x1.110fe2p-7, 0x1.555556p-3};
  constexpr double kCosh[] = {0x1.6d515p-10, 0x1.5554e4p-5, 0x1p-1};
  V y = at_most(b, b.abs(x), 89.5);
  auto n = round<F32>(b, y, F32::kLog2E, F32::kBias - 2);
  V r = b.fma(n.integer, b.constant(x, -F32::kLn2High), y);
  r = b.fma(n.integer, b.constant(x, -F32::kLn2Low), r);
  V s = b.mul(r, r);
  V up = as_exponent<F32>(b, n.biased);
  auto bits = b.bitcast_int(up);  // of 2^-n times 4: zero at the largest n
  V down = b.bitcast_float(b.sub(b.iconstant(bits, 254 << F32::kMantissa), bits));
  V c = b.mul(s, polynomial(b, s, kCosh));
  return {b.fma(down, b.constant(x, -0x1p-4), up), b.fma(down, b.constant(x, 0x1p-4), up), c,
          b.fma(b.mul(r, s), polynomial(b, s, kSinh), r)};
}

// (2^n - 2^-n) / 2 cosh(r) + (2^n + 2^-n) / 2 sinh(r), halved.
template <class B, class V>
V sinh_f32(B& b, V x) {
  auto h = hyperbolic_f32(b, x);
  V half = b.add(h.difference, b.fma(h.difference, h.c, b.mul(h.sum, h.s)));
  V a = b.abs(x);
  return with_sign_of<F32>(b, b.where(b.lt(a, b.constant(x, 0x1p-12)), a, b.add(half, half)), x);
}

template <class B, class V>
V cosh_f32(B& b, V x) {
  auto h = hyperbolic_f32(b, x);
  V half = b.add(h.sum, b.fma(h.sum, h.c, b.mul(h.difference, h.s)));
  return b.add(half, half);
}

// root (1 + d P(d)), where 1 + d P(d) is acosh(1 + d) / sqrt(d (2 + d)) for d <= 2.2: smooth, and the same for asinh.
template <class B, class V>
V arc_f32(B& b, V root, V d) {
  constexpr double kArc[] = {0x1.fe5008p-19, -0x1.c2cb98p-15, 0x1.701bf6p-12, -0x1.7a3494p-10, 0x1.1dabcep-8,
                             -0x1.65f32ap-7, 0x1.9be2a6p-6,   -0x1.d39882p-5, 0x1.110ceep-3,   -0x1.55553ep-2};
  return b.fma(root, b.mul(d, polynomial(b, d, kArc)), root);
}

// log(x) + more * ln 2 for x >= 1/2, inf and NaN.
template <class B, class V>
V log_normal_f32(B& b, V x, int more) {
  auto k = exponent_bits<F32>(b, x);
  V g = b.fma(x, four_over<F32>(b, k), b.constant(x, -4.0));
  V e = exponent_value(b, F32{}, k, b.iconstant(k, (F32::kBias - more) << F32::kMantissa));
  return log_of<F32>(b, Split<V>{e, b.mul(g, b.constant(x, 0.25))});
}

// The logarithm of a + sqrt(a^2 +- 1), with half of it inside to stay in range. `root` may overflow to inf.
template <class B, class V>
V log_sum_f32(B& b, V a, V root) {
  V half = b.constant(a, 0.5);
  V s = b.where(b.lt(a, b.constant(a, 0x1p30)), root, a);
  return log_normal_f32(b, b.fma(a, half, b.mul(s, half)), 1);
}

template <class B, class V>
V asinh_f32(B& b, V x) {
  V a = b.abs(x), one = b.constant(x, 1.0);
  V root = b.sqrt(b.fma(x, x, one));
  V small = arc_f32(b, a, b.sub(root, one));
  return with_sign_of<F32>(b, b.where(b.lt(a, b.constant(x, 2.0)), small, log_sum_f32(b, a, root)), x);
}

template <class B, class V>
V acosh_f32(B& b, V x) {
  V one = b.constant(x, 1.0);
  V d = b.sub(x, one);
  V root = b.sqrt(b.fma(d, x, d));
  V small = arc_f32(b, root, d);
  V r = b.where(b.lt(x, b.constant(x, 2.0)), small, log_sum_f32(b, x, root));
  return b.where(b.lt(x, one), b.constant(x, std::numeric_limits<double>::quiet_NaN()), r);
}

// An odd polynomial up to 1/2, else half the logarithm of (1 + a) / (1 - a).
template <class B, class V>
V atanh_f32(B& b, V x) {
  constexpr double kAtanh[] = {0x1.6b7b26p-3, 0x1.a03afep-5, 0x1.e4e196p-4,
                               0x1.233f7ap-3, 0x1.99a742p-3, 0x1.55553ep-2};
  V a = b.abs(x), one = b.constant(x, 1.0);
  V s = b.mul(x, x);
  V small = b.fma(b.mul(a, s), polynomial(b, s, kAtanh), a);
  V ratio = b.div(b.add(one, a), b.sub(one, a));
  V large = b.mul(log_normal_f32(b, ratio, 0), b.constant(x, 0.5));
  V r = b.where(b.lt(a, b.constant(x, 0.5)), small, large);
  r = b.where(b.lt(one, a), b.constant(x, std::numeric_limits<double>::quiet_NaN()), r);
  return with_sign_of<F32>(b, r, x);
}

// ---- f32 only: cube root -------------------------------------------------------------------------

// a^(-1/3) guessed from the bits of a, improved once by a cubic series; then one Newton step on the root itself.
template <class B, class V>
V cbrt_f32(B& b, V x) {
  constexpr double kSeries[] = {0x1.6665fcp-3, 0x1.ca17b4p-3, 0x1.555352p-2};
  V one = b.constant(x, 1.0);
  auto tiny = b.lt(b.abs(x), b.constant(x, 0x1p-100));
  V a = b.mul(b.abs(x), b.where(tiny, b.constant(x, 0x1p48), one));
  V guess = b.fma(b.to_float(b.bitcast_int(a)), b.constant(x, -1.0 / 3.0), b.constant(x, 0x1.5287acp30));
  V y = b.bitcast_float(b.to_int(guess));
  V r = b.fma(b.mul(a, b.neg(y)), b.mul(y, y), one);
  y = b.fma(b.mul(y, r), polynomial(b, r, kSeries), y);
  V w = b.mul(y, y);
  V c = b.mul(a, w);
  V residual = b.fma(b.mul(c, c), b.neg(c), a);
  c = b.fma(residual, b.mul(w, b.constant(x, 0x1.555556p-2)), c);
  c = b.mul(c, b.where(tiny, b.constant(x, 0x1p-16), one));
  V infinity = b.constant(x, std::numeric_limits<double>::infinity());
  return with_sign_of<F32>(b, b.where(b.lt(a, infinity), c, b.abs(x)), x);
}

// ---- f32 only: complementary error function ------------------------------------------------------

// For a = |x|: 1 - erf(a) where that keeps its digits, else e^(-a^2) t R(t) with t = 1 / (a + 1). What t, a + 1 and a^2
// lost by rounding corrects the exponential. 2 - that for negative x.
template <class B, class V>
V erfc_f32(B& b, V x) {
  constexpr double kErf[] = {0x1.5a41aep-14, -0x1.a9750ep-11, 0x1.54b082p-8, -0x1.b80bfep-6,
                             0x1.ce2de6p-4,  -0x1.812742p-2,  0x1.06eba8p-3};
  constexpr double kErfcx[] = {-0x1.75af92p1,  0x1.397334p3,  -0x1.b159fp3,  0x1.254a8ep3, -0x1.279feep1,
                               -0x1.368dd2p-2, -0x1.528b3p-2, 0x1.24a16ep-2, 0x1.20c8bp-1};
  V a = b.abs(x), one = b.constant(x, 1.0), two = b.constant(x, 2.0);
  V small = b.fma(b.neg(a), polynomial(b, b.mul(a, a), kErf), b.sub(one, a));

  V y = at_most(b, a, 10.5);
  V d = b.add(y, one);
  V lost = b.sub(y, b.sub(d, one));
  V t = b.div(one, d);
  V residual = b.fma(b.neg(lost), t, b.fma(b.neg(d), t, one));
  V p = polynomial(b, t, kErfcx), c = b.constant(x, 0x1.20ddd8p-1);
  V factor = b.fma(t, p, c);
  V factor_low = b.fma(t, p, b.sub(c, factor));
  V m = b.mul(t, factor);

  V z = b.mul(b.neg(y), y);
  V z_low = b.add(b.fma(b.neg(y), y, b.neg(z)), residual);
  auto n = round<F32>(b, z, F32::kLog2E, F32::kBias + 64);  // never positive: 2^(n + 64) and 2^-64 are normal numbers
  V high = b.fma(n.integer, b.constant(x, -F32::kLn2High), z);  // exact
  V low = b.fma(n.integer, b.constant(x, -F32::kLn2Low), z_low);
  V r = b.add(high, low);
  V u = b.add(high, b.fma(b.mul(r, r), polynomial(b, r, F32::kExpm1), low));
  V large = b.fma(t, factor, b.fma(t, factor_low, b.mul(u, m)));
  large = b.mul(b.mul(large, as_exponent<F32>(b, n.biased)), b.constant(x, 0x1p-64));
  V value = b.where(b.lt(a, b.constant(x, 0.875)), small, large);
  return b.where(b.lt(x, b.constant(x, 0.0)), b.sub(two, value), value);
}

// ---- f32 only: power -----------------------------------------------------------------------------

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

// log2 of |x|, positive and finite, to 2^-34 of its value: with s = f / (2 + f), 2 / ln 2 * (s + s^3 / 3 + s^5 / 5
// ...).
template <class B, class V>
Pair<V> precise_log2_f32(B& b, V a) {
  constexpr double kTail[] = {0x1.dfa3b4p-4, 0x1.245278p-3, 0x1.999ap-3};
  auto c = [&](double value) { return b.constant(a, value); };
  auto [e, f] = split<F32>(b, a);
  V d = b.add(f, c(2.0));
  V lost = b.sub(f, b.sub(d, c(2.0)));
  V inverse = b.div(c(1.0), d);
  V s = b.mul(f, inverse);
  V residual = b.fma(b.neg(s), lost, b.fma(b.neg(s), d, f));
  V s_low = b.mul(residual, inverse);

  auto v = exact_product(b, s, s);
  v.low = b.fma(b.mul(s, c(2.0)), s_low, v.low);
  auto t = exact_product(b, v.high, c(0x1.555556p-2));  // s^2 / 3 + s^4 (1/5 + ...)
  V t_low = b.fma(v.low, c(0x1.555556p-2), b.fma(v.high, c(-0x1.555556p-27), t.low));
  t_low = b.fma(b.mul(v.high, v.high), polynomial(b, v.high, kTail), t_low);

  V sum = b.fma(s, t.high, s);  // what a sum of products loses by rounding is again a sum of products
  V sum_low = b.fma(s, t.high, b.fma(sum, c(-1.0), s));
  sum_low = b.fma(residual, inverse, b.fma(s, t_low, b.fma(s_low, t.high, sum_low)));
  V unit = c(exponent_unit(F32{}));
  V high = b.fma(sum, c(0x1.715476p1), b.mul(e, unit));
  V low = b.fma(sum, c(0x1.715476p1), b.fma(e, unit, b.neg(high)));
  return {high, b.fma(sum_low, c(0x1.715476p1), b.fma(sum, c(0x1.4ae0cp-25), low))};
}

// |x|^y = 2^(y log2 |x|), then the sign and the special cases of IEEE 754's pow. An infinite y acts as the largest
// number.
template <class B, class V>
V pow_f32(B& b, V x, V y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto c = [&](double value) { return b.constant(x, value); };
  V a = b.abs(x), zero = c(0.0), one = c(1.0), infinity = c(kInfinity);
  auto l = precise_log2_f32(b, a);
  l.high = b.where(b.eq(a, zero), c(-kInfinity), b.where(b.lt(a, infinity), l.high, a));

  V exponent = at_least(b, at_most(b, y, 0x1.fffffep127), -0x1.fffffep127);
  V z = b.mul(exponent, l.high);
  V z_low = b.fma(exponent, l.low, b.fma(exponent, l.high, b.neg(z)));
  z_low = b.where(b.lt(b.abs(z), c(256.0)), z_low, zero);
  z = at_least(b, at_most(b, z, 129.0), -152.0);
  V magic = c(rounder<F32>(2 * F32::kBias));
  V n = b.add(z, magic);
  V value = polynomial(b, b.add(b.sub(z, b.sub(n, magic)), z_low), F32::kExp2Half);
  auto bits = b.bitcast_int(n);  // 2^n in two steps, each a normal number
  auto half_bits = b.shr(bits, b.iconstant(bits, 1));
  V first = as_exponent<F32>(b, b.bitcast_float(half_bits));
  value = b.mul(b.mul(value, first), as_exponent<F32>(b, b.bitcast_float(b.sub(bits, half_bits))));
  value = b.where(b.logical_or(b.eq(y, zero), b.eq(x, one)), one, value);

  V half = b.mul(y, c(0.5));
  auto integer = b.eq(b.round_even(y), y);
  auto odd = b.logical_and(integer, b.ne(b.round_even(half), half));
  auto invalid = b.logical_and(b.logical_and(b.lt(x, zero), b.lt(a, infinity)), b.logical_not(integer));
  value = b.where(invalid, c(std::numeric_limits<double>::quiet_NaN()), value);
  return b.where(odd, with_sign_of<F32>(b, value, x), value);
}

}  // namespace detail

// ---- the functions -------------------------------------------------------------------------------

template <class B, class V>
V exp_f32(B& b, V x) { return detail::exp<detail::F32>(b, x); }
template <class B, class V>
V exp_f64(B& b, V x) { return detail::exp<detail::F64>(b, x); }

template <class B, class V>
V exp2_f32(B& b, V x) { return detail::exp2<detail::F32>(b, x); }
template <class B, class V>
V exp2_f64(B& b, V x) { return detail::exp2<detail::F64>(b, x); }

template <class B, class V>
V expm1_f32(B& b, V x) { return detail::expm1<detail::F32>(b, x); }
template <class B, class V>
V expm1_f64(B& b, V x) { return detail::expm1<detail::F64>(b, x); }

template <class B, class V>
V log_f32(B& b, V x) { return detail::log<detail::F32>(b, x); }
template <class B, class V>
V log_f64(B& b, V x) { return detail::log<detail::F64>(b, x); }

template <class B, class V>
V log2_f32(B& b, V x) { return detail::log2<detail::F32>(b, x); }
template <class B, class V>
V log2_f64(B& b, V x) { return detail::log2<detail::F64>(b, x); }

template <class B, class V>
V log1p_f32(B& b, V x) { return detail::log1p<detail::F32>(b, x); }
template <class B, class V>
V log1p_f64(B& b, V x) { return detail::log1p<detail::F64>(b, x); }

template <class B, class V>
V sigmoid_f32(B& b, V x) { return detail::sigmoid<detail::F32>(b, x); }
template <class B, class V>
V sigmoid_f64(B& b, V x) { return detail::sigmoid<detail::F64>(b, x); }

template <class B, class V>
V tanh_f32(B& b, V x) { return detail::tanh<detail::F32>(b, x); }
template <class B, class V>
V tanh_f64(B& b, V x) { return detail::tanh<detail::F64>(b, x); }

template <class B, class V>
V erf_f32(B& b, V x) { return detail::erf<detail::F32>(b, x); }
template <class B, class V>
V erf_f64(B& b, V x) { return detail::erf<detail::F64>(b, x); }

template <class B, class V>
V log10_f32(B& b, V x) { return detail::log10_f32(b, x); }

template <class B, class V>
V sin_f32(B& b, V x) { return detail::sin_f32(b, x); }

template <class B, class V>
V cos_f32(B& b, V x) { return detail::cos_f32(b, x); }

template <class B, class V>
V tan_f32(B& b, V x) { return detail::tan_f32(b, x); }

template <class B, class V>
V asin_f32(B& b, V x) { return detail::asin_f32(b, x); }

template <class B, class V>
V acos_f32(B& b, V x) { return detail::acos_f32(b, x); }

template <class B, class V>
V atan_f32(B& b, V x) { return detail::atan_f32(b, x); }

template <class B, class V>
V sinh_f32(B& b, V x) { return detail::sinh_f32(b, x); }

template <class B, class V>
V cosh_f32(B& b, V x) { return detail::cosh_f32(b, x); }

template <class B, class V>
V asinh_f32(B& b, V x) { return detail::asinh_f32(b, x); }

template <class B, class V>
V acosh_f32(B& b, V x) { return detail::acosh_f32(b, x); }

template <class B, class V>
V atanh_f32(B& b, V x) { return detail::atanh_f32(b, x); }

template <class B, class V>
V cbrt_f32(B& b, V x) { return detail::cbrt_f32(b, x); }

template <class B, class V>
V erfc_f32(B& b, V x) { return detail::erfc_f32(b, x); }

template <class B, class V>
V atan2_f32(B& b, V y, V x) { return detail::atan2_f32(b, y, x); }

template <class B, class V>
V pow_f32(B& b, V x, V y) { return detail::pow_f32(b, x, y); }

}  // namespace strider::maths
