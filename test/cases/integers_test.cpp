// SPDX-License-Identifier: Apache-2.0
// Integers: wrap-around, signs, the smallest value, exact comparison.
#include "cases/cases.h"

namespace strider::cases {
namespace {

using i8s = std::vector<int8_t>;
using i32s = std::vector<int32_t>;

TEST(IntegerCases, ASumWrapsBeforeItIsWidened) {  // pytorch#105264
  auto op = pointwise("f", [](auto x) { return st::cast(x + x, i16); });
  Tensor y = op(scalar<uint8_t>(128));
  EXPECT_EQ(y.dtype(), i16);
  EXPECT_EQ(y.item(), 0);
}

TEST(IntegerCases, ANegatedUnsignedIsComparedAsUnsigned) {  // pytorch#93829
  auto op = pointwise("f", [](auto x, auto y) { return std::tuple{-x, -x < y}; });
  auto [negated, less] = op(tensor<uint8_t>({6}), tensor<uint8_t>({4}));
  EXPECT_EQ(negated.item(), 250);
  EXPECT_EQ(less.item(), 0);
}

TEST(IntegerCases, ANegatedUnsignedMeetsAFloat) {  // pytorch#161763
  auto op = pointwise("f", [](auto c, auto x) { return -c + x; });
  EXPECT_EQ(op(tensor<uint8_t>({7}), tensor<float>({1.5f})).item(), 250.5);
  auto composed = pointwise("g", [](auto c, auto x) { return st::ops::add(st::ops::neg(c), x); });
  EXPECT_EQ(composed(tensor<uint8_t>({7}), tensor<float>({1.5f})).item(), 250.5);
}

TEST(IntegerCases, AbsOfTheSmallest) {  // pytorch#49224
  EXPECT_EQ(st::ops::abs(tensor<int8_t>({-128, -127})).to_vector<int8_t>(), (i8s{-128, 127}));
  EXPECT_EQ(st::ops::abs(tensor<int32_t>({INT32_MIN})).to_vector<int32_t>(), (i32s{INT32_MIN}));
}

TEST(IntegerCases, AbsAndSignOfWideUnsigned) {  // mlx PR #4240
  Tensor x = tensor<uint64_t>({0xa11cc311cb6acd70u, UINT64_MAX, 1, 0});
  EXPECT_EQ(st::ops::abs(x).to_vector<uint64_t>(), x.to_vector<uint64_t>());
  EXPECT_EQ(st::ops::sign(x).to_vector<uint64_t>(), (std::vector<uint64_t>{1, 1, 1, 0}));
}

TEST(IntegerCases, FloorDivisionAndRemainderAgree) {  // triton#619
  Tensor a = tensor<int32_t>({-7, 7, -7, 7, -1, 1, -5, 5}), b = tensor<int32_t>({2, 2, -2, -2, 3, -3, 3, -3});
  EXPECT_EQ(st::ops::floor_div(a, b).to_vector<int32_t>(), (i32s{-4, 3, 3, -4, -1, -1, -2, -2}));
  EXPECT_EQ(st::ops::remainder(a, b).to_vector<int32_t>(), (i32s{1, 1, -1, -1, 2, -2, 1, -1}));
  EXPECT_EQ(st::ops::trunc_div(a, b).to_vector<int32_t>(), (i32s{-3, 3, 3, -3, 0, 0, -1, -1}));
  EXPECT_EQ(st::ops::fmod(a, b).to_vector<int32_t>(), (i32s{-1, 1, -1, 1, -1, 1, -2, 2}));
}

TEST(IntegerCases, FloorDivisionDoesNotOverflowOnTheWay) {  // mlx PR #4346
  Tensor all = arange(256, {i16}), a = empty({256, 1}, {i8}), b = empty({1, 256}, {i8});
  auto narrow = pointwise("narrow", [](auto x) { return st::cast(x - 128, i8); });
  narrow(all.reshape({256, 1}), st::out(a)), narrow(all.reshape({1, 256}), st::out(b));
  std::vector<int8_t> q = st::ops::floor_div(a, b).to_vector<int8_t>(), r = st::ops::remainder(a, b).to_vector<int8_t>();
  EXPECT_EQ(q[static_cast<size_t>((120 + 128) * 256 - 27 + 128)], -5);
  EXPECT_EQ(r[static_cast<size_t>((120 + 128) * 256 - 27 + 128)], -15);
  for (int x = -128; x < 128; ++x)
    for (int y = -128; y < 128; ++y) {
      auto at = static_cast<size_t>((x + 128) * 256 + y + 128);
      if (y == 0 || (x == -128 && y == -1)) continue;
      int floor = static_cast<int>(std::floor(static_cast<double>(x) / y));
      ASSERT_EQ(q[at], floor) << x << " // " << y;
      ASSERT_EQ(r[at], x - floor * y) << x << " % " << y;
    }
}

TEST(IntegerCases, LogicalIsNotBitwise) {  // spikingjelly PR #658
  EXPECT_EQ(text(st::ops::logical_not(tensor<int32_t>({2, 0, -3}))), "0 1 0");
  Tensor a = tensor<int32_t>({2, 4}), b = tensor<int32_t>({1, 2});
  EXPECT_EQ(text(st::ops::logical_and(a, b)), "1 1");
  EXPECT_EQ(text(st::ops::bitwise_and(a, b)), "0 0");
}

TEST(IntegerCases, PowersOfAColumnAndALongRow) {  // an expansion with many values that depend on the row alone
  Tensor column = tensor<int64_t>({1, 2, 3}).reshape({3, 1}), row = st::ops::remainder(arange(10000, {i64}), 40).reshape({1, 10000});
  std::vector<int64_t> y = st::ops::pow(column, row).to_vector<int64_t>();
  EXPECT_EQ(y[10000 + 39], int64_t{1} << 39);
  EXPECT_EQ(y[20000 + 35], 50031545098999707);
  EXPECT_EQ(y[20000 + 9980], 3486784401);
}

TEST(IntegerCases, PredicatesOfIntegers) {
  Tensor x = tensor<int32_t>({-1, 0, 5});
  EXPECT_EQ(text(st::ops::isnan(x)), "0 0 0");
  EXPECT_EQ(text(st::ops::isfinite(x)), "1 1 1");
  EXPECT_EQ(text(st::ops::signbit(x)), "1 0 0");
  EXPECT_EQ(st::ops::floor(x).dtype(), i32);
  EXPECT_EQ(st::ops::exp(tensor<int64_t>({0})).dtype(), f32);
}

TEST(IntegerCases, TheSmallestDividedByMinusOne) {  // pytorch#184406
  auto op = pointwise("f", [](auto a, auto b) { return std::tuple{st::floor_div(a, b), st::div(a, b), a % b}; });
  auto [floor, quotient, remainder] = op(tensor<int32_t>({INT32_MIN}), tensor<int32_t>({-1}));
  EXPECT_EQ(floor.item(), INT32_MIN);
  EXPECT_EQ(quotient.item(), INT32_MIN);
  EXPECT_EQ(remainder.item(), 0);
}

TEST(IntegerCases, DivisionByZeroRaisesNoSignal) {  // pytorch#178013
  auto both = pointwise("both", [](auto a, auto b) { return std::tuple{st::floor_div(a, b), a % b}; });
  auto alone = pointwise("alone", [](auto a, auto b) { return a % b; });
  Tensor a = tensor<int32_t>({5, -5, 0}), zero = zeros({3}, {i32});
  auto [quotient, remainder] = both(a, zero);
  EXPECT_EQ(quotient.to_vector<int32_t>(), (i32s{0, 0, 0}));
  EXPECT_EQ(remainder.to_vector<int32_t>(), (i32s{0, 0, 0}));
  EXPECT_EQ(alone(a, zero).to_vector<int32_t>(), remainder.to_vector<int32_t>());
  EXPECT_EQ(alone(tensor<uint8_t>({5}), tensor<uint8_t>({0})).item(), 0);
}

TEST(IntegerCases, CeilingDivisionOfANegative) {  // triton#954
  auto op = pointwise("f", [](auto a, auto b) { return st::cdiv(a, b); });
  EXPECT_EQ(op(tensor<int32_t>({-36}), tensor<int32_t>({5})).item(), -7);
}

TEST(IntegerCases, ShiftsByTheWidthOrMore) {  // pytorch#70904
  auto left = pointwise("left", [](auto a, auto b) { return a << b; });
  auto right = pointwise("right", [](auto a, auto b) { return a >> b; });
  Tensor full = tensor<uint8_t>({255, 255}), by = tensor<uint8_t>({32, 8});
  EXPECT_EQ(left(full, by).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(right(tensor<uint8_t>({255}), tensor<uint8_t>({33})).item(), 0);
  EXPECT_EQ(right(tensor<int64_t>({1000, -1}), tensor<int64_t>({64, 64})).to_vector<int64_t>(), (std::vector<int64_t>{0, -1}));
  EXPECT_EQ(left(tensor<int64_t>({1}), tensor<int64_t>({64})).item(), 0);
}

TEST(IntegerCases, NarrowShiftsKeepTheType) {  // mlx PR #2080
  auto op = pointwise("f", [](auto a) { return std::tuple{a << 1, a >> 1}; });
  auto [left, right] = op(tensor<int8_t>({127, -128}));
  EXPECT_EQ(left.to_vector<int8_t>(), (i8s{-2, 0}));
  EXPECT_EQ(right.to_vector<int8_t>(), (i8s{63, -64}));
}

TEST(IntegerCases, ConstantsOf64Bits) {  // NVIDIA/Fuser PR #998
  auto product = pointwise("product", [](auto x) { return x * 65536 * 65536; });
  EXPECT_EQ(product(tensor<int64_t>({1})).item(), 4294967296);
  auto least = pointwise("least", [](auto x) { return x + INT64_MIN; });
  EXPECT_EQ(least(tensor<int64_t>({0})).to_vector<int64_t>()[0], INT64_MIN);
  auto most = pointwise("most", [](auto x) { return x + UINT64_MAX; });
  EXPECT_EQ(most(tensor<uint64_t>({0})).to_vector<uint64_t>()[0], UINT64_MAX);
  EXPECT_EQ(st::ops::add(tensor<uint64_t>({0}), UINT64_MAX).to_vector<uint64_t>()[0], UINT64_MAX);
  EXPECT_EQ(st::ops::add(tensor<int64_t>({0}), INT64_MIN).to_vector<int64_t>()[0], INT64_MIN);
}

TEST(IntegerCases, ComparisonIsExact) {  // torch-spyre PR #3802, pytorch#34758
  EXPECT_EQ(st::ops::eq(tensor<int32_t>({16777217}), tensor<int32_t>({16777216})).item(), 0);
  EXPECT_EQ(st::ops::eq(tensor<int64_t>({(int64_t{1} << 53) + 1}), tensor<int64_t>({int64_t{1} << 53})).item(), 0);
  EXPECT_EQ(st::ops::eq(tensor<int32_t>({16777217}), 16777216.0).item(), 1);  // computed in f32
}

}  // namespace
}  // namespace strider::cases
