// SPDX-License-Identifier: Apache-2.0
// Dtypes of operators.
#include <gtest/gtest.h>

#include <strider/error.h>

#include "pointwise/promotion.h"

namespace strider::planner {
namespace {

constexpr ArgumentType tensor(DType t) { return {true, t}; }
constexpr ArgumentType number(DType t) { return {false, t}; }

TEST(Promotion, CommonDtype) {
  struct Case {
    std::vector<ArgumentType> arguments;
    DType common;
  };
  const Case cases[] = {
      {{tensor(i32), tensor(i64)}, i64},
      {{tensor(u8), tensor(i8)}, i16},
      {{tensor(u16), tensor(i64)}, i64},
      {{tensor(u32), tensor(i8)}, i64},
      {{tensor(f16), tensor(bf16)}, f32},
      {{tensor(f16), tensor(i64)}, f16},
      {{tensor(boolean), tensor(u8)}, u8},
      {{tensor(f32), number(f64)}, f32},
      {{tensor(f16), number(i64)}, f16},
      {{tensor(i8), number(i64)}, i8},
      {{tensor(i8), number(f64)}, f32},
      {{tensor(boolean), number(i64)}, i64},
      {{tensor(boolean), number(boolean)}, boolean},
      {{number(f64), tensor(f64), number(i64)}, f64},
  };
  for (const Case& c : cases) EXPECT_EQ(common_dtype(c.arguments), c.common) << name_of(c.arguments[0].dtype);
  EXPECT_THROW(common_dtype(std::vector{tensor(u64), tensor(i8)}), Error);
}

TEST(Promotion, HalvesAreComputedInFloatAndBoolStaysBool) {
  EXPECT_EQ(compute_dtype(tensor(f16), f16), f32);
  EXPECT_EQ(compute_dtype(number(f64), bf16), f32);
  EXPECT_EQ(compute_dtype(tensor(boolean), f32), boolean);
  EXPECT_EQ(compute_dtype(tensor(i8), i64), i64);
  EXPECT_EQ(output_dtype(f32, f16), f16);
  EXPECT_EQ(output_dtype(boolean, f16), boolean);
  EXPECT_EQ(output_dtype(f32, i32), f32);
}

TEST(Promotion, ResultsAreNotWrittenToALowerCategory) {
  EXPECT_TRUE(can_write(f64, f16) && can_write(i64, u8) && can_write(boolean, f32) && can_write(i32, f16));
  EXPECT_FALSE(can_write(f16, i64) || can_write(i8, boolean) || can_write(f32, boolean));
}

}  // namespace
}  // namespace strider::planner
