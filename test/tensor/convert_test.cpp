// SPDX-License-Identifier: Apache-2.0
// Copies and conversions: every pair of dtypes against the meaning of a cast, every kind of layout, every device.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <strider/compare.h>
#include <strider/device.h>
#include <strider/error.h>
#include <strider/tensor.h>

#include "ir/semantics.h"
#include "support/errors.h"

namespace strider::test {
namespace {

using support::error_of;

using Numbers = std::vector<double>;

/// Values that matter to a conversion, as far as `dtype` has them.
Tensor samples(DType dtype) {
  constexpr double kSome[] = {0,      -0.0,  1,     -1,    2,    0.5,  -0.5, 1.5,  127,        128, 129,  -128, -129,
                              255,    256,   300.5, -2.25, 1e3,  1e-3, 1e5,  -1e5, 2147483647, 3e9, -3e9, 1e10, -1e10,
                              32767,  32768, 65504, 65536, 1e15, 0.1,  1e-8, 16777217, 9007199254740993.0,
                              0x1p62, -0x1p62};
  Tensor t = empty({static_cast<int64_t>(std::size(kSome))}, {dtype, "cpu"});
  auto size = static_cast<size_t>(size_of(dtype));
  for (size_t k = 0; k < std::size(kSome); ++k) {
    uint64_t element = ir::bits_of_double(dtype, kSome[k]);
    std::memcpy(static_cast<char*>(t.data()) + k * size, &element, size);
  }
  return t;
}

class Convert : public ::testing::TestWithParam<std::string> {};

TEST_P(Convert, EveryPairOfDTypes) {
  for (int from = 0; from < kDTypeCount; ++from) {
    Tensor x = samples(dtype_at(from));
    Tensor there = x.to(GetParam());
    for (int to = 0; to < kDTypeCount; ++to) {
      Tensor y = there.to(dtype_at(to));
      ASSERT_EQ(y.dtype(), dtype_at(to));
      std::vector<uint64_t> given = x.to_bits(), got = y.to_bits();
      for (size_t k = 0; k < given.size(); ++k) {
        if (is_float(dtype_at(from)) && !std::isfinite(ir::double_of_bits(dtype_at(from), given[k])) && is_int(dtype_at(to)))
          continue;
        EXPECT_EQ(got[k], ir::evaluate(ir::Op::Cast, dtype_at(from), dtype_at(to), &given[k]))
            << name_of(dtype_at(from)) << " to " << name_of(dtype_at(to)) << ": " << ir::double_of_bits(dtype_at(from), given[k]);
      }
    }
  }
}

TEST_P(Convert, AnyLayout) {
  Tensor x = arange(60, {i16, "cpu"}).reshape({3, 4, 5});
  for (const Tensor& v :
       {x, x.permute({2, 0, 1}), x.flip(1), x.slice(2, 0, 5, 2), x.slice(2, 4, -6, -3), x.narrow(0, 1, 1).expand({7, 4, 5}),
        x.narrow(1, 2, 0), x.select(0, 0).select(0, 1).select(0, 2), x.reshape({60}).slice(0, 1, 60)}) {
    Tensor there = v.to(GetParam());
    for (const Tensor& y :
         {there.to(f64), there.clone(), there.contiguous(), there.to(i8), static_cast<TensorView>(there).contiguous()}) {
      EXPECT_EQ(y.shape(), v.shape());
      EXPECT_EQ(y.to_doubles(), v.to_doubles());
    }
    EXPECT_TRUE(there.contiguous().is_contiguous());
    Tensor target = zeros(v.shape(), {f32, GetParam()});
    target.copy_from(there);
    EXPECT_EQ(target.to_doubles(), v.to_doubles());
  }
}

TEST_P(Convert, TheOrderOfAxesStays) {
  Tensor x = zeros({3, 4}, {f32, GetParam()}).t();
  EXPECT_EQ(x.to(f16).strides(), (Dims{1, 4}));
  EXPECT_EQ(x.clone().strides(), (Dims{1, 4}));
  EXPECT_EQ(x.contiguous().strides(), (Dims{3, 1}));
  EXPECT_EQ(zeros({2, 3, 4}, {f32, GetParam()}).slice(2, 0, 4, 2).clone().strides(), (Dims{6, 2, 1}));
}

TEST_P(Convert, NaNKeepsItsBitsInCopies) {
  Tensor x = tensor<uint32_t>({0x7f800001, 0xffc12345, 0x80000000}).to(GetParam());
  TensorView floats(x.data(), f32, x.shape(), x.strides(), x.device());
  EXPECT_EQ(floats.clone().to_bits(), x.to_bits());
  Tensor target = zeros({3}, {f32, GetParam()});
  target.copy_from(floats);
  EXPECT_EQ(target.to_bits(), x.to_bits());
  for (DType t : {f16, bf16, f64, f32}) {
    Numbers converted = floats.to(t).to_doubles();
    EXPECT_TRUE(std::isnan(converted[0]) && std::isnan(converted[1]) && std::signbit(converted[2])) << name_of(t);
  }
  EXPECT_EQ(floats.to(boolean).to_doubles(), (Numbers{1, 1, 0}));
}

TEST_P(Convert, WhatIsNotFiniteGivesTheSameIntegerEverywhere) {
  for (double value : {double(NAN), double(INFINITY), -double(INFINITY)})
    for (DType to : {i8, i32, i64, u8, u64}) {
      std::vector<uint64_t> all = full({67}, value, {f32, GetParam()}).to(to).to_bits();
      EXPECT_EQ(all, std::vector<uint64_t>(67, all[0])) << value << " to " << name_of(to);
    }
}

TEST_P(Convert, BetweenDevices) {
  Tensor x = arange(12).reshape({3, 4});
  Tensor there = x.to(f16, GetParam());
  EXPECT_EQ(there.device(), GetParam());
  EXPECT_EQ(there.dtype(), f16);
  Tensor back = zeros({2, 3, 4});
  back.slice(2, 0, 4, 2).copy_from(there.slice(1, 0, 4, 2));
  EXPECT_EQ(back.select(0, 1).to_doubles(), (Numbers{0, 0, 2, 0, 4, 0, 6, 0, 8, 0, 10, 0}));
  there.copy_from(x.flip(0));
  EXPECT_EQ(there.to_doubles(), x.flip(0).to_doubles());
}

INSTANTIATE_TEST_SUITE_P(All, Convert, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

TEST(CopyFrom, OverlapReadsWhatWasThereBefore) {
  Tensor x = arange(6);
  x.slice(0, 1, 6).copy_from(x.slice(0, 0, 5));
  EXPECT_EQ(x.to_doubles(), (Numbers{0, 0, 1, 2, 3, 4}));
  Tensor y = arange(6);
  y.copy_from(y.flip(0));
  EXPECT_EQ(y.to_doubles(), (Numbers{5, 4, 3, 2, 1, 0}));
  Tensor m = arange(9).reshape({3, 3});
  m.copy_from(m.t());
  EXPECT_EQ(m.to_doubles(), (Numbers{0, 3, 6, 1, 4, 7, 2, 5, 8}));
  m.copy_from(m);
  EXPECT_EQ(m.to_doubles(), (Numbers{0, 3, 6, 1, 4, 7, 2, 5, 8}));
  m.copy_from(m.select(0, 1));
  EXPECT_EQ(m.to_doubles(), (Numbers{1, 4, 7, 1, 4, 7, 1, 4, 7}));
  Tensor words = tensor<int32_t>({1, 2, 3, 4});
  TensorView(words.data(), f32, {4}).copy_from(words);
  EXPECT_EQ(TensorView(words.data(), f32, {4}).to_doubles(), (Numbers{1, 2, 3, 4}));
}

TEST(CopyFrom, Mistakes) {
  Tensor one = full({}, 1), x = arange(6);
  EXPECT_NE(error_of([&] { one.expand({3}).copy_from(full({3}, 2)); }).find("overlaps itself"), std::string::npos);
  EXPECT_NE(error_of([&] { x.as_strided({3, 3}, {1, 1}).copy_from(one); }).find("overlaps itself"), std::string::npos);
  EXPECT_NE(error_of([&] { x.copy_from(arange(5)); }).find("a tensor of shape (5) does not expand to (6)"), std::string::npos);
  EXPECT_NE(error_of([&] { x.copy_from(zeros({2, 6})); }).find("fewer axes"), std::string::npos);
  EXPECT_EQ(one.item(), 1);
  EXPECT_EQ(x.to_doubles(), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_NE(error_of([&] { x.to(f16, "abacus"); }).find("no device abacus"), std::string::npos);
}

TEST(CopyFrom, EmptyTensorsAndScalars) {
  Tensor none = empty({0, 3});
  none.copy_from(zeros({1, 3}));
  none.copy_from(zeros({}));
  Tensor scalar = zeros({});
  scalar.copy_from(full({}, 2.5, {f64, "cpu"}));
  EXPECT_EQ(scalar.item(), 2.5);
  EXPECT_EQ(scalar.to(i32).shape(), (Dims{}));
}

TEST(Compare, EqualMeansTheSameBits) {
  EXPECT_TRUE(equal(arange(6).reshape({2, 3}), arange(6).reshape({2, 3})));
  EXPECT_FALSE(equal(arange(6).reshape({2, 3}), arange(6).reshape({3, 2}).t()));
  EXPECT_TRUE(equal(arange(6).reshape({2, 3}).t(), tensor<float>({0, 3, 1, 4, 2, 5}, {3, 2})));
  EXPECT_FALSE(equal(arange(6), arange(6, {f64, "cpu"})));
  EXPECT_FALSE(equal(arange(6), arange(6).reshape({2, 3})));
  EXPECT_FALSE(equal(tensor<float>({0.0f}), tensor<float>({-0.0f})));
  EXPECT_TRUE(equal(tensor<float>({NAN}), tensor<float>({NAN})));
  EXPECT_TRUE(equal(empty({0, 3}), empty({0, 3})));
  Tensor a = zeros({100000}), b = zeros({100000});
  b.select(0, 77777).copy_from(full({}, 1));
  b.select(0, 99999).copy_from(full({}, 2));
  EXPECT_EQ(first_difference(a.reshape({100, 1000}), b.reshape({100, 1000}))->text(), "at (77, 777): 0.0 and 1.0");
}

TEST(Compare, AllCloseFollowsNumPy) {
  double big = 1e10;
  EXPECT_FALSE(all_close(tensor<double>({big, 1e-7}), tensor<double>({1.00001e10, 1e-8})));
  EXPECT_TRUE(all_close(tensor<double>({big, 1e-8}), tensor<double>({1.00001e10, 1e-9})));
  EXPECT_FALSE(all_close(tensor<double>({1, NAN}), tensor<double>({1, NAN})));
  EXPECT_TRUE(all_close(tensor<double>({1, NAN}), tensor<double>({1, NAN}), 1e-5, 1e-8, true));
  EXPECT_FALSE(all_close(tensor<double>({1, 2}), tensor<double>({1, NAN}), 1e-5, 1e-8, true));
  EXPECT_FALSE(all_close(tensor<double>({NAN}), tensor<double>({1}), 1, 1e300, true));
  EXPECT_TRUE(all_close(tensor<double>({INFINITY, -INFINITY}), tensor<double>({INFINITY, -INFINITY})));
  EXPECT_FALSE(all_close(tensor<double>({INFINITY}), tensor<double>({-INFINITY}), 1, 1));
  EXPECT_FALSE(all_close(tensor<double>({1}), tensor<double>({INFINITY}), 1, 1));
  EXPECT_TRUE(all_close(tensor<float>({0.5f}), tensor<double>({0.5 + 1e-9})));
  EXPECT_FALSE(all_close(tensor<int64_t>({(int64_t{1} << 60) + 1}), tensor<int64_t>({int64_t{1} << 60}), 0, 0.5));
  EXPECT_TRUE(all_close(tensor<uint64_t>({UINT64_MAX}), tensor<uint64_t>({UINT64_MAX})));
  EXPECT_NE(error_of([] { all_close(arange(2), arange(3)); }).find("shapes (2) and (3) differ"), std::string::npos);
  EXPECT_NE(error_of([] { all_close(arange(2), arange(2), -1); }).find("tolerances are -1"), std::string::npos);
}

TEST(Compare, DifferencesNameThePlaceAndBothValues) {
  Tensor a = arange(6).reshape({2, 3}), b = a.clone();
  EXPECT_FALSE(first_difference(a, b));
  b.select(0, 1).select(0, 1).copy_from(full({}, 4.25));
  EXPECT_EQ(first_difference(a, b)->text(), "at (1, 1): 4.0 and 4.25");
  EXPECT_EQ(first_difference(a.t(), b.t(), 0, 0.1)->index, (Dims{1, 1}));
  EXPECT_FALSE(first_difference(a, b, 0, 0.25));
  EXPECT_EQ(max_abs_difference(a, b), 0.25);
  EXPECT_EQ(max_abs_difference(tensor<int64_t>({INT64_MIN}), tensor<int64_t>({INT64_MAX})), 0x1p64);
  EXPECT_EQ(max_abs_difference(tensor<double>({NAN, INFINITY}), tensor<double>({NAN, INFINITY})), 0);
  EXPECT_TRUE(std::isnan(max_abs_difference(tensor<double>({5, 1, 7}), tensor<double>({1, NAN, 1}))));
  EXPECT_EQ(max_abs_difference(empty({0}), empty({0})), 0);
  EXPECT_EQ(first_difference(full({}, 1), full({}, 2))->text(), "at (): 1.0 and 2.0");
  EXPECT_NE(error_of([&] { first_difference(a, a.to(f64)); }).find("dtypes f32 and f64 differ"), std::string::npos);
}

}  // namespace
}  // namespace strider::test
