// SPDX-License-Identifier: Apache-2.0
// Functions of values as users call them, on cases from real reports, and the same functions of plain numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <strider/strider.h>

namespace strider::test {
namespace {

constexpr float kInf = INFINITY, kNaN = NAN;

/// Equal, NaN to NaN, and zeros by their signs.
void expect_same(const Tensor& found, const std::vector<double>& wanted) {
  std::vector<double> values = found.to_doubles();
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < values.size(); ++i) {
    bool same = std::isnan(wanted[i]) ? std::isnan(values[i]) : values[i] == wanted[i] && std::signbit(values[i]) == std::signbit(wanted[i]);
    EXPECT_TRUE(same) << "element " << i << " is " << values[i] << ", expected " << wanted[i];
  }
}

template <class T, class F>
Tensor result_of(const F& f, const std::vector<T>& x, const std::vector<T>& y) {
  return pointwise("f", f)(tensor(x), tensor(y));
}
template <class T, class F>
Tensor result_of(const F& f, const std::vector<T>& x) {
  return pointwise("f", f)(tensor(x));
}

TEST(Functions, LogicIsNotBitwise) {
  auto both = [](auto x, auto y) { return logical_and(x, y); };
  expect_same(result_of<int>(both, {2, 4, 0, 3}, {1, 2, 5, 0}), {1, 1, 0, 0});
  expect_same(result_of<int>([](auto x, auto y) { return logical_or(x, y); }, {2, 0, 0}, {1, 2, 0}), {1, 1, 0});
  expect_same(result_of<int>([](auto x, auto y) { return logical_xor(x, y); }, {2, 0, 0}, {1, 2, 0}), {0, 1, 0});
  expect_same(result_of<int>([](auto x) { return logical_not(x); }, {2, 0, -3}), {0, 1, 0});
  expect_same(result_of<float>([](auto x) { return logical_not(x); }, {-0.0f, kNaN, 0.5f}), {1, 0, 0});
  EXPECT_EQ(pointwise("f", both)(tensor<int>({1}), tensor<int>({1})).dtype(), DType::Bool);
  EXPECT_TRUE(logical_and(2.0, 1.0) && !logical_not(2.0) && logical_or(0.0, NAN) && logical_xor(1.0, 0.0));
}

TEST(Functions, FloorDivisionAndRemainder) {
  std::vector<int> a = {-7, 7, -7, 7, -1, 1, -5, 5, INT32_MIN, 5, -5}, b = {2, 2, -2, -2, 3, -3, 3, -3, -1, 0, 0};
  expect_same(result_of([](auto x, auto y) { return floor_div(x, y); }, a, b), {-4, 3, 3, -4, -1, -1, -2, -2, INT32_MIN, 0, 0});
  expect_same(result_of([](auto x, auto y) { return remainder(x, y); }, a, b), {1, 1, -1, -1, 2, -2, 1, -1, 0, 0, 0});
  expect_same(result_of<int8_t>([](auto x, auto y) { return floor_div(x, y); }, {120}, {-27}), {-5});
  std::vector<float> x = {5.5f, -5.5f, 0, 1e20f, 2147483648.0f, 5.5f, -5.5f}, y = {kInf, -kInf, kInf, 3, 3, -kInf, kInf};
  expect_same(result_of([](auto p, auto q) { return remainder(p, q); }, x, y), {5.5, -5.5, 0, 2, 2, -kInf, kInf});
  expect_same(result_of<float>([](auto p, auto q) { return floor_div(p, q); }, {kNaN, kInf, -kInf, -2.3f, 1, -1, 0}, {1, 1, 1, kInf, 0, 0, 0}),
              {NAN, NAN, NAN, -1, kInf, -kInf, NAN});
  EXPECT_EQ(floor_div(-7.0, 2.0), -4.0);
  EXPECT_EQ(fmod(-7.0, 2.0), -1.0);
}

TEST(Functions, NanIsCarriedOrDropped) {
  std::vector<float> x = {kNaN, 1, kNaN}, y = {1, kNaN, kNaN};
  expect_same(result_of([](auto a, auto b) { return maximum(a, b); }, x, y), {NAN, NAN, NAN});
  expect_same(result_of([](auto a, auto b) { return fmax(a, b); }, x, y), {1, 1, NAN});
  expect_same(result_of([](auto a, auto b) { return fmin(a, b); }, x, y), {1, 1, NAN});
  expect_same(result_of<float>([](auto a, auto low) { return clamp(a, low, kInf); }, {0, kNaN}, {kNaN, 1}), {NAN, NAN});
  expect_same(result_of<float>([](auto a) { return clamp(a, 6, 3); }, {0, 3, 5, 7}), {3, 3, 3, 3});
}

TEST(Functions, KindsAndSigns) {
  std::vector<float> x = {kNaN, kInf, -kInf, 1, -0.0f};
  expect_same(result_of([](auto a) { return isnan(a); }, x), {1, 0, 0, 0, 0});
  expect_same(result_of([](auto a) { return a != a; }, x), {1, 0, 0, 0, 0});
  expect_same(result_of([](auto a) { return isinf(a); }, x), {0, 1, 1, 0, 0});
  expect_same(result_of([](auto a) { return isfinite(a); }, x), {0, 0, 0, 1, 1});
  expect_same(result_of<float>([](auto a) { return signbit(a); }, {kInf, -kInf, 1, -0.0f}), {0, 1, 0, 1});
  expect_same(result_of([](auto a) { return sign(a); }, x), {0, 1, -1, 1, 0});
  expect_same(result_of<float>([](auto a) { return copysign(2, a); }, {-0.0f, 3}), {-2, 2});
  expect_same(result_of<float>([](auto a) { return rint(a); }, {0.5f, 1.5f, 2.5f, -0.5f}), {0, 2, 2, -0.0});
  bool is_nan = isnan(double{NAN});
  EXPECT_TRUE(is_nan && !isfinite(double{NAN}));
}

TEST(Functions, PowersAndScales) {
  std::vector<float> x = {0, -0.0f, 0, -0.0f, 1, kNaN, -8, -8, -1}, y = {0.5f, 3, -1, -1, kNaN, 0, 1.0f / 3, 3, kInf};
  expect_same(result_of([](auto a, auto b) { return pow(a, b); }, x, y), {0, -0.0, kInf, -kInf, 1, 1, NAN, -512, 1});
  expect_same(result_of<int>([](auto a, auto b) { return pow(a, b); }, {3, -1, 2, 0}, {4, -3, -1, 0}), {81, -1, 0, 1});
  expect_same(result_of<int>([](auto a) { return pow(a, 2); }, {-5}), {25});
  expect_same(result_of<float>([](auto a) { return ldexp(a, 3); }, {1.5f, -kInf}), {12, -kInf});
  EXPECT_EQ(pow(2.0, 10.0), 1024.0);
}

}  // namespace
}  // namespace strider::test
