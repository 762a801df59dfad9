// SPDX-License-Identifier: Apache-2.0
// Dtypes of operators: PyTorch's promotion, as its rules say them (docs/promotion.md).
#include <gtest/gtest.h>

#include <strider/error.h>

#include "planner/promotion.h"

namespace strider::planner {
namespace {

constexpr ArgumentType tensor(DType t) { return {Source::Tensor, t}; }
constexpr ArgumentType zero_dim(DType t) { return {Source::ZeroDim, t}; }
constexpr ArgumentType number(DType t) { return {Source::Number, t}; }

DType common(const std::vector<ArgumentType>& arguments) {
  std::vector<int> all;
  for (size_t k = 0; k < arguments.size(); ++k) all.push_back(static_cast<int>(k));
  return common_dtype(arguments, all);
}

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
      {{tensor(i8), number(boolean)}, i8},
      {{tensor(boolean), number(i64)}, i64},
      {{tensor(boolean), number(boolean)}, boolean},
      {{number(f64), tensor(f64), number(i64)}, f64},
      // A tensor without axes gives its dtype only if no tensor with axes has its category.
      {{tensor(f32), zero_dim(f64)}, f32},
      {{tensor(i8), zero_dim(i64)}, i8},
      {{tensor(f16), zero_dim(f32)}, f16},
      {{tensor(i64), zero_dim(f16)}, f16},
      {{tensor(i64), zero_dim(f64)}, f64},
      {{tensor(boolean), zero_dim(u8)}, u8},
      {{zero_dim(f32), zero_dim(f64)}, f64},
      {{zero_dim(i32), number(f64)}, f32},
      {{tensor(f16), tensor(i32), zero_dim(f64)}, f16},
  };
  for (const Case& c : cases) EXPECT_EQ(common(c.arguments), c.common) << name_of(c.arguments[0].dtype);
  EXPECT_THROW(common({tensor(u64), tensor(i8)}), Error);
}

TEST(Promotion, KindsForASingleTensor) {
  struct Row {
    DType dtype;
    struct {
      DType computed, result;
    } by_kind[6];  // Default, NoOpmath, IntToFloat, AlwaysBool, ComplexToFloat, BoolToLong
  };
  const Row rows[] = {
      {boolean, {{boolean, boolean}, {boolean, boolean}, {f32, f32}, {boolean, boolean}, {boolean, boolean}, {i64, i64}}},
      {u8, {{u8, u8}, {u8, u8}, {f32, f32}, {u8, boolean}, {u8, u8}, {u8, u8}}},
      {i64, {{i64, i64}, {i64, i64}, {f32, f32}, {i64, boolean}, {i64, i64}, {i64, i64}}},
      {f16, {{f32, f16}, {f16, f16}, {f32, f16}, {f32, boolean}, {f32, f16}, {f32, f16}}},
      {bf16, {{f32, bf16}, {bf16, bf16}, {f32, bf16}, {f32, boolean}, {f32, bf16}, {f32, bf16}}},
      {f32, {{f32, f32}, {f32, f32}, {f32, f32}, {f32, boolean}, {f32, f32}, {f32, f32}}},
      {f64, {{f64, f64}, {f64, f64}, {f64, f64}, {f64, boolean}, {f64, f64}, {f64, f64}}},
  };
  for (const Row& row : rows)
    for (int kind = 0; kind < 6; ++kind) {
      Schema schema{.promotion = {{{0}, static_cast<Promotion>(kind)}}};
      Typing t = type_arguments(schema, 1, std::vector{tensor(row.dtype)});
      EXPECT_EQ(t.arguments[0].computed, row.by_kind[kind].computed) << name_of(row.dtype) << " kind " << kind;
      EXPECT_EQ(t.results[0], row.by_kind[kind].result) << name_of(row.dtype) << " kind " << kind;
    }
}

TEST(Promotion, NumbersPassInAFewDtypesWhateverTheirKind) {
  Schema schema{.is_tensor = {true, false}};
  auto passed = [&](DType t, DType n) { return type_arguments(schema, 1, std::vector{tensor(t), number(n)}).arguments[1]; };
  EXPECT_EQ(passed(f32, i64), passed(f32, f64));
  EXPECT_EQ(passed(f16, f64), (ArgumentTyping{f64, f32, f32}));
  EXPECT_EQ(passed(u8, i64), (ArgumentTyping{u64, u8, u8}));
  EXPECT_EQ(passed(i32, f64), (ArgumentTyping{f64, f32, f32}));
  EXPECT_EQ(passed(boolean, i64), (ArgumentTyping{i64, i64, i64}));
  EXPECT_EQ(passed(f32, boolean), (ArgumentTyping{boolean, boolean, boolean}));
}

