// SPDX-License-Identifier: Apache-2.0
// Inputs that always hold the values at which code goes wrong: extremes, zeros of both signs, NaN, infinities, subnormals, and
// numbers near the end of the significand.
//
//   for (const st::testing::SpecialValue& v : st::testing::special_values(st::i32)) ...   // "min", 0x80000000
//   st::Tensor x = st::testing::random_with_special({1000, 37}, {st::f16}, 7);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <strider/export.h>
#include <strider/tensor.h>

namespace strider {
inline namespace v0 {
namespace testing {

struct SpecialValue {
  std::string name;  // "max", "-0", "smallest normal", "2^24 - 1"
  uint64_t bits;     // the bytes of the element, zero-extended
};

/// The special values of a dtype, each once, the most important ones first: false and true; of integers max, min and their
/// neighbours, 0, 1, -1 and numbers around powers of two; of floats the greatest and the least finite ones, both zeros, NaN,
/// both infinities, the least and the greatest subnormals, the least normal, 1, -1, halves, and integers about 2^p, p being the
/// bits of the significand, where one more is no other number.
STRIDER_API std::vector<SpecialValue> special_values(DType dtype);

/// All of them as a tensor with one axis.
STRIDER_API Tensor special_tensor(const TensorOptions& options = {});

struct SpecialOptions {
  double share = 1.0 / 16;   // of the elements that are special, in [0, 1]
  bool finite = false;       // without NaN and infinities
};

/// Random elements, special ones among them: as many as `options.share` says at random places, and, if the tensor has as many
/// elements, every special value at least once. The others are integers from -100 to 100 (0 to 200 of unsigned ones), or of
/// floats magnitudes from 2^-8 to 2^8 in both signs. The same for the same seed, on every device.
STRIDER_API Tensor random_with_special(const Dims& shape, const TensorOptions& options = {}, uint64_t seed = 0,
                                       const SpecialOptions& special = {});

}  // namespace testing
}  // namespace v0
}  // namespace strider
