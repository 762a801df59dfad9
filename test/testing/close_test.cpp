// SPDX-License-Identifier: Apache-2.0
// assert_close: what it accepts, and what it says of the rest.
#include <strider/testing/close.h>

#include <gtest/gtest.h>

#include <limits>

#include "support/errors.h"

#include <strider/strider.h>

namespace strider {
namespace {

using support::error_of;
using strider::testing::assert_close;
using strider::testing::CloseOptions;
using strider::testing::CloseReport;
using strider::testing::compare;
using strider::testing::ulp_distance;

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

bool are_close(float a, float b, const CloseOptions& options) {
  return compare(tensor<float>({a}), tensor<float>({b}), options).is_close();
}

TEST(AssertClose, BothTolerancesAdd) {
  EXPECT_TRUE(are_close(1.5f, 1, {.rtol = 0.25, .atol = 0.25}));
  EXPECT_FALSE(are_close(1.5f, 1, {.rtol = 0.25, .atol = 0.2}));
  EXPECT_TRUE(are_close(5, 4, {.rtol = 0.25, .atol = 0})) << "relative to what is expected";
  EXPECT_FALSE(are_close(4, 5, {.rtol = 0.19, .atol = 0}));
}

TEST(AssertClose, TolerancesFollowTheDtype) {
  for (DType dtype : {f16, bf16, f32, f64}) {
    double rtol = strider::testing::default_rtol(dtype);
    Tensor expected = full({4}, 1024.0, {dtype});
    EXPECT_TRUE(compare(expected.to(f64) * (1 + rtol * 0.5), expected.to(f64), {.rtol = rtol, .atol = 0}).is_close());
    Tensor off = (expected.to(f64) * (1 + 3 * rtol + 2e-7)).to(dtype);
    EXPECT_EQ(compare(off, expected).far, 4) << name_of(dtype);
  }
  EXPECT_FALSE(compare(tensor<int32_t>({1000001}), tensor<int32_t>({1000000})).is_close());
}

TEST(AssertClose, TheAbsoluteToleranceFollowsTheNumbers) {
  EXPECT_FALSE(compare(tensor<double>({1, 2e-13}), tensor<double>({1, 0})).is_close()) << "1e12 steps and more from 0";
  EXPECT_TRUE(compare(tensor<double>({1, 0.5e-13}), tensor<double>({1, 0})).is_close()) << "what 1 - 1 may leave";
  EXPECT_FALSE(are_close(2e-6f, 1e-6f, {})) << "all numbers are small: 1e-4 of them counts";
  EXPECT_TRUE(compare(tensor<float>({1, 2e-6f}), tensor<float>({1, 1e-6f})).is_close());
  EXPECT_FALSE(are_close(kInf, 1e-6f, {}));
  EXPECT_FALSE(compare(tensor<float>({kInf, 2e-6f}), tensor<float>({kInf, 1e-6f})).is_close()) << "infinity is no magnitude";
}

TEST(AssertClose, SpecialValues) {
  EXPECT_TRUE(are_close(kInf, kInf, {}));
  EXPECT_FALSE(are_close(kInf, -kInf, {}));
  EXPECT_FALSE(are_close(3e38f, kInf, {.rtol = 1}));
  EXPECT_FALSE(are_close(kInf, 3e38f, {.rtol = 1}));
  EXPECT_FALSE(are_close(kNan, kNan, {}));
  EXPECT_TRUE(are_close(kNan, kNan, {.equal_nan = true}));
  EXPECT_FALSE(are_close(1, kNan, {.equal_nan = true}));
  EXPECT_FALSE(are_close(kNan, 1, {.rtol = 1, .max_ulp = UINT64_MAX, .equal_nan = true}));
  EXPECT_TRUE(are_close(-0.0f, 0.0f, {.rtol = 0, .atol = 0}));
}

TEST(AssertClose, Ulp) {
  float next = std::nextafter(1.0f, 2.0f), third = std::nextafter(std::nextafter(next, 2.0f), 2.0f);
  EXPECT_TRUE(are_close(next, 1, {.max_ulp = 1}));
  EXPECT_FALSE(are_close(third, 1, {.max_ulp = 2}));
  EXPECT_TRUE(are_close(third, 1, {.max_ulp = 3}));
  EXPECT_EQ(compare(tensor<float>({third}), tensor<float>({1})).max_ulp, 3u);
}

TEST(AssertClose, UlpsAreStepsOfTheDtype) {
  EXPECT_EQ(ulp_distance(f16, 0x3c00, 0x3c01), 1u);
  EXPECT_EQ(ulp_distance(f16, 0x8000, 0), 0u);
  EXPECT_EQ(ulp_distance(f16, 0x8001, 0x0001), 2u) << "the least subnormals are two steps apart";
  EXPECT_EQ(ulp_distance(bf16, 0x7f80, 0x7f7f), 1u) << "infinity is one step above the greatest number";
  EXPECT_EQ(ulp_distance(f32, 0x7fc00000, 0x7fc00001), 0u);
  EXPECT_EQ(ulp_distance(f64, 0x7ff8000000000000, 0), UINT64_MAX);
  EXPECT_EQ(ulp_distance(i8, 0xff, 1), 2u);
  EXPECT_EQ(ulp_distance(i64, uint64_t{1} << 63, INT64_MAX), UINT64_MAX);
  EXPECT_EQ(ulp_distance(u64, UINT64_MAX, 1), UINT64_MAX - 1);
}

TEST(AssertClose, TheReferenceIsRoundedToTheDtypeThatIsAskedFor) {
  Tensor exact = tensor<double>({0.1, 1e30, 0.2}), half = exact.to(f16);
  EXPECT_TRUE(compare(half, exact, {.rtol = 0, .atol = 0, .dtype = f16}).is_close());
  EXPECT_EQ(compare(half, exact).text(), "the result is f16, expected f64");
  EXPECT_EQ(compare(exact, exact, {.dtype = f16}).text(), "the result is f64, expected f16");
}

TEST(AssertClose, SumsMayBeOffByMore) {
  EXPECT_FALSE(are_close(10.01f, 10, {}));
  EXPECT_TRUE(are_close(10.01f, 10, {.summands = 1000}));
}

TEST(AssertClose, ShowsTheWorstPlaces) {
  Tensor expected = full({2, 4}, 2.0f), actual = expected.clone();
  actual.select(0, 1).select(0, 2).copy_from(full({}, 2.5f));
  actual.select(0, 0).select(0, 3).copy_from(full({}, kNan));
  actual.select(0, 1).select(0, 0).copy_from(full({}, 2.001f));
  CloseReport report = compare(actual, expected, {.rtol = 0, .atol = 1e-4, .places = 2});
  EXPECT_EQ(report.far, 3);
  ASSERT_EQ(report.worst.size(), 2u);
  EXPECT_EQ(report.worst[0].index, (Dims{0, 3})) << "NaN is the worst";
  EXPECT_EQ(report.worst[1].index, (Dims{1, 2}));
  EXPECT_EQ(report.worst[1].absolute, 0.5);
  EXPECT_EQ(report.worst[1].relative, 0.25);
  EXPECT_EQ(report.worst[1].ulp, uint64_t{1} << 21);
  EXPECT_EQ(
      report.text(),
      "3 of 8 elements (37.5 %) of f32 are not close (rtol 0, atol 0.0001): at most 0.5 absolute, 0.25 relative, 2097152 ulp "
      "apart; the worst are\n"
      "  index   actual  expected  absolute  relative      ulp\n"
      "  (0, 3)     nan       2.0       nan       nan        -\n"
      "  (1, 2)     2.5       2.0       0.5      0.25  2097152\n");
}

TEST(AssertClose, KeepsTheWorstOfManyThreads) {
  Tensor expected = zeros({1 << 18}), actual = zeros({1 << 18});
  for (int64_t i : {5, 70000, 131072, 200000, 262143}) actual.narrow(0, i, 1).copy_from(full({1}, static_cast<float>(i)));
  CloseReport report = compare(actual, expected, {.places = 3});
  EXPECT_EQ(report.far, 5);
  ASSERT_EQ(report.worst.size(), 3u);
  EXPECT_EQ(report.worst[0].index, Dims{262143});
  EXPECT_EQ(report.worst[2].index, Dims{131072});
}

TEST(AssertClose, ReadsAnyLayout) {
  Tensor x = randn({16, 24});
  EXPECT_TRUE(compare(x.t(), x.t().contiguous(), {.rtol = 0, .atol = 0}).is_close());
  EXPECT_FALSE(compare(x.t(), x.reshape({24, 16})).is_close());
}

TEST(AssertClose, ThrowsWhatItSays) {
  EXPECT_NO_THROW(assert_close(zeros({3}), zeros({3})));
  EXPECT_NO_THROW(assert_close(zeros({0, 3}), zeros({0, 3})));
  EXPECT_EQ(compare(zeros({0, 3}), zeros({0, 3})).text(), "there are no elements");
  EXPECT_EQ(error_of([] { assert_close(zeros({0, 3}), zeros({3, 0})); }), "the result has shape (0, 3), expected (3, 0)");
  EXPECT_EQ(error_of([] { assert_close(zeros({2}), zeros({3}), {}, "abs of f32"); }),
            "abs of f32: the result has shape (2), expected (3)");
  EXPECT_NE(error_of([] { assert_close(zeros({2}), full({2}, 1.0f)); }).find("2 of 2 elements (100 %)"), std::string::npos);
  EXPECT_NE(error_of([] { compare(zeros({2}), zeros({2}), {.rtol = -1}); }).find("-1"), std::string::npos);
  EXPECT_NE(error_of([] { compare(zeros({2}), zeros({2}), {.summands = 0}); }).find("0 summands"), std::string::npos);
}

}  // namespace
}  // namespace strider
