// SPDX-License-Identifier: Apache-2.0
// Tensors: memory, views, copies between devices, text.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <strider/device.h>
#include <strider/error.h>
#include <strider/tensor.h>

namespace strider::test {
namespace {

std::string error_of(auto f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::User);
    return e.what();
  }
  return "";
}

using Numbers = std::vector<double>;

TEST(Tensor, Factories) {
  EXPECT_EQ(arange(4, {i16, "cpu"}).to_vector<int16_t>(), (std::vector<int16_t>{0, 1, 2, 3}));
  EXPECT_EQ(full({2, 2}, 1.5, {f16, "cpu"}).to_doubles(), (Numbers{1.5, 1.5, 1.5, 1.5}));
  EXPECT_EQ(zeros({3}, {boolean, "cpu"}).to_doubles(), (Numbers{0, 0, 0}));
  EXPECT_EQ(tensor<float>({1, 2, 3, 4}, {2, 2}).strides(), (Dims{2, 1}));
  EXPECT_EQ(tensor(std::vector<int>{5, 6}).shape(), (Dims{2}));
  EXPECT_EQ(empty({3, 0, 2}).elements(), 0);
  EXPECT_EQ(full({}, 7).item(), 7);
}

TEST(Tensor, RandomNumbersAreNormalAndRepeatable) {
  Numbers a = randn({10000}, {f64, "cpu"}, 1).to_doubles();
  double mean = std::accumulate(a.begin(), a.end(), 0.0) / 1e4,
         square = std::inner_product(a.begin(), a.end(), a.begin(), 0.0) / 1e4;
  EXPECT_NEAR(mean, 0, 0.05);
  EXPECT_NEAR(square, 1, 0.06);
  EXPECT_EQ(a, randn({10000}, {f64, "cpu"}, 1).to_doubles());
  EXPECT_NE(a, randn({10000}, {f64, "cpu"}, 2).to_doubles());
}

