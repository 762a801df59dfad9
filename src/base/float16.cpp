// SPDX-License-Identifier: Apache-2.0
#include "base/float16.h"

#include <algorithm>
#include <bit>

#include <strider/dtype.h>

#include "base/float_format.h"

namespace strider {
namespace {

using Format = FloatFormat;
constexpr Format kHalf = format_of(DType::F16), kBFloat16 = format_of(DType::BF16);
constexpr Format kFloat = format_of(DType::F32), kDouble = format_of(DType::F64);

/// x / 2^shift, rounded to nearest even.
uint64_t shift_rounded(uint64_t x, int shift) {
  if (shift <= 0) return x << -shift;
  if (shift > 64) return 0;
  uint64_t half = uint64_t{1} << (shift - 1);
  uint64_t kept = shift < 64 ? x >> shift : 0;
  uint64_t rest = x & (half | (half - 1));
  return kept + (rest > half || (rest == half && (kept & 1)));
}

/// The magnitude significand * 2^exponent in format `to`. A carry out of the fraction moves into the exponent by itself.
uint64_t round_to(Format to, uint64_t significand, int exponent) {
  if (significand == 0) return 0;
  int top = std::max(63 - std::countl_zero(significand) + exponent, 1 - to.bias());
  uint64_t kept = shift_rounded(significand, top - to.fraction - exponent);
  uint64_t bits = (static_cast<uint64_t>(top + to.bias() - 1) << to.fraction) + kept;
  return std::min(bits, to.infinity());
}

uint16_t narrow(Format from, Format to, uint64_t bits) {
  uint64_t sign = (bits >> from.sign_shift() & 1) << to.sign_shift();
  uint64_t fraction = bits & from.fraction_mask();
  int exponent = static_cast<int>(bits >> from.fraction & ((1u << from.exponent) - 1));
  if ((bits & from.infinity()) == from.infinity()) {
    uint64_t payload = fraction ? fraction >> (from.fraction - to.fraction) | to.quiet() : 0;
    return static_cast<uint16_t>(sign | to.infinity() | payload);
  }
  uint64_t hidden = exponent ? uint64_t{1} << from.fraction : 0;
  uint64_t magnitude = round_to(to, fraction | hidden, std::max(exponent, 1) - from.bias() - from.fraction);
  return static_cast<uint16_t>(sign | magnitude);
}

uint16_t narrow(Format to, float value) { return narrow(kFloat, to, std::bit_cast<uint32_t>(value)); }
uint16_t narrow(Format to, double value) { return narrow(kDouble, to, std::bit_cast<uint64_t>(value)); }
uint16_t narrow(Format to, uint64_t value) { return static_cast<uint16_t>(round_to(to, value, 0)); }
uint16_t narrow(Format to, int64_t value) {
  if (value >= 0) return narrow(to, static_cast<uint64_t>(value));
  return static_cast<uint16_t>(narrow(to, 0 - static_cast<uint64_t>(value)) | 1u << to.sign_shift());
}

}  // namespace

float float_of_half(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t magnitude = bits & 0x7fffu;
  if (magnitude == 0) return std::bit_cast<float>(sign);
  if (magnitude >= kHalf.infinity()) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
  int shift = std::max(std::countl_zero(magnitude) - 21, 0);  // of a subnormal: until its leading bit is the hidden one
  return std::bit_cast<float>(sign | ((static_cast<uint32_t>(112 - shift) << 23) + (magnitude << (13 + shift))));
}

float float_of_bfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t half_of(float value) { return narrow(kHalf, value); }
uint16_t half_of(double value) { return narrow(kHalf, value); }
uint16_t half_of(int64_t value) { return narrow(kHalf, value); }
uint16_t half_of(uint64_t value) { return narrow(kHalf, value); }

uint16_t bfloat16_of(float value) { return narrow(kBFloat16, value); }
uint16_t bfloat16_of(double value) { return narrow(kBFloat16, value); }
uint16_t bfloat16_of(int64_t value) { return narrow(kBFloat16, value); }
uint16_t bfloat16_of(uint64_t value) { return narrow(kBFloat16, value); }

inline namespace v0 {

Half Half::from(float value) { return {half_of(value)}; }
float Half::to_float() const { return float_of_half(bits); }
BFloat16 BFloat16::from(float value) { return {bfloat16_of(value)}; }
float BFloat16::to_float() const { return float_of_bfloat16(bits); }

}  // namespace v0
}  // namespace strider
