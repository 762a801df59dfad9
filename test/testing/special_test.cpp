// SPDX-License-Identifier: Apache-2.0
// Special values: that all are there for every dtype, and that generated tensors hold them.
#include <strider/testing/special.h>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ir/semantics.h"
#include "support/errors.h"

#include <strider/strider.h>

namespace strider {
namespace {

using strider::testing::random_with_special;
using strider::testing::special_tensor;
using strider::testing::special_values;
using strider::testing::SpecialValue;

uint64_t bits_of_value(DType dtype, std::string_view name) {
  for (const SpecialValue& v : special_values(dtype))
    if (v.name == name) return v.bits;
  ADD_FAILURE() << name_of(dtype) << " has no " << name;
  return 0;
}

TEST(SpecialValues, OfIntegers) {
  EXPECT_EQ(bits_of_value(i8, "min"), 0x80u);
  EXPECT_EQ(bits_of_value(i16, "max"), 0x7fffu);
  EXPECT_EQ(bits_of_value(i32, "min"), 0x80000000u);
  EXPECT_EQ(bits_of_value(i64, "min"), uint64_t{1} << 63);
  EXPECT_EQ(bits_of_value(i32, "-1"), 0xffffffffu);
  EXPECT_EQ(bits_of_value(u8, "max"), 0xffu);
  EXPECT_EQ(bits_of_value(u64, "max"), UINT64_MAX);
  EXPECT_EQ(bits_of_value(i64, "2^53 + 1"), (uint64_t{1} << 53) + 1);
  EXPECT_EQ(special_values(boolean).size(), 2u);
}

TEST(SpecialValues, OfFloats) {
  EXPECT_EQ(bits_of_value(f32, "max"), 0x7f7fffffu);
  EXPECT_EQ(bits_of_value(f32, "min"), 0xff7fffffu);
  EXPECT_EQ(bits_of_value(f16, "max"), 0x7bffu);
  EXPECT_EQ(bits_of_value(bf16, "inf"), 0x7f80u);
  EXPECT_EQ(bits_of_value(bf16, "-inf"), 0xff80u);
  EXPECT_EQ(bits_of_value(f32, "-0"), 0x80000000u);
  EXPECT_EQ(bits_of_value(f64, "smallest subnormal"), 1u);
  EXPECT_EQ(bits_of_value(f32, "largest subnormal"), 0x007fffffu);
  EXPECT_EQ(bits_of_value(f16, "smallest normal"), 0x0400u);
  EXPECT_EQ(bits_of_value(f32, "1 + epsilon"), 0x3f800001u);
  EXPECT_EQ(ir::double_of_bits(f32, bits_of_value(f32, "2^24 - 1")), 0x1p24 - 1);
  EXPECT_EQ(ir::double_of_bits(f16, bits_of_value(f16, "2^11 + 2")), 2050);
  EXPECT_EQ(ir::double_of_bits(bf16, bits_of_value(bf16, "2^7 - 0.5")), 127.5);
  EXPECT_TRUE(std::isnan(ir::double_of_bits(f64, bits_of_value(f64, "nan"))));
}

TEST(SpecialValues, AreInEveryGeneratedTensor) {
  for (int k = 0; k < kDTypeCount; ++k) {
    DType dtype = dtype_at(k);
    auto size = static_cast<int64_t>(special_values(dtype).size());
    EXPECT_EQ(special_tensor({dtype}).elements(), size);
    for (int64_t elements : {size, size + 1, 2 * size - 1, int64_t{500}, int64_t{4099}}) {
      for (uint64_t seed : {0, 1, 2, 12345}) {
        std::vector<uint64_t> bits = random_with_special({elements}, {dtype}, seed, {.share = 1e-9}).to_bits();
        std::set<uint64_t> found(bits.begin(), bits.end());
        for (const SpecialValue& v : special_values(dtype))
          EXPECT_TRUE(found.count(v.bits)) << name_of(dtype) << " " << v.name << ", " << elements << " elements, seed " << seed;
      }
    }
  }
}

TEST(SpecialValues, AreAsManyAsAskedFor) {
  auto nans = [](double share) {
    int count = 0;
    for (double x : random_with_special({1 << 16}, {f32}, 3, {.share = share}).to_doubles()) count += std::isnan(x);
    return count;
  };
  double expected = (1 << 16) / static_cast<double>(special_values(f32).size());
  EXPECT_NEAR(nans(1), expected, expected / 4);
  EXPECT_NEAR(nans(0.25), expected / 4, expected / 10);
  EXPECT_EQ(nans(0), 0);
}

TEST(SpecialValues, FiniteOnesAlone) {
  for (double x : random_with_special({5000}, {f16}, 0, {.share = 0.5, .finite = true}).to_doubles())
    EXPECT_TRUE(std::isfinite(x));
}

TEST(SpecialValues, TheSameForTheSameSeed) {
  EXPECT_TRUE(equal(random_with_special({70, 9}, {f64}, 5), random_with_special({70, 9}, {f64}, 5)));
  EXPECT_FALSE(equal(random_with_special({70, 9}, {f64}, 5), random_with_special({70, 9}, {f64}, 6)));
}

TEST(SpecialValues, EmptyAndWrong) {
  EXPECT_EQ(random_with_special({0, 4}, {f32}).elements(), 0);
  EXPECT_NE(support::error_of([] { random_with_special({4}, {f32}, 0, {.share = 2}); }).find("is 2, expected 0 to 1"),
            std::string::npos);
}

}  // namespace
}  // namespace strider