TEST(Tensor, Views) {
  Tensor x = arange(12).reshape({3, 4});
  EXPECT_EQ(x.t().to_doubles(), (Numbers{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(x.slice(1, 1, 4, 2).to_doubles(), (Numbers{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(x.slice(0, -1, -10, -1).to_doubles(), (Numbers{8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}));
  EXPECT_EQ(x.slice(0, 2, 0, -1).to_doubles(), (Numbers{8, 9, 10, 11, 4, 5, 6, 7}));
  EXPECT_EQ(x.slice(1, 5, 9).shape(), (Dims{3, 0}));
  EXPECT_EQ(x.flip(1).slice(0, 0, 1).to_doubles(), (Numbers{3, 2, 1, 0}));
  EXPECT_EQ(x.slice(0, 1, 2).expand({2, 4}).to_doubles(), (Numbers{4, 5, 6, 7, 4, 5, 6, 7}));
  EXPECT_EQ(x.unsqueeze(1).permute({2, 1, 0}).shape(), (Dims{4, 1, 3}));
  EXPECT_EQ(x.unsqueeze(-1).squeeze(-1).shape(), (Dims{3, 4}));
  EXPECT_EQ(x.slice(0, 1, 3).offset(), 4);
  EXPECT_EQ(x.as_strided({2, 2}, {5, 1}, 1).to_doubles(), (Numbers{1, 2, 6, 7}));
}

TEST(Tensor, ReshapeWhereStridesCanSayIt) {
  Tensor x = arange(24);
  EXPECT_EQ(x.reshape({2, -1}).shape(), (Dims{2, 12}));
  EXPECT_EQ(x.reshape({2, 3, 4}).reshape({6, 4}).strides(), (Dims{4, 1}));
  EXPECT_EQ(x.slice(0, 0, 24, 2).reshape({3, 4}).strides(), (Dims{8, 2}));
  EXPECT_EQ(x.reshape({4, 6}).slice(1, 0, 3).reshape({2, 2, 3}).strides(), (Dims{12, 6, 1}));
  EXPECT_EQ(x.reshape({4, 6}).slice(1, 0, 3).reshape({2, 2, 3}).to_doubles(), x.reshape({4, 6}).slice(1, 0, 3).to_doubles());
  EXPECT_EQ(x.slice(0, 3, 4).reshape({1, 1}).item(), 3);
  EXPECT_EQ(x.slice(0, 3, 4).reshape({}).item(), 3);
  EXPECT_EQ(empty({0, 3}).reshape({3, 0, 7}).shape(), (Dims{3, 0, 7}));
  EXPECT_NE(error_of([&] { x.reshape({4, 6}).t().reshape({24}); }).find("without a copy"), std::string::npos);
  EXPECT_NE(error_of([&] { x.reshape({5, 5}); }).find("has 24 elements"), std::string::npos);
}

TEST(Tensor, ViewsKeepTheMemoryAlive) {
  Tensor row = [] { return arange(6).reshape({2, 3}).slice(0, 1, 2); }();
  EXPECT_EQ(row.to_doubles(), (Numbers{3, 4, 5}));
}

TEST(Tensor, MistakesAreUserErrors) {
  EXPECT_NE(error_of([] { empty({-1}); }).find("negative size"), std::string::npos);
  EXPECT_NE(error_of([] { empty({int64_t{1} << 40, int64_t{1} << 40}); }).find("more than 2^63 bytes"), std::string::npos);
  EXPECT_NE(error_of([] { arange(3).slice(1, 0, 1); }).find("slice: axis 1 is out of range for a tensor of shape (3)"),
            std::string::npos);
  EXPECT_NE(error_of([] { arange(3).slice(0, 0, 1, 0); }).find("the step is 0"), std::string::npos);
  EXPECT_NE(error_of([] { arange(3).expand({4}); }).find("does not expand to (4)"), std::string::npos);
  EXPECT_NE(error_of([] { arange(12).reshape({3, 4}).expand({4}); }).find("which has fewer axes"), std::string::npos);
  EXPECT_NE(error_of([] { arange(6).reshape({2, 3}).permute({0, 0}); }).find("no permutation"), std::string::npos);
  EXPECT_NE(error_of([] { arange(3).data<double>(); }).find("a tensor of f32 is read as f64"), std::string::npos);
  EXPECT_NE(error_of([] { arange(3).item(); }).find("expected one"), std::string::npos);
  EXPECT_NE(error_of([] { arange(6).as_strided({4}, {2}); }).find("leaves the tensor's 6 elements"), std::string::npos);
  EXPECT_NE(error_of([] { tensor<float>({1, 2}, {3}); }).find("2 values for shape (3)"), std::string::npos);
  EXPECT_NE(error_of([] { TensorView(nullptr, f32, {3}); }).find("pointer is null"), std::string::npos);
  EXPECT_NE(error_of([] { empty({2}, {f32, "abacus"}); }).find("no device abacus"), std::string::npos);
  alignas(8) char bytes[16];
  EXPECT_NE(error_of([&] { TensorView(bytes + 1, f32, {2}); }).find("no multiple of 4 bytes"), std::string::npos);
  EXPECT_NE(error_of([] { empty(Dims::filled(32, 1)).unsqueeze(0); }).find("at most 32"), std::string::npos);
}

TEST(Tensor, WhatWasMovedFromStillShowsItsMemory) {
  Tensor a = arange(4);
  { Tensor b = std::move(a); }
  EXPECT_EQ(a.slice(0, 2, 4).to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(a.offset(), 0);
}

TEST(Tensor, QuotientsByZeroAndMinusOne) {
  EXPECT_EQ(cdiv(5, 0), 0);
  EXPECT_EQ(cdiv(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(cdiv(7, 2), 4);
  EXPECT_EQ(cdiv(-7, 2), -3);
}

TEST(Tensor, SizesDoNotWrap) {
  char byte = 0;
  EXPECT_EQ(TensorView(&byte, u8, {int64_t{1} << 30, 2}, {0, 0}).elements(), int64_t{1} << 31);
  EXPECT_EQ(TensorView(&byte, u8, {524290, 64, 64, 1}, {0, 0, 0, 0}).elements(), 2147491840);
}

TEST(Tensor, Text) {
  EXPECT_EQ(to_string(arange(6).reshape({2, 3})), "[[0.0, 1.0, 2.0],\n [3.0, 4.0, 5.0]] f32(2, 3)");
  EXPECT_EQ(to_string(tensor<bool>({true, false})), "[true, false] bool(2)");
  EXPECT_EQ(to_string(full({}, -3, {i8, "cpu"})), "-3 i8()");
  EXPECT_EQ(to_string(tensor<int64_t>({INT64_MIN, INT64_MAX})), "[-9223372036854775808, 9223372036854775807] i64(2)");
  EXPECT_EQ(to_string(arange(2000, {i32, "cpu"})), "[0, 1, 2, ..., 1997, 1998, 1999] i32(2000)");
  EXPECT_EQ(to_string(arange(8, {u8, "cpu"}).reshape({2, 2, 2})), "[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]] u8(2, 2, 2)");
}

class OnDevice : public testing::TestWithParam<std::string> {};

TEST_P(OnDevice, CopiesKeepStridesAndElements) {
  Tensor x = arange(60).reshape({3, 4, 5});
  for (const Tensor& v :
       {x, x.permute({2, 0, 1}), x.flip(1).slice(2, 0, 5, 2), x.slice(0, 1, 2).expand({7, 4, 5}), x.slice(0, 1, 1)}) {
    Tensor there = v.to(GetParam());
    EXPECT_EQ(there.device(), GetParam());
    EXPECT_EQ(there.strides(), v.strides());
    EXPECT_EQ(there.to_doubles(), v.to_doubles());
    EXPECT_EQ(there.to_host().to_doubles(), v.to_doubles());
  }
  EXPECT_EQ(zeros({5}, {i64, GetParam()}).to_vector<int64_t>(), std::vector<int64_t>(5));
}

INSTANTIATE_TEST_SUITE_P(All, OnDevice, testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

}  // namespace
}  // namespace strider::test
