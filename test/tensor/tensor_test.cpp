// SPDX-License-Identifier: Apache-2.0
// Tensors: memory, views, copies between devices, text.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <sys/mman.h>

#include <strider/device.h>
#include <strider/error.h>
#include <strider/tensor.h>

#include "support/errors.h"

namespace strider::test {
namespace {

using support::error_of;

using Numbers = std::vector<double>;

TEST(Tensor, Factories) {
  EXPECT_EQ(arange(4, {i16, "cpu"}).to_vector<int16_t>(), (std::vector<int16_t>{0, 1, 2, 3}));
  EXPECT_EQ(full({2, 2}, 1.5, {f16, "cpu"}).to_doubles(), (Numbers{1.5, 1.5, 1.5, 1.5}));
  EXPECT_EQ(zeros({3}, {boolean, "cpu"}).to_doubles(), (Numbers{0, 0, 0}));
  EXPECT_EQ(tensor<float>({1, 2, 3, 4}, {2, 2}).strides(), (Dims{2, 1}));
  EXPECT_EQ(tensor(std::vector<int>{5, 6}).shape(), (Dims{2}));
  EXPECT_EQ(empty({3, 0, 2}).elements(), 0);
  EXPECT_EQ(full({}, 7).item(), 7);
  EXPECT_EQ(tensor<bool>({true, false}).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(tensor(std::vector<bool>{false, true}).to_vector<bool>(), (std::vector<bool>{false, true}));
}

TEST(Tensor, FullKeepsSixtyFourBits) {
  EXPECT_EQ(full({}, INT64_MIN, {i64, "cpu"}).item<int64_t>(), INT64_MIN);
  EXPECT_EQ(full({}, INT64_MAX, {i64, "cpu"}).item<int64_t>(), INT64_MAX);
  EXPECT_EQ(full({}, UINT64_MAX, {u64, "cpu"}).item<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(full({}, (int64_t{1} << 53) + 1, {u64, "cpu"}).item<uint64_t>(), (uint64_t{1} << 53) + 1);
  EXPECT_EQ(full({3}, 3.1415926, {f64, "cpu"}).to_doubles(), Numbers(3, 3.1415926));
  EXPECT_EQ(full({}, UINT64_MAX, {f32, "cpu"}).item<float>(), 0x1p64f);
  EXPECT_EQ(full({}, true, {i8, "cpu"}).item<int8_t>(), 1);
  EXPECT_EQ(full({}, 0.5, {boolean, "cpu"}).item<bool>(), true);
}

TEST(Tensor, FullConvertsAsToDoes) {
  for (double value : {-1.0, -2.0, 255.0, 256.0, 300.5, -128.5, 1.541, -0.2934, 3e9, -3e9, 1e300, double(NAN), double(INFINITY)})
    for (int k = 0; k < kDTypeCount; ++k) {
      Tensor made = full({2}, value, {dtype_at(k), "cpu"}), converted = full({2}, value, {f64, "cpu"}).to(dtype_at(k));
      if (std::isfinite(value) || !is_int(dtype_at(k))) {
        EXPECT_EQ(made.to_bits(), converted.to_bits()) << value << name_of(dtype_at(k));
      }
    }
  EXPECT_EQ(full({}, -1.0, {u8, "cpu"}).item(), 255);
  EXPECT_EQ(full({}, 300.5, {u8, "cpu"}).item(), 44);
  EXPECT_EQ(full({}, 129.0, {i8, "cpu"}).item(), -127);
  EXPECT_EQ(full({}, 300, {u8, "cpu"}).item(), 44);
}

TEST(Tensor, ArangeWithBounds) {
  EXPECT_EQ(arange(2, 10, 3, {i32, "cpu"}).to_doubles(), (Numbers{2, 5, 8}));
  EXPECT_EQ(arange(2, 11, 3).to_doubles(), (Numbers{2, 5, 8}));
  EXPECT_EQ(arange(5, 0, -2).to_doubles(), (Numbers{5, 3, 1}));
  EXPECT_EQ(arange(5, 5).shape(), (Dims{0}));
  EXPECT_EQ(arange(5, 2).shape(), (Dims{0}));
  EXPECT_EQ(arange(0.0, 1.0, 0.25, {f64, "cpu"}).to_doubles(), (Numbers{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(arange(0, 1, 0.1, {f64, "cpu"}).elements(), 10);
  EXPECT_EQ(arange(0, 1, 0.1, {f64, "cpu"}).to_doubles()[3], 3 * 0.1);
  EXPECT_EQ(arange(1, -1, -0.5).to_doubles(), (Numbers{1, 0.5, 0, -0.5}));
  EXPECT_EQ(arange(INT64_MAX - 2, INT64_MAX, 1, {i64, "cpu"}).to_vector<int64_t>(),
            (std::vector<int64_t>{INT64_MAX - 2, INT64_MAX - 1}));
  EXPECT_EQ(arange(INT64_MIN, INT64_MAX, INT64_MAX, {i64, "cpu"}).to_vector<int64_t>(),
            (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_EQ(arange(UINT64_MAX - 1, UINT64_MAX, 1, {u64, "cpu"}).to_vector<uint64_t>(), (std::vector<uint64_t>{UINT64_MAX - 1}));
  EXPECT_NE(error_of([] { arange(0, 3, 0); }).find("the step is 0"), std::string::npos);
  EXPECT_NE(error_of([] { arange(0, 3, 0.0); }).find("the step is 0"), std::string::npos);
  EXPECT_NE(error_of([] { arange(0, INFINITY, 1); }).find("expected finite numbers"), std::string::npos);
  EXPECT_NE(error_of([] { arange(0, 1, 1e-300); }).find("fewer than 2^62"), std::string::npos);
  EXPECT_NE(error_of([] { arange(INT64_MIN, INT64_MAX); }).find("more than 2^63"), std::string::npos);
}

TEST(Tensor, UniformNumbersLieInRange) {
  for (DType t : {f16, bf16, f32, f64}) {
    Numbers a = rand({20000}, {t, "cpu"}, 1).to_doubles();
    EXPECT_GE(*std::min_element(a.begin(), a.end()), 0) << name_of(t);
    EXPECT_LT(*std::max_element(a.begin(), a.end()), 1) << name_of(t);
    EXPECT_NEAR(std::accumulate(a.begin(), a.end(), 0.0) / 2e4, 0.5, 0.02) << name_of(t);
    EXPECT_EQ(a, rand({20000}, {t, "cpu"}, 1).to_doubles());
    EXPECT_NE(a, rand({20000}, {t, "cpu"}, 2).to_doubles());
  }
  EXPECT_NE(error_of([] { rand({2}, {i32, "cpu"}); }).find("expected floats"), std::string::npos);
}

TEST(Tensor, RandomIntegersLieInRange) {
  Numbers a = randint({6000}, -3, 3, {i8, "cpu"}, 1).to_doubles();
  for (double value = -3; value < 3; ++value) EXPECT_NEAR(static_cast<double>(std::count(a.begin(), a.end(), value)), 1000, 150);
  EXPECT_EQ(std::count_if(a.begin(), a.end(), [](double x) { return x < -3 || x >= 3; }), 0);
  EXPECT_EQ(randint({}, INT64_MAX - 1, INT64_MAX).item<int64_t>(), INT64_MAX - 1);
  EXPECT_NE(error_of([] { randint({2}, 3, 3); }).find("no integers lie in [3, 3)"), std::string::npos);
}

TEST(Tensor, SixteenBitFloatsAsValues) {
  EXPECT_EQ(Half::from(0.1f).bits, 0x2e66);
  EXPECT_EQ(Half::from(0.1f).to_float(), 0.0999755859375f);
  EXPECT_EQ(Half::from(65520).to_float(), INFINITY);
  EXPECT_EQ(BFloat16::from(0.2691408770292272f).to_float(), 0.26953125f);
  EXPECT_EQ(BFloat16::from(1.00390625f).to_float(), 1.0f);
  EXPECT_EQ(BFloat16::from(1.01171875f).to_float(), 1.015625f);
  EXPECT_TRUE(std::isnan(BFloat16::from(std::bit_cast<float>(0x7f800001)).to_float()));
  EXPECT_EQ(tensor<Half>({Half::from(1.5f), Half::from(-2)}).to_doubles(), (Numbers{1.5, -2}));
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

TEST(Tensor, MoreViews) {
  Tensor x = arange(24).reshape({2, 3, 4});
  EXPECT_EQ(x.select(1, -1).to_doubles(), (Numbers{8, 9, 10, 11, 20, 21, 22, 23}));
  EXPECT_EQ(x.select(0, 1).select(0, 2).select(0, 3).item(), 23);
  EXPECT_EQ(x.narrow(2, 1, 2).shape(), (Dims{2, 3, 2}));
  EXPECT_EQ(x.narrow(2, 4, 0).shape(), (Dims{2, 3, 0}));
  EXPECT_EQ(x.movedim(0, -1).shape(), (Dims{3, 4, 2}));
  EXPECT_EQ(x.movedim(2, 0).strides(), (Dims{1, 12, 4}));
  EXPECT_EQ(x.flatten().shape(), (Dims{24}));
  EXPECT_EQ(x.flatten(1).shape(), (Dims{2, 12}));
  EXPECT_EQ(x.flatten(0, 1).strides(), (Dims{4, 1}));
  EXPECT_EQ(full({}, 3).flatten().shape(), (Dims{1}));
  EXPECT_EQ(empty({2, 0, 3}).flatten().shape(), (Dims{0}));
  EXPECT_EQ(empty({1, 3, 1, 2, 1}).squeeze().shape(), (Dims{3, 2}));
  EXPECT_EQ(full({1, 1}, 4).squeeze().item(), 4);
  EXPECT_EQ(x.narrow(0, 0, 1).expand({5, -1, -1}).shape(), (Dims{5, 3, 4}));
  EXPECT_EQ(x.slice(2, 0, 4, 3).offset(), 0);
  EXPECT_EQ(x.flip(2).offset(), 3);
  EXPECT_NE(error_of([&] { x.select(1, 3); }).find("index 3 is out of range for axis 1"), std::string::npos);
  EXPECT_NE(error_of([&] { x.select(1, INT64_MIN); }).find("out of range"), std::string::npos);
  EXPECT_NE(error_of([&] { x.narrow(2, 3, 2); }).find("2 elements from 3 on leave axis 2"), std::string::npos);
  EXPECT_NE(error_of([&] { x.narrow(2, INT64_MAX, INT64_MAX); }).find("leave axis 2"), std::string::npos);
  EXPECT_NE(error_of([&] { x.flatten(2, 1); }).find("comes after"), std::string::npos);
  EXPECT_NE(error_of([&] { x.t().flatten(1); }).find("without a copy"), std::string::npos);
  EXPECT_NE(error_of([&] { x.expand({-1, 2, 3, 4}); }).find("negative size"), std::string::npos);
}

TEST(Tensor, ReadOnlyViewsStaySo) {
  Tensor x = arange(4), r = x.read_only();
  EXPECT_FALSE(x.is_read_only());
  EXPECT_TRUE(r.slice(0, 0, 2).unsqueeze(0).as_strided({1}, {1}).is_read_only());
  EXPECT_NE(error_of([&] { out(r); }).find("is read-only"), std::string::npos);
  EXPECT_NE(error_of([&] { r.copy_from(x); }).find("is read-only"), std::string::npos);
  EXPECT_FALSE(r.clone().is_read_only());
  EXPECT_EQ(r.to_doubles(), (Numbers{0, 1, 2, 3}));
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
  for (int number : {kDTypeCount, 200, 255}) {
    auto unknown = static_cast<DType>(number);
    std::string wanted = "there is no dtype number " + std::to_string(number);
    EXPECT_NE(error_of([&] { empty({2}, {unknown, "cpu"}); }).find(wanted), std::string::npos);
    EXPECT_NE(error_of([&] { zeros({0}, {unknown, "cpu"}); }).find(wanted), std::string::npos);
    EXPECT_NE(error_of([&] { full({2}, 1, {unknown, "cpu"}); }).find(wanted), std::string::npos);
    EXPECT_NE(error_of([&] { rand({2}, {unknown, "cpu"}); }).find(wanted), std::string::npos);
    EXPECT_NE(error_of([&] { arange(3, {unknown, "cpu"}); }).find(wanted), std::string::npos);
    EXPECT_NE(error_of([&] { arange(3).to(unknown); }).find(wanted), std::string::npos);
    EXPECT_NE(error_of([&] { TensorView(bytes, unknown, {1}); }).find(wanted), std::string::npos);
  }
  EXPECT_NE(error_of([] { empty_strided({2, 2}, {1}); }).find("differ in rank"), std::string::npos);
}

TEST(Tensor, MemoryThatIsNotThereIsAnError) {
  try {
    empty({1 << 20, 1 << 20, 1 << 10});
    ADD_FAILURE() << "no machine has 4 PiB";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Driver);
    EXPECT_NE(std::string(e.what()).find("f32 of shape (1048576, 1048576, 1024) needs 4503599627370496 bytes"), std::string::npos)
        << e.what();
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their operator new ends the process
  Tensor large = full({}, 1).expand({int64_t{1} << 50});
  EXPECT_NE(error_of([&] { large.to_vector<float>(); }).find("too many for a vector"), std::string::npos);
  EXPECT_NE(error_of([&] { large.to_bits(); }).find("too many for a vector"), std::string::npos);
#endif
}

TEST(Tensor, AsStridedDoesNotOverflow) {
  Tensor x = arange(6);
  for (int64_t offset : {INT64_MAX, INT64_MIN, int64_t{-1}, int64_t{7}}) {
    EXPECT_NE(error_of([&] { x.as_strided({0}, {1}, offset); }).find("leaves the tensor's 6 elements"), std::string::npos);
    EXPECT_NE(error_of([&] { x.as_strided({}, {}, offset); }).find("leaves the tensor's 6 elements"), std::string::npos);
    EXPECT_NE(error_of([&] { x.as_strided({2}, {-1}, offset); }).find("leaves the tensor's 6 elements"), std::string::npos);
  }
  EXPECT_NE(error_of([&] { x.as_strided({}, {}, 6); }).find("leaves"), std::string::npos);
  EXPECT_EQ(x.as_strided({0, 3}, {INT64_MAX, INT64_MIN}, 6).elements(), 0);
  EXPECT_EQ(x.as_strided({1}, {INT64_MIN}, 5).item(), 5);
  EXPECT_EQ(x.as_strided({3}, {-2}, 4).to_doubles(), (Numbers{4, 2, 0}));
  EXPECT_NE(error_of([&] { x.as_strided({2}, {INT64_MAX}); }).find("2^59"), std::string::npos);
  EXPECT_NE(error_of([&] { x.as_strided({2, 2}, {1}); }).find("differ in rank"), std::string::npos);
}

TEST(Tensor, StridesThatLeadNowhereMayBeOfAnySize) {
  Tensor x = arange(6).as_strided({1, 0, 1}, {INT64_MIN, INT64_MAX, INT64_MIN});
  EXPECT_EQ(x.flip(0).flip(1).slice(2, 0, 1, -3).unsqueeze(1).elements(), 0);
  EXPECT_EQ(arange(6).as_strided({1}, {INT64_MIN}).flip(0).unsqueeze(0).item(), 0);
  EXPECT_EQ(x.t().reshape({0, 5}).shape(), (Dims{0, 5}));
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
  EXPECT_EQ(TensorView(&byte, u8, {int64_t{1} << 30, 2}).flatten().shape(), (Dims{int64_t{1} << 31}));
  EXPECT_EQ(TensorView(&byte, u8, {524290, 64, 64, 1}).flatten().shape(), (Dims{2147491840}));
  EXPECT_NE(error_of([&] { TensorView(&byte, u8, {int64_t{1} << 40, int64_t{1} << 40}); }).find("2^63"), std::string::npos);
  EXPECT_NE(error_of([&] { full({}, 1).expand({int64_t{1} << 40, int64_t{1} << 40}); }).find("2^63"), std::string::npos);
  EXPECT_NE(error_of([] {
              arange(6).reshape({int64_t{1} << 40, int64_t{1} << 40, -1});
            }).find("negative size"),
            std::string::npos);
}

TEST(Tensor, ViewsOfLazilyMappedMemory) {
  constexpr int64_t kStride = (int64_t{1} << 30) + 1, kBytes = 2 * kStride + 1;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<uint8_t*>(memory);
  for (int k = 0; k < 3; ++k) bytes[k * kStride] = static_cast<uint8_t>(k + 7);
  TensorView view(memory, u8, {3}, {kStride});
  EXPECT_EQ(view.to_vector<uint8_t>(), (std::vector<uint8_t>{7, 8, 9}));
  EXPECT_EQ(view.flip(0).contiguous().to_vector<uint8_t>(), (std::vector<uint8_t>{9, 8, 7}));
  EXPECT_EQ(view.to(i32).to_vector<int32_t>(), (std::vector<int32_t>{7, 8, 9}));
  EXPECT_EQ(to_string(view.slice(0, 1, 3)), "[8, 9] u8(2)");
  view.copy_from(tensor<uint8_t>({1, 2, 3}));
  EXPECT_EQ(bytes[2 * kStride], 3);
  munmap(memory, kBytes);
}

class OnDevice : public ::testing::TestWithParam<std::string> {};

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

INSTANTIATE_TEST_SUITE_P(All, OnDevice, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

}  // namespace
}  // namespace strider::test
