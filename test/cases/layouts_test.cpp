// SPDX-License-Identifier: Apache-2.0
// Strides, overlap, sizes.
#include "cases/cases.h"

#include <sys/mman.h>

#include <numeric>

namespace strider::cases {
namespace {

TEST(LayoutCases, ReversedViewsAsInputAndAsOutput) {  // mlx#3716
  Tensor x = arange(6), base = zeros({6});
  Tensor reversed = base.flip(0);
  st::ops::add(reversed, st::ops::mul(x.flip(0), 2), st::out(reversed));
  EXPECT_EQ(text(base), "0 2 4 6 8 10");
  Tensor y = st::ops::add(arange(8), 1);
  auto op = pointwise("f", [](auto v) { return st::where(v > 4, v, 0); });
  EXPECT_EQ(text(op(y.flip(0))), "8 7 6 5 0 0 0 0");
}

TEST(LayoutCases, NegativeStridesOnManyThreads) {  // numexpr#63
  Tensor x = arange(600000, {f64}).reshape({300, 1000, 2});
  Tensor view = x.flip(0).permute({2, 0, 1}).slice(0, 0, 1).squeeze(0);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::vector<double> y = st::ops::sub(view, 0.25).to_doubles();
    ASSERT_EQ(y.front(), 597999.75 + 0.0);
    ASSERT_EQ(y.back(), 1997.75);
  }
}

TEST(LayoutCases, AnArrayAndItsTransposeInOneExpression) {  // arrayfire#3660
  Tensor c = tensor<float>({-1, -0.5, 0, 0.5, 1});
  Tensor r = c.reshape({5, 1}) + c.reshape({1, 5});
  EXPECT_EQ(text(r.slice(0, 1, 2)), "-1.5 -1 -0.5 0 0.5");
}

TEST(LayoutCases, ResultsOfTransposedInputsLieAsTheInput) {  // FlagGems PR #4831
  Tensor x = arange(12).reshape({4, 3}).t();
  Tensor y = st::ops::neg(x);
  EXPECT_EQ(y.strides(), (Dims{1, 3}));
  EXPECT_EQ(text(y), "-0 -3 -6 -9 -1 -4 -7 -10 -2 -5 -8 -11");
}

TEST(LayoutCases, WritingToAnExpandedTensorIsAnError) {  // pytorch#17935
  Tensor x = scalar<float>(1).expand({3});
  EXPECT_NE(error_of([&] { st::ops::exp(x, st::out(x)); }).find("share memory"), std::string::npos);
}

TEST(LayoutCases, PartialOverlapIsAnError) {  // numpy#16749; PyTorch's answer
  Tensor a = arange(6), m = arange(9).reshape({3, 3});
  EXPECT_NE(error_of([&] { a.slice(0, 1, 6) += a.slice(0, 0, 5); }).find("shares memory with argument"), std::string::npos);
  EXPECT_NE(error_of([&] { m += m.t(); }).find("shares memory with argument"), std::string::npos);
  EXPECT_EQ(text(a), "0 1 2 3 4 5");
}

TEST(LayoutCases, DisjointElementsMayInterleave) {
  Tensor x = arange(6);
  x.slice(0, 0, 6, 2) += x.slice(0, 1, 6, 2);
  EXPECT_EQ(text(x), "1 1 5 3 9 5");
}

TEST(LayoutCases, AnOutputThatIsAnInput) {  // numexpr#137
  Tensor a = arange(100, {f64}).reshape({10, 10}), b = zeros({10, 10}, {f64});
  auto op = pointwise("f", [](auto x, auto y) { return x * 100 + x - y; });
  op(a, b, st::out(b));
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(b.to_doubles()[static_cast<size_t>(i)], 101.0 * static_cast<double>(i));
  Tensor c = tensor<float>({1, 1});
  st::ops::add_scaled(c, 2, st::arg("alpha", 2), st::out(c));
  EXPECT_EQ(text(c), "5 5");
}

TEST(LayoutCases, RaggedEndsInPlaceAreDoneOnce) {  // dotnet/runtime PR #92820
  for (int64_t n = 1; n <= 67; ++n) {
    Tensor x = arange(n);
    x += 1;
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(x.to_doubles()[static_cast<size_t>(i)], static_cast<double>(i + 1)) << n;
  }
}

TEST(LayoutCases, ZeroSizes) {  // FlagGems PR #335
  int64_t before = st::stats().compiles;
  auto op = pointwise("f", [](auto x, auto y) { return x + y; });
  EXPECT_EQ(op(empty({0, 1, 3}), empty({0, 10, 3})).shape(), (Dims{0, 10, 3}));
  EXPECT_EQ(op(empty({0, 1}), empty({1, 3})).shape(), (Dims{0, 3}));
  EXPECT_EQ(op(empty({0}), empty({1})).shape(), (Dims{0}));
  EXPECT_NE(error_of([&] { op(empty({0}), empty({2})); }), "");
  EXPECT_EQ(st::stats().compiles, before);
}

TEST(LayoutCases, TensorsWithoutAxes) {  // FlagGems PR #130
  Tensor out = scalar<float>(0);
  EXPECT_EQ((scalar<float>(2) + scalar<float>(3)).shape(), Dims{});
  st::ops::add(scalar<float>(2), scalar<float>(3), st::out(out));
  EXPECT_EQ(out.item(), 5);
}

TEST(LayoutCases, HighRanksThatCannotBeMerged) {  // arrayfire#677
  Dims shape = Dims::filled(14, 2), reversed = shape;
  for (int k = 0; k < 14; ++k) reversed[k] = 13 - k;
  Tensor r = arange(1 << 14, {i32}).reshape(shape);
  std::vector<double> y = (r + r.permute(reversed)).to_doubles();
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 8193);
  EXPECT_EQ(y[8192], 8193);
  EXPECT_EQ(y[16383], 32766);
  EXPECT_EQ(std::accumulate(y.begin(), y.end(), 0.0), 268419072);
}

