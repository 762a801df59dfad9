// SPDX-License-Identifier: Apache-2.0
// Elementary functions as expansions in basic operations: the CPU, the GPU and the interpreters compute the same bits.
//
// Each function is a template over a builder `b` with value handles V (any copyable handle; floats, integers and booleans
// may have handles of different types):
//
//   constant(like, double)  iconstant(like, int64)  add sub mul div fma neg abs sqrt  minimum maximum (carrying NaN)
//   round_even floor  lt le gt ge eq ne  where  logical_and logical_or logical_not  bit_and bit_or bit_xor shl shr
//   to_int to_float (of the same width)  bitcast_int bitcast_float
//
// where() evaluates both sides. Nothing here branches, looks up a table or traps. NaN, infinities, signed zeros and
// subnormals are right everywhere. Each multiply-add that must have one rounding is written fma; no plain add or sub has
// a product as its operand, so contracting them cannot change anything inside an expansion.
#pragma once

#include <array>
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
  static constexpr double kLn2High = 0x1.62e4p-1;    // its product with any exponent is exact
  static constexpr double kLn2Low = 0x1.7f7d1cp-20;
  static constexpr double kLn2 = 0x1.62e43p-1;
  static constexpr double kLog2E = 0x1.715476p0;
  static constexpr double kExpMin = -104, kExpMax = 89, kExp2Min = -151, kExp2Max = 129, kExpm1Min = -20;
  static constexpr double kTanhMax = 9.1, kErfMax = 4;  // the result is 1 from there on
  static constexpr double kEpsilon = 0x1p-24;
  static constexpr int kShift = 32;  // a power of two that keeps scaled values in range
  static constexpr double kExp[] = {0x1.a696fp-13, 0x1.721044p-10, 0x1.1107cap-7, 0x1.55483ep-5, 0x1.555568p-3,
                                    0x1.00001p-1};
  static constexpr double kExp2[] = {0x1.03894cp-16, 0x1.485f44p-13, 0x1.5d7e96p-10, 0x1.3b1e68p-7, 0x1.c6b09ap-5,
                                     0x1.ebfcp-3, 0x1.62e43p-1, 1.0};
  static constexpr double kExpm1[] = {0x1.6a604ap-10, 0x1.123ac8p-7, 0x1.5558ap-5, 0x1.55549p-3, 0x1.fffffcp-2};
  static constexpr double kLog[] = {0x1.661df8p-4, -0x1.252f5ap-3, 0x1.31881ep-3, -0x1.535774p-3, 0x1.98d202p-3,
                                    -0x1.0004b8p-2, 0x1.5556f6p-2, -0x1.fffffap-2};
  static constexpr double kLog2[] = {0x1.02201cp-3, -0x1.a8d262p-3, 0x1.b9c7b8p-3, -0x1.e94f5p-3, 0x1.26d306p-2,
                                     -0x1.715c98p-2, 0x1.ec73dcp-2, -0x1.71547p-1, -0x1.3b28p-26};
  static constexpr double kTanh[] = {-0x1.7d7f24p-8, 0x1.53c03cp-6, -0x1.b87712p-5, 0x1.1108cap-3, -0x1.55553ap-2};
  static constexpr double kErf[] = {-0x1.4309dap-11, 0x1.4942c8p-8, -0x1.b6dc18p-6, 0x1.ce1f5ep-4, -0x1.8126fep-2,
                                    0x1.06eba6p-3};
  static constexpr double kErfc[] = {0x1.2f3a76p-12, -0x1.23e3f6p-8, 0x1.08c04p-5, -0x1.342494p-3, -0x1.d65c38p-1,
                                     -0x1.a092b2p0, -0x1.a193f4p-13};
  static constexpr double kErfExp2[] = {0x1.5bffbap-10, 0x1.3ceca6p-7, 0x1.c6b69ap-5, 0x1.ebf9b6p-3, 0x1.62e42ap-1,
                                        1.0};
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
                                    0x1.5555555557008p-5, 0x1.555555555554bp-3, 0x1.fffffffffffebp-2};
  static constexpr double kExp2[] = {0x1.83f5ca32ccdfp-40, 0x1.c7e196db044fdp-36, 0x1.e8c8670d64ea2p-32,
                                     0x1.e4c9b58465b74p-28, 0x1.b5253d6d69032p-24, 0x1.62c025f68fb42p-20,
                                     0x1.ffcbfc5a58fe7p-17, 0x1.430912f5e8653p-13, 0x1.5d87fe78a458ep-10,
                                     0x1.3b2ab6fba676cp-7, 0x1.c6b08d704a0f6p-5, 0x1.ebfbdff82c57ap-3,
                                     0x1.62e42fefa39efp-1, 1.0};
  static constexpr double kExpm1[] = {0x1.ad936192cfc04p-26, 0x1.28ae0ce834cfdp-22, 0x1.71df18bdec10dp-19,
                                      0x1.a019994fd49f6p-16, 0x1.a01a012ffa4e4p-13, 0x1.6c16c1847b80fp-10,
                                      0x1.1111111126b2bp-7, 0x1.55555555506afp-5, 0x1.55555555554fep-3,
                                      0x1.000000000000ap-1};
  static constexpr double kLog[] = {0x1.ac2424e9d378ap-6, -0x1.eba054171a171p-5, 0x1.0b74b2d70067ep-4,
                                    -0x1.d1523094071a6p-5, 0x1.cfa0bd0d5cacbp-5, -0x1.fb6aabb8ea09dp-5,
                                    0x1.11d993709f0f3p-4, -0x1.24dcb4246209bp-4, 0x1.3b0ab2761c9dp-4,
                                    -0x1.55506b2ad591ap-4, 0x1.745d45c95eea3p-4, -0x1.9999c97503c88p-4,
                                    0x1.c71c71d6f1dc2p-4, -0x1.fffffef4059e4p-4, 0x1.2492492240fa7p-3,
                                    -0x1.55555556e6804p-3, 0x1.99999999a19a3p-3, -0x1.fffffffffde97p-3,
                                    0x1.555555555551bp-2, -0x1.0000000000003p-1};
  static constexpr double kLog2[] = {0x1.358a9b934910cp-5, -0x1.63661f5f92934p-4, 0x1.824aca4fa1b84p-4,
                                     -0x1.4f87d0d94f713p-4, 0x1.4e3ff94d17ebcp-4, -0x1.6e0146138337dp-4,
                                     0x1.8b1c6b1e93cd9p-4, -0x1.a6847fcd5dca7p-4, 0x1.c681c736eafefp-4,
                                     -0x1.ec6953e67fcaap-4, 0x1.0c9aa937292c6p-3, -0x1.2776e91112083p-3,
                                     0x1.484b13d49063bp-3, -0x1.71547584e2959p-3, 0x1.a61762a455a37p-3,
                                     -0x1.ec709dc61cd87p-3, 0x1.2776c50f00064p-2, -0x1.71547652b66d7p-2,
                                     0x1.ec709dc3a0392p-2, -0x1.71547652b8304p-1, 0x1.b933069056756p-56};
  static constexpr double kTanh[] = {-0x1.1c75b5638b9e2p-16, 0x1.4ae326c87d11p-14, -0x1.e273540a06281p-13,
                                     0x1.33c5b73a6f3f5p-11, -0x1.7d76d03d1b45ep-10, 0x1.d6d07fa5f18bcp-9,
                                     -0x1.226e20898d624p-7, 0x1.664f47dd8a5f1p-6, -0x1.ba1ba1b7200aep-5,
                                     0x1.111111110d9f2p-3, -0x1.5555555555529p-2};
  static constexpr double kErf[] = {0x1.661b1823fbc46p-27, -0x1.4f27864bf34b4p-23, 0x1.b7d84100eee81p-20,
                                    -0x1.f4a89362eac89p-17, 0x1.f9a102559de5bp-14, -0x1.c02da1e0a6815p-11,
                                    0x1.565bccaed2abep-8, -0x1.b82ce3103dfcap-6, 0x1.ce2f21a03b997p-4,
                                    -0x1.812746b037961p-2, 0x1.06eba8214db68p-3};
  static constexpr double kErfc[] = {0x1.26702d9e83a49p-39, -0x1.992e698611499p-34, 0x1.0a4ee99cb733ap-29,
                                     -0x1.af203c79422b3p-26, 0x1.e574490f712dbp-23, -0x1.92003581f575ep-20,
                                     0x1.f6a4b03fec324p-18, -0x1.daf2aa506121ap-16, 0x1.45f6bf713dfd2p-14,
                                     -0x1.1155b3072c461p-13, -0x1.a81b16df1662fp-17, 0x1.bdc394b885557p-11,
                                     -0x1.435f8b112faaep-9, 0x1.59579e8b8945ep-12, 0x1.c3c96a68a265ep-6,
                                     -0x1.2fa20b473ddcap-3, -0x1.d63f57c3df458p-1, -0x1.a0be76b5abafap0,
                                     -0x1.3a452a7c8575bp-24};
  static constexpr double kErfExp2[] = {0x1.e96f767e95aefp-32, 0x1.e61d80b84d7ap-28, 0x1.b525254792cf9p-24,
                                        0x1.62bfc63b910dep-20, 0x1.ffcbfc6547f79p-17, 0x1.4309130f75cf5p-13,
                                        0x1.5d87fe789ed57p-10, 0x1.3b2ab6fb9fd8bp-7, 0x1.c6b08d704a12bp-5,
                                        0x1.ebfbdff82c5a6p-3, 0x1.62e42fefa39efp-1, 1.0};
};

