// SPDX-License-Identifier: Apache-2.0
// Dtypes of results, in place, given outputs.
#include "cases/cases.h"

namespace strider::cases {
namespace {

TEST(PromotionCases, ATensorWithoutAxesDoesNotWidenItsCategory) {  // tvm PR #20405
  EXPECT_EQ((tensor<float>({1}) + scalar<double>(1)).dtype(), f32);
  Tensor sum = tensor<int8_t>({1}) + scalar<int64_t>(200);
  EXPECT_EQ(sum.dtype(), i8);
  EXPECT_EQ(sum.item(), -55);
  EXPECT_EQ((full({1}, 1, {f16}) + scalar<float>(1)).dtype(), f16);
  auto inferred = pointwise("f", [](auto x, auto y) { return x + y; });
  EXPECT_EQ(inferred(tensor<int8_t>({1}), scalar<int64_t>(200)).item(), -55);
}

TEST(PromotionCases, ANumberIsNoTensorOfF64) {  // pytorch#74400
  EXPECT_EQ((tensor<int64_t>({3}) * 2.0).dtype(), f32);
  EXPECT_EQ((tensor<int64_t>({3}) * scalar<double>(2)).dtype(), f64);
}

TEST(PromotionCases, AnIntegerNumberIsWeak) {  // cupy#9028
  Tensor wrapped = tensor<uint8_t>({250}) + 10;
  EXPECT_EQ(wrapped.dtype(), u8);
  EXPECT_EQ(wrapped.item(), 4);
  Tensor wide = tensor<uint8_t>({250}) + tensor<int64_t>({10});
  EXPECT_EQ(wide.dtype(), i64);
  EXPECT_EQ(wide.item(), 260);
}

TEST(PromotionCases, WherePromotesItsBranches) {  // pytorch#49090
  Tensor mask = tensor<bool>({true, false});
  EXPECT_EQ(st::ops::where(mask, tensor<float>({1, 2}), 0.0).dtype(), f32);
  EXPECT_EQ(st::ops::where(mask, tensor<float>({1, 2}), tensor<double>({3, 4})).dtype(), f64);
  Tensor mixed = st::ops::where(mask, tensor<int64_t>({1, 2}), 0.5);
  EXPECT_EQ(mixed.dtype(), f32);
  EXPECT_EQ(text(mixed), "1 0.5");
}

TEST(PromotionCases, InPlaceMayNotGrow) {  // pytorch#100809
  Tensor x = zeros({5, 1}), y = zeros({5, 20});
  EXPECT_NE(error_of([&] { x += y; }).find("output 0 has shape (5, 1), the inputs broadcast to (5, 20)"), std::string::npos);
}

TEST(PromotionCases, TrueDivisionOfIntegers) {
  Tensor half = tensor<int32_t>({1}) / tensor<int32_t>({2});
  EXPECT_EQ(half.dtype(), f32);
  EXPECT_EQ(half.item(), 0.5);
  auto inferred = pointwise("f", [](auto x, auto y) { return x / y; });
  EXPECT_EQ(inferred(tensor<int32_t>({1}), tensor<int32_t>({2})).item(), 0.5);
}

TEST(PromotionCases, ResultsAreRoundedToTheirDtypeBeforeAGivenOutput) {
  Tensor x = full({1}, 2049, {f32}), half = full({1}, 1, {f16}), out = zeros({1});
  st::ops::add(half, full({1}, 2048, {f16}), st::out(out));
  EXPECT_EQ(out.item(), 2048);  // 2049 is no f16
  st::ops::add(half, x, st::out(out));
  EXPECT_EQ(out.item(), 2050);
}

TEST(PromotionCases, IntegersAreRoundedToTheHalfThatTheyMeet) {  // as torch: 2049 becomes 2048 first
  EXPECT_EQ((tensor<int32_t>({2049}) + full({1}, 0.75, {f16})).item(), 2048);
}

TEST(PromotionCases, BFloat16MeetsANumber) {  // pytorch#186875
  Tensor x = full({2}, 1.703125, {bf16});
  EXPECT_EQ(text(st::ops::eq(x, 1.7)), "1 1");  // 1.7 rounds to 1.703125
}

TEST(PromotionCases, NumbersByNameAndDefaults) {
  auto op = pointwise("axpy", [](auto x, auto y, auto alpha) { return x + y * alpha; },
                      {.is_tensor = {true, true, false},
                       .names = {"x", "y", "alpha"},
                       .promotion = {{{0, 1}, Promotion::Default}},
                       .defaults = {{"alpha", 1}}});
  Tensor x = tensor<float>({1}), y = tensor<float>({10});
  EXPECT_EQ(op(x, y).item(), 11);
  EXPECT_EQ(op(x, y, st::arg("alpha", 0.5)).item(), 6);
  EXPECT_EQ(op(x, y, 2).item(), 21);
  EXPECT_EQ(op(2.0, 3.0), 5);
  EXPECT_EQ(op(2.0, 3.0, st::arg("alpha", 4)), 14);
  EXPECT_EQ(op.untyped().arguments(), 3u);
  EXPECT_EQ(error_of([&] { op(x, y, st::arg("beta", 1)); }), "operator axpy: there is no argument beta; the arguments: x, y, alpha");
  EXPECT_EQ(error_of([&] { op(x); }), "operator axpy: argument y is missing");
  EXPECT_EQ(error_of([&] { op(x, y, 1, st::arg("alpha", 1)); }), "operator axpy: 4 arguments given, expected 3");
  EXPECT_EQ(error_of([&] { op(x, st::arg("x", 1)); }), "operator axpy: argument x is given twice");
  EXPECT_EQ(error_of([&] { op(tensor<int32_t>({1}), tensor<int32_t>({1}), 0.5); }),
            "operator axpy: output 0 is i32 by its promotion rule, the maths give f32: name more arguments in the rule, or convert "
            "with .to(st::i32)");
  auto composed = pointwise("twice", [op](auto a, auto b) { return op(a, b, st::arg("alpha", 3)) + op(a, b); });
  EXPECT_EQ(composed(x, y).item(), 42);
}

TEST(PromotionCases, ANumbersValueAndKindCompileNothing) {  // helion PR #2793
  auto axpy = pointwise("axpy", [](auto x, auto y, auto s) { return x * s + y; }, {.is_tensor = {true, true, false}});
  Tensor x = tensor<float>({1, 2, 3}), y = tensor<float>({10, 20, 30});
  int64_t before = st::stats().compiles;
  EXPECT_EQ(text(axpy(x, y, 1)), "11 22 33");
  EXPECT_EQ(text(axpy(x, y, 5)), "15 30 45");
  EXPECT_EQ(text(axpy(x, y, 16)), "26 52 78");
  EXPECT_EQ(text(axpy(x, y, 17)), "27 54 81");
  EXPECT_EQ(text(axpy(x, y, 1.0)), "11 22 33");
  EXPECT_EQ(st::stats().compiles, before + 1);
}

TEST(PromotionCases, SchemasAreChecked) {
  auto with = [](Schema schema) {
    return error_of([&] { pointwise("f", [](auto x, auto y) { return x + y; }, schema); });
  };
  EXPECT_EQ(with({.promotion = {{{0}, Promotion::Default}, {{1}, Promotion::Default}}}),
            "operator f: there are 2 promotion rules, expected one for each of its 1 outputs");
  EXPECT_EQ(with({.promotion = {{{0, 2}, Promotion::Default}}}), "operator f: the promotion rule of output 0 names argument 2, of 2");
  EXPECT_EQ(with({.promotion = {{{}, Promotion::Default}}}), "operator f: the promotion rule of output 0 names no arguments");
  EXPECT_EQ(with({.promotion = {{{0, 1}, Promotion::Default, {NumberRule::Exact}}}}),
            "operator f: the promotion rule of output 0 names 2 arguments and 1 rules for numbers");
  EXPECT_EQ(with({.names = {"a", "a"}}), "operator f: two arguments are called a");
  EXPECT_EQ(with({.names = {"a", "b", "c"}}), "operator f: .names has 3 names, the operator takes 2: one for each, \"\" where there is none");
  EXPECT_EQ(with({.names = {"a", "c"}, .defaults = {{"b", 1}}}), "operator f: there is no argument b; the arguments: a, c");
}

TEST(PromotionCases, ATensorWithoutAxesOfALowerCategoryKeepsItsDtype) {
  auto op = pointwise("f", [](auto c, auto x) { return -c + x; });
  EXPECT_EQ(op(scalar<uint8_t>(7), tensor<float>({1.5f})).item(), 250.5);
}

TEST(PromotionCases, ABoolNumberIsACondition) {
  EXPECT_EQ(text(st::ops::where(true, tensor<float>({1, 2}), tensor<float>({3, 4}))), "1 2");
}

TEST(PromotionCases, LargeUnsignedNumbersAreRoundedOnce) {
  EXPECT_EQ((zeros({1}) + uint64_t{9223372586610589697u}).item(), 0x1p63 + 0x1p40);
}

TEST(PromotionCases, OutputsAreRefusedWhateverTheirSize) {
  EXPECT_NE(error_of([] { st::ops::add(zeros({0}), zeros({0}), st::out(zeros({0}, {i32}))); }), "");
}

TEST(PromotionCases, ABoolMinusIsAnError) {
  EXPECT_NE(error_of([] { tensor<bool>({true}) - tensor<bool>({true}); }).find("operator sub"), std::string::npos);
}

}  // namespace
}  // namespace strider::cases
