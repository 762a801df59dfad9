// SPDX-License-Identifier: Apache-2.0
// Tensors as text. Expected texts are those of NumPy 2.2, numpy.array2string(x, separator=", "), with "true" and "false".
#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <sstream>

#include <strider/device.h>
#include <strider/tensor.h>

namespace strider::test {
namespace {

std::string floats(DType dtype, std::vector<double> values) { return to_string(tensor(values).to(dtype)); }

TEST(TensorText, Brackets) {
  EXPECT_EQ(to_string(arange(6).reshape({2, 3})), "[[0., 1., 2.],\n [3., 4., 5.]] f32(2, 3)");
  EXPECT_EQ(to_string(arange(8, {u8, "cpu"}).reshape({2, 2, 2})), "[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]] u8(2, 2, 2)");
  EXPECT_EQ(to_string(arange(8, {u8, "cpu"}).reshape({2, 1, 2, 2})),
            "[[[[0, 1],\n   [2, 3]]],\n\n\n [[[4, 5],\n   [6, 7]]]] u8(2, 1, 2, 2)");
  EXPECT_EQ(to_string(empty({3, 0})), "[] f32(3, 0)");
  EXPECT_EQ(to_string(empty({0}, {boolean, "cpu"})), "[] bool(0)");
  std::ostringstream stream;
  stream << arange(2, {i8, "cpu"});
  EXPECT_EQ(stream.str(), "[0, 1] i8(2)");
}

TEST(TensorText, ZeroDimensional) {
  EXPECT_EQ(to_string(full({}, -3, {i8, "cpu"})), "-3 i8()");
  EXPECT_EQ(to_string(full({}, 0.1)), "0.1 f32()");
  EXPECT_EQ(to_string(full({}, M_PI, {f64, "cpu"})), "3.141592653589793 f64()");
  EXPECT_EQ(to_string(full({}, -NAN, {f16, "cpu"})), "nan f16()");
  EXPECT_EQ(to_string(full({}, true, {boolean, "cpu"})), "true bool()");
}

TEST(TensorText, IntegersAndBoolAreAlignedOnTheRight) {
  EXPECT_EQ(to_string(tensor<int>({-5, 100, 7})), "[ -5, 100,   7] i32(3)");
  EXPECT_EQ(to_string(tensor<int64_t>({INT64_MIN, INT64_MAX})), "[-9223372036854775808,  9223372036854775807] i64(2)");
  EXPECT_EQ(to_string(tensor<uint64_t>({UINT64_MAX, 0})), "[18446744073709551615,                    0] u64(2)");
  EXPECT_EQ(to_string(tensor<bool>({true, false})), "[ true, false] bool(2)");
  EXPECT_EQ(to_string(tensor<bool>({true, true})), "[true, true] bool(2)");
}

TEST(TensorText, FloatsAreAlignedAtThePoint) {
  EXPECT_EQ(floats(f64, {0.5, -1.25, 3, 100}), "[  0.5 ,  -1.25,   3.  , 100.  ] f64(4)");
  EXPECT_EQ(floats(f64, {1.0 / 3, 2.0 / 3}), "[0.33333333, 0.66666667] f64(2)");
  EXPECT_EQ(floats(f32, {1.0 / 3, 2.0 / 3}), "[0.33333334, 0.6666667 ] f32(2)");
  EXPECT_EQ(floats(f32, {0.1, 0.2}), "[0.1, 0.2] f32(2)");
  EXPECT_EQ(floats(f16, {0.1, 1.0 / 3}), "[0.1   , 0.3333] f16(2)");
  EXPECT_EQ(floats(bf16, {0.1, 1.0 / 3}), "[0.1  , 0.334] bf16(2)");
  EXPECT_EQ(floats(f64, {0.0, -0.0}), "[ 0., -0.] f64(2)");
  EXPECT_EQ(floats(f16, {65504}), "[65504.] f16(1)");
  EXPECT_EQ(floats(f32, {88008112}), "[88008112.] f32(1)");
}

TEST(TensorText, ScientificWhereValuesDifferWidely) {
  EXPECT_EQ(floats(f64, {1e8, 1}), "[1.e+08, 1.e+00] f64(2)");
  EXPECT_EQ(floats(f64, {99999999, 100000}), "[99999999.,   100000.] f64(2)");
  EXPECT_EQ(floats(f64, {1e-5, 0}), "[1.e-05, 0.e+00] f64(2)");
  EXPECT_EQ(floats(f64, {1e-4, 0.1}), "[0.0001, 0.1   ] f64(2)");
  EXPECT_EQ(floats(f64, {0.1, 1000}), "[1.e-01, 1.e+03] f64(2)");
  EXPECT_EQ(floats(f64, {1e100, 1e-200}), "[1.e+100, 1.e-200] f64(2)");
  EXPECT_EQ(floats(f64, {1e100, -1.5}), "[ 1.0e+100, -1.5e+000] f64(2)");
  EXPECT_EQ(floats(f64, {M_PI * 1e10, 1}), "[3.14159265e+10, 1.00000000e+00] f64(2)");
  EXPECT_EQ(floats(f32, {1e10}), "[1.e+10] f32(1)");
  EXPECT_EQ(floats(f16, {6e-8, 1.001}), "[5.960e-08, 1.001e+00] f16(2)");
}

TEST(TensorText, WhatIsNotFinite) {
  EXPECT_EQ(floats(f64, {NAN, INFINITY, -INFINITY, 1.5}), "[ nan,  inf, -inf,  1.5] f64(4)");
  EXPECT_EQ(floats(f64, {NAN}), "[nan] f64(1)");
  EXPECT_EQ(floats(f64, {NAN, 1e10}), "[   nan, 1.e+10] f64(2)");
  EXPECT_EQ(floats(f32, {-INFINITY, NAN}), "[-inf,  nan] f32(2)");
  EXPECT_EQ(floats(f64, {-INFINITY, 10}), "[-inf,  10.] f64(2)");
}

TEST(TensorText, LongRowsAreWrapped) {
  EXPECT_EQ(to_string(arange(30)), "[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13., 14.,\n"
                                   " 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27., 28., 29.] f32(30)");
  EXPECT_EQ(to_string(arange(44, {i32, "cpu"}).reshape({2, 22})),
            "[[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n  18, 19, 20, 21],\n"
            " [22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,\n  40, 41, 42, 43]] i32(2, 22)");
}

TEST(TensorText, TheMiddleOfLongAxesIsLeftOut) {
  EXPECT_EQ(to_string(arange(2000, {i32, "cpu"})), "[   0,    1,    2, ..., 1997, 1998, 1999] i32(2000)");
  EXPECT_EQ(to_string(arange(1000, {u8, "cpu"})).find("..."), std::string::npos);
  EXPECT_EQ(to_string(arange(5000, {i64, "cpu"}).reshape({50, 100}).slice(1, 0, 100, 2)),
            "[[   0,    2,    4, ...,   94,   96,   98],\n"
            " [ 100,  102,  104, ...,  194,  196,  198],\n"
            " [ 200,  202,  204, ...,  294,  296,  298],\n"
            " ...,\n"
            " [4700, 4702, 4704, ..., 4794, 4796, 4798],\n"
            " [4800, 4802, 4804, ..., 4894, 4896, 4898],\n"
            " [4900, 4902, 4904, ..., 4994, 4996, 4998]] i64(50, 50)");
  EXPECT_EQ(to_string(full({}, 1.5).expand({int64_t{1} << 50})), "[1.5, 1.5, 1.5, ..., 1.5, 1.5, 1.5] f32(1125899906842624)");
}

TEST(TensorText, ManyAxesAreCutAsWell) {
  std::string text = to_string(full({}, 1, {u8, "cpu"}).expand(Dims::filled(32, 3)));
  EXPECT_LT(text.size(), 100000u);
  EXPECT_NE(text.find("..."), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '['), std::count(text.begin(), text.end(), ']'));
}

TEST(TensorText, TheLocaleChangesNothing) {
  std::string before = std::setlocale(LC_ALL, nullptr), expected = "[0.5, 1.5] f32(2)";
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) found = found || std::setlocale(LC_ALL, name);
  EXPECT_EQ(floats(f32, {0.5, 1.5}), expected);
  EXPECT_EQ(floats(f32, {1.5e-7, 1e9}), "[1.5e-07, 1.0e+09] f32(2)");
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_TRUE(found);
}

class TextOnDevice : public ::testing::TestWithParam<std::string> {};

TEST_P(TextOnDevice, IsTheSame) {
  std::string where = GetParam() == "cpu" ? "" : " on " + GetParam();
  EXPECT_EQ(to_string(arange(4).reshape({2, 2}).t().to(GetParam())), "[[0., 2.],\n [1., 3.]] f32(2, 2)" + where);
  EXPECT_EQ(to_string(arange(1 << 20, {i32, GetParam()})),
            "[      0,       1,       2, ..., 1048573, 1048574, 1048575] i32(1048576)" + where);
}

INSTANTIATE_TEST_SUITE_P(All, TextOnDevice, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

}  // namespace
}  // namespace strider::test
