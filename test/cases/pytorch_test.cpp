// SPDX-License-Identifier: Apache-2.0
// PyTorch's numbers where they are easy to miss: what is rounded to 16 bits, bool arithmetic, signs of zeros, layouts of results.
// The right results were read off PyTorch 2.15.
#include "cases/cases.h"

namespace strider::cases {
namespace {

Tensor halves(std::initializer_list<float> values, DType dtype = f16) { return tensor(values).to(dtype); }

TEST(PyTorchCases, ANumberTimesAHalfIsNotRoundedToHalf) {
  EXPECT_EQ(text(halves({0.25f, 1e-3f, -3e-6f}) * 65536), "16384 65.5625 -0.1953125");
  EXPECT_EQ(text(65536.0 * halves({0.25f})), "16384");
  EXPECT_EQ(text(halves({0.25f}) / 65536), "3.81469727e-06");
  EXPECT_EQ(text(halves({1.703125f}, bf16) * 1.7), "2.890625");
  EXPECT_EQ(text(halves({0.25f}) * scalar<float>(65536)), "16384");
  EXPECT_EQ(text(halves({4096}) / scalar<int32_t>(65536)), "0.0625");
  EXPECT_EQ(text(ops::floor_div(halves({60000}), 70000)), "0");
  EXPECT_EQ(text(ops::trunc_div(halves({-60000}), 30001.0)), "-1");  // 30001 would be 30000
  EXPECT_EQ(text(ops::lerp(halves({0}), halves({1024}), 0.3)), "307.25");
  auto scale = pointwise("scale", [](auto x, auto s) { return x * s; });
  EXPECT_EQ(text(scale(halves({0.25f}), 65536)), "16384");
}

TEST(PyTorchCases, ANumberElsewhereIsRoundedAsATensorWouldBe) {
  Tensor x = halves({1.703125f}, bf16);
  EXPECT_EQ(text(x + 1.7), "3.40625");
  EXPECT_EQ(text(x - 1.7), "0");
  EXPECT_EQ(text(1.7 - x), "0");
  EXPECT_EQ(text(ops::remainder(x, 1.7)), "0");
  EXPECT_EQ(text(ops::fmod(x, 1.7)), "0");
  EXPECT_EQ(text(ops::eq(x, 1.7)), "1");
  EXPECT_EQ(text(ops::lt(x, scalar<float>(1.7031f))), "0");
  EXPECT_EQ(text(halves({2}) + 65536), "inf");
}

TEST(PyTorchCases, BoolArithmetic) {
  Tensor a = tensor<bool>({true, true, false, false}), b = tensor<bool>({true, false, true, false});
  auto check = [](const Tensor& result, const std::string& expected) {
    EXPECT_EQ(result.dtype(), boolean);
    EXPECT_EQ(text(result), expected);
  };
  check(a + b, "1 1 1 0");
  check(a * b, "1 0 0 0");
  check(a + true, "1 1 1 1");
  check(ops::add_scaled(a, b, 2), "1 1 1 0");
  check(ops::add_scaled(a, b, 0), "1 1 0 0");
  check(ops::sign(a), "1 1 0 0");
  check(ops::abs(a), "1 1 0 0");
  check(ops::pow(a, true), "1 1 0 0");
  check(ops::pow(a, b), "1 1 0 1");
  EXPECT_EQ((a + 1).dtype(), i64);
  EXPECT_EQ(text(a + 1), "2 2 1 1");
  EXPECT_EQ(ops::pow(a, 2).dtype(), i64);
  EXPECT_EQ(ops::square(a).dtype(), i64);
  auto composed = pointwise("f", [](auto x, auto y) { return ops::add(x, y); });
  check(composed(a, b), "1 1 1 0");
}

TEST(PyTorchCases, DifferencesOfBoolAreRefused) {
  Tensor mask = tensor<bool>({true});
  for (const auto& difference : std::vector<std::function<void()>>{[&] { mask - mask; }, [&] { ones({1}) - mask; }, [&] { mask - 1; },
                                                                   [&] { ones({1}) - true; }})
    EXPECT_NE(error_of(difference).find("is bool, expected integers or floats; differences of bool are bitwise_xor"), std::string::npos);
}

TEST(PyTorchCases, IntegersHaveNoNegativePowers) {
  Tensor x = tensor<int32_t>({1, -1, 2});
  EXPECT_EQ(error_of([&] { ops::pow(x, -1); }),
            "operator pow: argument y is -1, expected 0 or more among integers: convert one of them to a float dtype");
  EXPECT_NE(error_of([&] { ops::pow(tensor<bool>({true}), -1); }).find("argument y is -1"), std::string::npos);
  EXPECT_EQ(text(ops::pow(x, -1.0)), "1 -1 0.5");
  EXPECT_EQ(text(ops::pow(x, tensor<int32_t>({-1}))), "1 -1 0");  // among tensors what is no integer is 0
  EXPECT_EQ(text(ops::pow(2, tensor<int32_t>({-1, 3}))), "0 8");
  PreparedCall call = ops::pow.prepare(x, 2);
  EXPECT_NE(error_of([&] { call.set_number("y", -2); }).find("argument y is -2, expected 0 or more"), std::string::npos);
}

TEST(PyTorchCases, MasksOfBytes) {
  EXPECT_EQ(text(ops::where(tensor<uint8_t>({0, 2}), tensor<float>({1, 1}), 5)), "5 1");
  EXPECT_NE(error_of([] { ops::where(tensor<float>({0}), tensor<float>({1}), 5); }), "");
}

TEST(PyTorchCases, LdexpTakesFractions) {
  EXPECT_EQ(text(ops::ldexp(tensor<float>({3.5f}), -0.5)), "2.47487378");
  Tensor x = tensor<float>({kInf, 0, -3, 1e-30f, 1, 5}), y = tensor<float>({-kInf, kInf, kInf, 130, kNaN, -1074});
  EXPECT_EQ(text(ops::ldexp(x, y)), "nan nan -inf 1.36112947e+09 nan 0");  // 2^130 alone would be inf
  EXPECT_EQ(text(ops::ldexp(tensor<int32_t>({3}), tensor<int32_t>({-1}))), "1.5");
}

TEST(PyTorchCases, LerpChoosesItsFormByTheWeightsMagnitude) {
  EXPECT_EQ(text(ops::lerp(tensor<float>({18.28f}), tensor<float>({kInf}), -1.0)), "nan");
  EXPECT_EQ(text(ops::lerp(tensor<float>({18.28f}), tensor<float>({kInf}), -0.25)), "-inf");
}

TEST(PyTorchCases, ReluAndClampLeaveTheSignOfAZero) {
  Tensor zeros = tensor<float>({-0.0f, 0.0f});
  EXPECT_EQ(text(ops::relu(tensor<float>({-0.0f, 0.0f, -1, kNaN, 2}))), "-0 0 0 nan 2");
  EXPECT_EQ(text(ops::clamp(zeros, 0.0, 1)), "-0 0");
  EXPECT_EQ(text(ops::clamp(zeros, -0.0, 1)), "-0 0");
  EXPECT_EQ(text(ops::clamp(zeros, -1, -0.0)), "-0 0");
  EXPECT_EQ(text(ops::clamp(tensor<float>({1, 2, kNaN}), kNaN, 1)), "nan nan nan");
  EXPECT_EQ(text(ops::clamp(tensor<float>({1, kNaN}), 0, kNaN)), "nan nan");
  EXPECT_EQ(text(ops::clamp(tensor<float>({0, 5, 9}), 6, 3)), "3 3 3");
}

TEST(PyTorchCases, ResultsHaveTheLayoutOfTheirInputs) {
  auto strides_of_exp = [](const Dims& shape, const Dims& strides) {
    return ops::exp(empty({4000}).as_strided(shape, strides)).strides();
  };
  EXPECT_EQ(strides_of_exp({5, 1, 6}, {1, 5, 5}), (Dims{1, 5, 5}));
  EXPECT_EQ(strides_of_exp({2, 3, 1, 4}, {12, 1, 12, 3}), (Dims{12, 1, 12, 3}));
  EXPECT_EQ(strides_of_exp({31, 7, 5}, {1, 0, 38}), (Dims{1, 31, 217}));
}

TEST(PyTorchCases, GeluIsExactInItsTail) {
  EXPECT_EQ(text(ops::gelu(tensor<float>({-0.0f, 0, -20, -kInf, kInf, kNaN}))), "-0 0 -0 nan inf nan");
  std::vector<double> tail = ops::gelu(tensor<float>({-12.5f, -13})).to_doubles();
  EXPECT_NEAR(tail[0], -4.665705373597142e-35, 4 * 0x1p-138);  // 4 units in the last place
  EXPECT_NEAR(tail[1], -7.952313719414844e-38, 4 * 0x1p-147);
}

}  // namespace
}  // namespace strider::cases
