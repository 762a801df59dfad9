// SPDX-License-Identifier: Apache-2.0
// How floats lie in their bits: sign, exponent, fraction, as IEEE 754's binary formats.
#pragma once

#include <cstdint>

#include <strider/dtype.h>

namespace strider {

struct FloatFormat {
  int fraction, exponent;  // bits

  constexpr int precision() const { return fraction + 1; }  // bits of the significand, the hidden one included
  constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
  constexpr int least_exponent() const { return 1 - bias(); }  // of a normal number, 2^e
  constexpr int sign_shift() const { return fraction + exponent; }
  constexpr uint64_t infinity() const { return ((uint64_t{1} << exponent) - 1) << fraction; }
  constexpr uint64_t fraction_mask() const { return (uint64_t{1} << fraction) - 1; }
  constexpr uint64_t quiet() const { return uint64_t{1} << (fraction - 1); }
  constexpr uint64_t least_normal() const { return uint64_t{1} << fraction; }
};

/// Of a float dtype; others have none.
constexpr FloatFormat format_of(DType t) {
  switch (t) {
    case DType::F16: return {10, 5};
    case DType::BF16: return {7, 8};
    case DType::F32: return {23, 8};
    case DType::F64: return {52, 11};
    default: return {0, 0};
  }
}

}  // namespace strider