// 2^n for a small n, exactly.
constexpr double power(int n) { return n < 0 ? 0.5 * power(n + 1) : n > 0 ? 2.0 * power(n - 1) : 1.0; }

// ---- shared pieces -------------------------------------------------------------------------------

template <class B, class V, class Coefficients>
V polynomial(B& b, V x, const Coefficients& coefficients) {
  V sum = b.constant(x, coefficients[0]);
  for (size_t k = 1; k < std::size(coefficients); ++k) sum = b.fma(sum, x, b.constant(x, coefficients[k]));
  return sum;
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
  return 1.5 * power(F::kMantissa) + static_cast<double>(bias);
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

// y - n * step * ln 2. The first product and difference are exact.
template <class F, class B, class V>
V reduce(B& b, V y, V n, double step) {
  V r = b.fma(n, b.constant(y, -step * F::kLn2High), y);
  return b.fma(n, b.constant(y, -step * F::kLn2Low), r);
}

// e^r - 1 for |r| <= ln 2 / 2 or, with the longer polynomial, ln 2.
template <class B, class V, class Coefficients>
V expm1_small(B& b, V r, const Coefficients& coefficients) {
  return b.fma(b.mul(r, r), polynomial(b, r, coefficients), r);
}

// e^x = 4^h e^r. Multiplying by 2^h twice is exact but for the last rounding, so overflow and gradual underflow come out
// right without a case of their own.
template <class F, class B, class V>
V exp(B& b, V x) {
  x = at_least(b, at_most(b, x, F::kExpMax), F::kExpMin);
  auto h = round<F>(b, x, 0.5 * F::kLog2E, F::kBias);
  V u = expm1_small(b, reduce<F>(b, x, h.integer, 2), F::kExp);
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
  V u = expm1_small(b, reduce<F>(b, y, n.integer, 1), F::kExpm1);
  V s = as_exponent<F>(b, n.biased);
  V half = b.fma(s, u, b.sub(s, b.constant(x, 0.5)));
  return b.where(b.lt(b.abs(x), b.constant(x, F::kEpsilon)), x, b.add(half, half));
}

// With E = e^|x| = s + s u: 1 / (1 + E) below zero, else 1 - 1 / (1 + E); E scaled down by 2^kShift to stay in range.
// `tail` is the denominator's rounding error; the quotient is corrected by its residual, which fma makes exact.
template <class F, class B, class V>
V sigmoid(B& b, V x) {
  V one = b.constant(x, 1.0), unit = b.constant(x, power(-F::kShift));
  V y = at_most(b, b.abs(x), -F::kExpMin);
  auto n = round<F>(b, y, F::kLog2E, F::kBias - F::kShift);
  V u = expm1_small(b, reduce<F>(b, y, n.integer, 1), F::kExpm1);
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
  for (size_t k = 0; k < N; ++k) result[k] = c[k] * power(static_cast<int>(N - k) + 1);
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
  V unit = b.where(b.lt(x, b.constant(x, power(-100))), b.constant(x, power(F::kShift)), one);
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
  V r = log_of<F>(b, Split<V>{exponent_value(b, F{}, k, b.iconstant(k, F::kBias << F::kMantissa)), b.mul(g, b.constant(x, 0.25))});
  return with_pole(b, b.where(b.eq(x, b.constant(x, 0.0)), x, r), x, -1.0);
}

// ---- error function ------------------------------------------------------------------------------

// An odd polynomial below 7/8, else 1 - 2^q(|x|) with q a polynomial for log2(erfc).
template <class F, class B, class V>
V erf(B& b, V x) {
  V a = b.abs(x);
  V small = b.fma(a, polynomial(b, b.mul(x, x), F::kErf), a);

  V q = polynomial(b, at_most(b, a, F::kErfMax), F::kErfc);
  V magic = b.constant(x, rounder<F>(F::kBias + 2 * F::kBias + 2));  // the last term sets the sign: -2^n
  V n = b.add(q, magic);
  V p = polynomial(b, b.sub(q, b.sub(n, magic)), F::kErfExp2);
  V large = b.fma(p, as_exponent<F>(b, n), b.constant(x, 1.0));
  return with_sign_of<F>(b, b.where(b.lt(a, b.constant(x, 0.875)), small, large), x);
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

}  // namespace strider::maths
