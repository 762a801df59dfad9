// SPDX-License-Identifier: Apache-2.0
// cat, stack, pad and ones.
#include <gtest/gtest.h>

#include <strider/strider.h>

#include "support/errors.h"

namespace strider {
namespace {

using Values = std::vector<double>;

using support::error_of;

TEST(Join, CatAlongAnyAxis) {
  Tensor a = arange(6).reshape({2, 3}), b = arange(10, 14).reshape({2, 2});
  EXPECT_EQ(cat({a, b}, 1).to_doubles(), (Values{0, 1, 2, 10, 11, 3, 4, 5, 12, 13}));
  EXPECT_EQ(cat({a, b}, -1).shape(), (Dims{2, 5}));
  EXPECT_EQ(cat({a.t(), b.t()}).to_doubles(), (Values{0, 3, 1, 4, 2, 5, 10, 12, 11, 13}));
  EXPECT_EQ(cat(std::vector<Tensor>{a, a, a}).shape(), (Dims{6, 3}));
  EXPECT_EQ(cat({a, zeros({0, 3}), a.flip(0)}).to_doubles(), (Values{0, 1, 2, 3, 4, 5, 3, 4, 5, 0, 1, 2}));
  EXPECT_TRUE(cat({a.t(), b.t()}).is_contiguous());
}

TEST(Join, DTypesArePromoted) {
  EXPECT_EQ(cat({zeros({1}, {u8}), zeros({1}, {i8})}).dtype(), i16);
  EXPECT_EQ(cat({zeros({1}, {boolean}), zeros({1}, {f16}), zeros({1}, {bf16})}).dtype(), f32);
  for (int k = 0; k < kDTypeCount; ++k) {
    Tensor one = ones({1}, {dtype_at(k)});
    EXPECT_EQ(cat({one, one}).dtype(), dtype_at(k));
    EXPECT_EQ(cat({one, one}).to_doubles(), (Values{1, 1}));
  }
}

TEST(Join, StackAddsAnAxis) {
  Tensor a = arange(3), b = arange(3, 6);
  EXPECT_EQ(stack({a, b}).to_doubles(), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(stack({a, b}, -1).to_doubles(), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(stack({a[0], b[0]}).shape(), (Dims{2}));
  EXPECT_EQ(stack({a, b}, 1).shape(), (Dims{3, 2}));
}

TEST(Join, PadBeginsWithTheLastAxis) {  // as torch.nn.functional.pad
  Tensor a = arange(1, 5).reshape({2, 2});
  EXPECT_EQ(pad(a, {1, 0}).to_doubles(), (Values{0, 1, 2, 0, 3, 4}));
  EXPECT_EQ(pad(a, {0, 1, 1, 0}, 9).to_doubles(), (Values{9, 9, 9, 1, 2, 9, 3, 4, 9}));
  EXPECT_EQ(pad(a, {-1, 1}, -1).to_doubles(), (Values{2, -1, 4, -1}));
  EXPECT_EQ(pad(a, {0, 0, -1, -1}).shape(), (Dims{0, 2}));
  EXPECT_EQ(pad(a.t(), {}).to_doubles(), (Values{1, 3, 2, 4}));
  EXPECT_EQ(pad(tensor<int64_t>({1}), {1, 0}, INT64_MAX).to_vector<int64_t>(), (std::vector<int64_t>{INT64_MAX, 1}));
}

TEST(Join, MistakesAreNamed) {
  Tensor a = zeros({2, 3});
  EXPECT_EQ(error_of([&] { cat(std::vector<Tensor>{}); }), "cat: no tensors");
  EXPECT_EQ(error_of([&] { cat({a, zeros({2, 4})}); }), "cat: tensor 0 has shape (2, 3), tensor 1 has (2, 4): they may differ in axis 0 alone");
  EXPECT_EQ(error_of([&] { stack({a, zeros({2})}); }), "stack: tensor 0 has shape (2, 3), tensor 1 has (2)");
  EXPECT_NE(error_of([&] { cat({a, a}, 2); }).find("cat"), std::string::npos);
  EXPECT_NE(error_of([&] { cat({a[{0, 0}]}); }).find("cat"), std::string::npos);
  EXPECT_NE(error_of([&] { cat({zeros({1}, {u64}), zeros({1}, {i8})}); }), "");
  EXPECT_EQ(error_of([&] { pad(a, {1}); }), "pad: 1 widths, expected two for each axis");
  EXPECT_EQ(error_of([&] { pad(a, {1, 1, 1, 1, 1, 1}); }), "pad: 6 widths for a tensor of shape (2, 3), which has 2 axes");
  EXPECT_EQ(error_of([&] { pad(a, {-2, -2}); }), "pad: the widths -2 and -2 cut more off axis 1 of a tensor of shape (2, 3) than there is");
  EXPECT_EQ(error_of([&] { pad(a, {INT64_MAX, INT64_MAX}); }), "pad: more than 2^63 elements");
  EXPECT_NE(error_of([&] { pad(a, {INT64_MIN, 0}); }), "");
}

}  // namespace
}  // namespace strider
