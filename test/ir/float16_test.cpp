// SPDX-License-Identifier: Apache-2.0
#include "base/float16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace strider {
namespace {

/// One 16-bit format through its conversions.
struct Format16 {
  const char* name;
  float (*wide)(uint16_t);
  uint16_t (*of_float)(float);
  uint16_t (*of_double)(double);
  uint16_t (*of_signed)(int64_t);
  uint16_t (*of_unsigned)(uint64_t);
  int fraction;
  uint16_t infinity;
};

const Format16 kFormats[] = {
    {"half", float_of_half, half_of, half_of, half_of, half_of, 10, 0x7c00},
    {"bfloat16", float_of_bfloat16, bfloat16_of, bfloat16_of, bfloat16_of, bfloat16_of, 7, 0x7f80},
};

class Float16 : public ::testing::TestWithParam<Format16> {};

/// The value by the definition of the format, without the code under test.
double defined_value(const Format16& f, unsigned magnitude) {
  int exponent = static_cast<int>(magnitude >> f.fraction);
  int bias = (1 << (14 - f.fraction)) - 1;
  double fraction = magnitude & ((1u << f.fraction) - 1);
  if (exponent == 0) return std::ldexp(fraction, 1 - bias - f.fraction);
  return std::ldexp(fraction + (1 << f.fraction), exponent - bias - f.fraction);
}

TEST_P(Float16, WidensEveryFiniteValueExactly) {
  const Format16& f = GetParam();
  for (unsigned magnitude = 0; magnitude < f.infinity; ++magnitude) {
    ASSERT_EQ(f.wide(static_cast<uint16_t>(magnitude)), defined_value(f, magnitude)) << magnitude;
    ASSERT_EQ(f.wide(static_cast<uint16_t>(magnitude | 0x8000)), -defined_value(f, magnitude)) << magnitude;
    ASSERT_TRUE(std::signbit(f.wide(static_cast<uint16_t>(magnitude | 0x8000))));
  }
}

TEST_P(Float16, EveryBitPatternRoundTrips) {
  const Format16& f = GetParam();
  const unsigned quiet = 1u << (f.fraction - 1);
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    bool nan = (bits & 0x7fff) > f.infinity;
    uint16_t wanted = static_cast<uint16_t>(nan ? bits | quiet : bits);
    float wide = f.wide(static_cast<uint16_t>(bits));
    ASSERT_EQ(std::isnan(wide), nan);
    ASSERT_EQ(f.of_float(wide), wanted);
    ASSERT_EQ(f.of_double(wide), wanted);
  }
}

TEST_P(Float16, RoundsToNearestEvenBetweenAllNeighbours) {
  const Format16& f = GetParam();
  for (unsigned low = 0; low < f.infinity; ++low) {
    // Above the largest value the next one would be 2^emax+1: it rounds as if it existed, and is infinity.
    double middle = (defined_value(f, low) + defined_value(f, low + 1)) / 2;
    uint16_t even = static_cast<uint16_t>(low + (low & 1));
    ASSERT_EQ(f.of_double(middle), even) << low;
    ASSERT_EQ(f.of_double(-middle), even | 0x8000) << low;
    ASSERT_EQ(f.of_double(std::nextafter(middle, 0.0)), low) << low;
    ASSERT_EQ(f.of_double(std::nextafter(middle, 1e300)), low + 1) << low;
    float near = static_cast<float>(middle);
    ASSERT_EQ(near, middle);
    ASSERT_EQ(f.of_float(near), even) << low;
    ASSERT_EQ(f.of_float(std::nextafter(near, 0.0f)), low) << low;
    ASSERT_EQ(f.of_float(std::nextafter(near, INFINITY)), low + 1) << low;
  }
}

TEST_P(Float16, ExtremesOverflowAndVanish) {
  const Format16& f = GetParam();
  for (double huge : {1e39, 1e300, static_cast<double>(INFINITY)}) {
    EXPECT_EQ(f.of_double(huge), f.infinity);
    EXPECT_EQ(f.of_double(-huge), f.infinity | 0x8000);
  }
  for (double tiny : {1e-46, std::numeric_limits<double>::denorm_min(), 0.0}) {
    EXPECT_EQ(f.of_double(tiny), 0);
    EXPECT_EQ(f.of_double(-tiny), 0x8000);
  }
  EXPECT_EQ(f.of_float(std::numeric_limits<float>::denorm_min()), 0);
}

TEST_P(Float16, NansBecomeQuietAndKeepTheTopOfTheirPayload) {
  const Format16& f = GetParam();
  const uint16_t quiet = static_cast<uint16_t>(f.infinity | 1u << (f.fraction - 1));
  EXPECT_EQ(f.of_float(std::bit_cast<float>(0x7f800001u)), quiet);
  EXPECT_EQ(f.of_float(std::bit_cast<float>(0xff800001u)), quiet | 0x8000);
  EXPECT_EQ(f.of_double(std::bit_cast<double>(0x7ff0000000000001u)), quiet);
  EXPECT_EQ(f.of_double(std::bit_cast<double>(0x7ffc000000000000u)), quiet | 1u << (f.fraction - 2));
}

/// True if `bits` is the value nearest to `exact`, and the even one of two that are equally near.
bool is_nearest(const Format16& f, long double exact, uint16_t bits) {
  if (bits == f.infinity) return exact >= (defined_value(f, f.infinity - 1u) + defined_value(f, f.infinity)) / 2;
  long double distance = std::fabs(exact - defined_value(f, bits));
  auto beats = [&](unsigned other) {
    long double d = std::fabs(exact - defined_value(f, other));
    return distance < d || (distance == d && bits % 2 == 0);
  };
  return beats(bits + 1u) && (bits == 0 || beats(bits - 1u));
}

TEST_P(Float16, IntegersRoundOnce) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const Format16& f = GetParam();
  std::mt19937_64 random(7);
  for (int k = 0; k < 200000; ++k) {
    uint64_t x = random() >> (random() % 64);
    if (k % 2) x = ((x | 1) & ~((uint64_t{1} << (std::bit_width(x | 1) / 2)) - 1)) | (random() & 1);  // ties, and almost ties
    ASSERT_TRUE(is_nearest(f, static_cast<long double>(x), f.of_unsigned(x))) << x;
    int64_t y = static_cast<int64_t>(x >> 1);
    ASSERT_EQ(f.of_signed(y), f.of_unsigned(x >> 1));
    ASSERT_EQ(f.of_signed(-y), y ? f.of_signed(y) | 0x8000 : 0);
  }
  EXPECT_EQ(f.of_signed(INT64_MIN), f.of_unsigned(uint64_t{1} << 63) | 0x8000);
}

INSTANTIATE_TEST_SUITE_P(Formats, Float16, ::testing::ValuesIn(kFormats), [](const auto& info) { return info.param.name; });

TEST(Float16Once, NoSecondRoundingThroughFloat) {
  // Just above a tie; rounding to f32 first would land on the tie and then go down to even.
  EXPECT_EQ(bfloat16_of(1.0 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(half_of(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(bfloat16_of((int64_t{1} << 60) + (int64_t{1} << 52) + 1), bfloat16_of(0x1p60) + 1);
}

}  // namespace
}  // namespace strider