TEST(LayoutCases, PointersThatAreNotAligned) {  // triton#1320
  auto op = pointwise("f", [](auto x) { return x + 1; });
  op(arange(64)), op(full({64}, 1, {f16}));
  Tensor bytes = zeros({100}, {u8});
  for (int64_t n = 1; n <= 40; ++n) {
    Tensor x = arange(64).slice(0, 1, 1 + n);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(op(x).to_doubles()[static_cast<size_t>(i)], static_cast<double>(i + 2));
    TensorView half(static_cast<char*>(bytes.data()) + 2, f16, {n});
    for (double v : op(half).to_doubles()) ASSERT_EQ(v, 1);
  }
}

TEST(LayoutCases, OffsetsAreAsWideAsTheirSpan) {  // mlx#4548: 3 elements, the last at 2^31 + 2
  constexpr int64_t kStride = (int64_t{1} << 30) + 1;
  constexpr size_t kBytes = static_cast<size_t>(2 * kStride) + 1;
  void* region = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(region, MAP_FAILED);
  auto* bytes = static_cast<uint8_t*>(region);
  for (int64_t i = 0; i < 3; ++i) bytes[i * kStride] = static_cast<uint8_t>(i + 1);
  TensorView view(region, u8, {3}, {kStride});
  EXPECT_EQ(text(st::ops::add(view, 10)), "11 12 13");
  view += 1;
  EXPECT_EQ(bytes[2 * kStride], 4);
  munmap(region, kBytes);
}

TEST(LayoutCases, ShapesThatDoNotBroadcast) {
  int64_t before = st::stats().compiles;
  EXPECT_NE(error_of([] { arange(3) + arange(4); }).find("axis 0 has size"), std::string::npos);
  EXPECT_NE(error_of([] { zeros({2, 3}) + zeros({2}); }).find("axis"), std::string::npos);
  EXPECT_EQ(st::stats().compiles, before);
}

}  // namespace
}  // namespace strider::cases