TEST(Promotion, RulesSayWhetherANumberIsRoundedAsATensorWouldBe) {
  auto second = [](NumberRule rule, ArgumentType a) {
    Schema schema{.promotion = {{{0, 1}, Promotion::Default, {NumberRule::Rounded, rule}}}};
    return type_arguments(schema, 1, std::vector{tensor(bf16), a}).arguments[1];
  };
  EXPECT_EQ(second(NumberRule::Rounded, number(f64)), (ArgumentTyping{f64, bf16, f32}));
  EXPECT_EQ(second(NumberRule::Exact, number(f64)), (ArgumentTyping{f64, f32, f32}));
  EXPECT_EQ(second(NumberRule::Exact, zero_dim(f64)), (ArgumentTyping{f64, f32, f32}));
  EXPECT_EQ(second(NumberRule::Exact, zero_dim(bf16)), (ArgumentTyping{bf16, bf16, f32}));  // the kernel of a tensor
  EXPECT_EQ(second(NumberRule::Exact, tensor(i32)), (ArgumentTyping{i32, bf16, f32}));
  EXPECT_EQ(type_arguments({}, 1, std::vector{tensor(bf16), number(f64)}).arguments[1], (ArgumentTyping{f64, f32, f32}));
}

TEST(Promotion, NaturalNumbersAreAskedForAmongIntegers) {
  Schema schema{.promotion = {{{0, 1}, Promotion::Default, {NumberRule::Rounded, NumberRule::Natural}}}};
  auto is_natural = [&](ArgumentType x, ArgumentType y) { return type_arguments(schema, 1, std::vector{x, y}).arguments[1].is_natural; };
  EXPECT_TRUE(is_natural(tensor(i32), number(i64)));
  EXPECT_TRUE(is_natural(tensor(boolean), number(i64)));
  EXPECT_FALSE(is_natural(tensor(f32), number(i64)));
  EXPECT_FALSE(is_natural(tensor(i32), number(f64)));
  EXPECT_FALSE(is_natural(tensor(i32), zero_dim(i32)));
  EXPECT_FALSE(is_natural(tensor(i32), tensor(i32)));
}

TEST(Promotion, BoolIsRefusedWhereARuleSaysSo) {
  Schema schema{.promotion = {{.arguments = {0, 1}, .takes_bool = false}}};
  EXPECT_THROW(type_arguments(schema, 1, std::vector{tensor(f32), tensor(boolean)}), Error);
  EXPECT_THROW(type_arguments(schema, 1, std::vector{number(boolean), tensor(i32)}), Error);
  EXPECT_NO_THROW(type_arguments(schema, 1, std::vector{tensor(f32), tensor(u8)}));
}

TEST(Promotion, RulesNameTheirArguments) {
  Schema where{.promotion = {{{1, 2}, Promotion::NoOpmath}}};
  Typing t = type_arguments(where, 1, std::vector{tensor(boolean), tensor(f32), tensor(f64)});
  EXPECT_EQ(t.arguments[0], (ArgumentTyping{boolean, boolean, boolean}));
  EXPECT_EQ(t.arguments[1], (ArgumentTyping{f32, f64, f64}));
  Schema two{.promotion = {{{0}, Promotion::Default}, {{0, 1}, Promotion::AlwaysBool}}};
  t = type_arguments(two, 2, std::vector{tensor(f16), tensor(i32)});
  EXPECT_EQ(t.results, (std::vector{f16, boolean}));
  EXPECT_EQ(t.arguments[1].computed, f32);
}

TEST(Promotion, WithoutRulesTensorsKeepTheirDtypes) {
  Typing t = type_arguments({}, 1, std::vector{tensor(u8), tensor(f32), tensor(f16), zero_dim(f64)});
  EXPECT_EQ(t.arguments[0].computed, u8);
  EXPECT_EQ(t.arguments[2].computed, f32);
  EXPECT_EQ(t.arguments[3].computed, f32);
  EXPECT_EQ(t.results[0], f32);
}

TEST(Promotion, InferredResults) {
  EXPECT_EQ(inferred_result(f32, f16), f16);
  EXPECT_EQ(inferred_result(boolean, f16), boolean);
  EXPECT_EQ(inferred_result(f32, i32), f32);
}

TEST(Promotion, ResultsAreNotWrittenToALowerCategory) {
  EXPECT_TRUE(can_write(f64, f16) && can_write(i64, u8) && can_write(boolean, f32) && can_write(i32, f16));
  EXPECT_FALSE(can_write(f16, i64) || can_write(i8, boolean) || can_write(f32, boolean));
}

}  // namespace
}  // namespace strider::planner
