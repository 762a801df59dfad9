// SPDX-License-Identifier: Apache-2.0
// Floats: NaN, infinities, signed zeros, positions; casts and constants.
#include "cases/cases.h"

#include <clocale>
#include <locale>
#include <sstream>

namespace strider::cases {
namespace {

TEST(FloatCases, RemaindersOfInfinityAndHugeQuotients) {  // pytorch#198057
  Tensor a = tensor<float>({5.5f, -5.5f, 0, 1e20f, 2147483648.f, 7, 1, -0.f});
  Tensor b = tensor<float>({kInf, -kInf, kInf, 3, 3, .7f, .1f, 1});
  Tensor whole = st::ops::remainder(a, b);
  EXPECT_EQ(text(whole.slice(0, 0, 5)), "5.5 -5.5 0 2 2");
  EXPECT_NEAR(whole.to_doubles()[5], 1.19e-7, 0.01e-7);
  EXPECT_NEAR(whole.to_doubles()[6], 0.1, 1e-6);
  EXPECT_EQ(whole.to_doubles()[7], 0);
  EXPECT_EQ(text(st::ops::remainder(a.slice(0, 0, 3), b.slice(0, 0, 3))), text(whole.slice(0, 0, 3)));
  EXPECT_EQ(text(st::ops::remainder(tensor<float>({5.5f, -5.5f}), tensor<float>({-kInf, kInf}))), "-inf inf");
}

TEST(FloatCases, FloorDivisionOfNonFinite) {  // pytorch#188048
  EXPECT_EQ(text(st::ops::floor_div(tensor<float>({kNaN, kInf, -kInf}), 1)), "nan nan nan");
  EXPECT_EQ(text(st::ops::floor_div(tensor<float>({-2.3f}), kInf)), "-1");
  EXPECT_EQ(text(st::ops::floor_div(tensor<float>({1, -1, 0}), 0)), "inf -inf nan");
}

TEST(FloatCases, RemainderIsNotIEEEs) {  // arrayfire#1318
  EXPECT_EQ(text(st::ops::remainder(tensor<float>({2, 5, 8}), 3)), "2 2 2");
}

TEST(FloatCases, BFloat16RemainderByANumber) {  // pytorch#186875
  Tensor x = full({2}, 1.703125, {bf16});
  x.slice(0, 1, 2) *= -1;
  EXPECT_EQ(text(st::ops::fmod(x, 1.7)), "0 -0");
  EXPECT_EQ(text(st::ops::remainder(x, 1.7)), "0 -0");
}

TEST(FloatCases, PowerOfSpecialValues) {  // tt-metal#51468
  Tensor x = tensor<float>({0, .5f, -0.f, 0, -0.f, 1, kNaN, -8, -8, -1, 0, -0.f, -0.f, kInf, -kInf});
  Tensor y = tensor<float>({.5f, 0, 3, -1, -1, kNaN, 0, 1 / 3.f, 3, kInf, kNaN, -2, 2, 0, 3});
  EXPECT_EQ(text(st::ops::pow(x, y)), "0 1 -0 inf -inf 1 1 nan -512 1 nan inf 0 1 -inf");
}

TEST(FloatCases, FMinAndFMaxDropNaN) {  // drjit-core efdfc15
  Tensor a = tensor<float>({kNaN, 1, kNaN}), b = tensor<float>({1, kNaN, kNaN});
  EXPECT_EQ(text(st::ops::fmax(a, b)), "1 1 nan");
  EXPECT_EQ(text(st::ops::fmin(a, b)), "1 1 nan");
}

TEST(FloatCases, PredicatesOfSpecialValues) {  // nautilus PR #316
  Tensor x = tensor<float>({kNaN, kInf, -kInf, 1});
  EXPECT_EQ(text(st::ops::isnan(x)), "1 0 0 0");
  EXPECT_EQ(text(st::ops::isinf(x)), "0 1 1 0");
  EXPECT_EQ(text(st::ops::isfinite(x)), "0 0 0 1");
}

TEST(FloatCases, NegationOfZero) {  // triton PR #10270
  EXPECT_EQ(text(st::ops::neg(tensor<float>({0.f, -0.f}))), "-0 0");
}

TEST(FloatCases, AddingZeroIsNotFoldedAway) {  // pytorch#189799
  auto with = pointwise("with", [](auto x) { return 1 / (st::ceil(x) + 0.0); });
  auto without = pointwise("without", [](auto x) { return 1 / st::ceil(x); });
  Tensor x = tensor<float>({-.5f, -.1f, -.9f});
  EXPECT_EQ(text(with(x)), "inf inf inf");
  EXPECT_EQ(text(without(x)), "-inf -inf -inf");
}

TEST(FloatCases, MinimumAndMaximumCarryNaN) {  // triton#1566
  Tensor a = tensor<float>({kNaN, 1, kNaN}), b = tensor<float>({1, kNaN, kNaN});
  EXPECT_EQ(text(st::ops::maximum(a, b)), "nan nan nan");
  EXPECT_EQ(text(st::ops::minimum(a, b)), "nan nan nan");
}

/// Wherever the lanes lie, and in tiles shorter than a vector: LLVM 19 takes extremes of short vectors of halves wrongly.
TEST(FloatCases, HalvesCarryNaNBesideZero) {
  for (DType dtype : {f16, bf16, f32})
    for (double zero : {0.0, -0.0})
      for (int64_t n : {1, 2, 3, 5, 8, 9, 31}) {
        Tensor nans = full({n}, kNaN, {dtype}), zeros = full({n}, zero, {dtype}), all = full({n}, kNaN, {dtype});
        for (auto view : {+[](const Tensor& t) { return t; }, +[](const Tensor& t) { return t.flip(0); }}) {
          EXPECT_EQ(text(st::ops::maximum(view(nans), view(zeros))), text(all)) << name_of(dtype) << n;
          EXPECT_EQ(text(st::ops::minimum(view(zeros), view(nans))), text(all)) << name_of(dtype) << n;
        }
      }
  auto largest = kernel("largest", [](tl::Ptr<> x, tl::Ptr<> out, tl::Const<"N"> N) {
    tl::store(out, tl::max(tl::load(x + tl::arange(0, N))));
  });
  for (int64_t n : {2, 3, 5, 7, 8})
    for (int64_t place = 0; place < n; ++place) {
      Tensor x = zeros({n}, {f16}), out = zeros({1}, {f16});
      st::ops::fill(x.narrow(0, place, 1), kNaN, st::out(x.narrow(0, place, 1)));
      largest[1](x, out, {{"N", n}});
      EXPECT_EQ(text(out), "nan") << n << ' ' << place;
    }
}

TEST(FloatCases, ClampWithNaNBoundsAndCrossedBounds) {  // pytorch#76795
  EXPECT_EQ(text(st::ops::maximum(tensor<float>({0, kNaN}), tensor<float>({kNaN, 1}))), "nan nan");
  EXPECT_EQ(text(st::ops::clamp(arange(8), 6, 3)), "3 3 3 3 3 3 3 3");
}

TEST(FloatCases, TruthOfNegativeZero) {  // mlx PR #4090
  auto truth = pointwise("truth", [](auto x) { return st::cast(x, boolean); });
  EXPECT_EQ(text(truth(tensor<float>({0.f, -0.f}))), "0 0");
  EXPECT_EQ(text(truth(full({70}, -0.0))), text(zeros({70})));
}

TEST(FloatCases, NoFiniteMathAssumptions) {  // nautilus PR #316
  auto op = pointwise("f", [](auto x) { return std::tuple{x != x, x == std::numeric_limits<double>::infinity()}; });
  auto [is_nan, is_inf] = op(tensor<float>({kNaN, kInf, -kInf, 1}));
  EXPECT_EQ(text(is_nan), "1 0 0 0");
  EXPECT_EQ(text(is_inf), "0 1 0 0");
}

TEST(FloatCases, RoundingKeepsTiesAndZeros) {
  auto op = pointwise("f", [](auto x) { return std::tuple{st::round(x), st::ceil(x), st::trunc(x)}; });
  auto [nearest, up, toward] = op(tensor<float>({.5f, 1.5f, 2.5f, -.5f}));
  EXPECT_EQ(text(nearest), "0 2 2 -0");
  EXPECT_EQ(text(up), "1 2 3 -0");
  EXPECT_EQ(text(toward), "0 1 2 -0");
}

TEST(CastCases, FloatsToNarrowIntegersWrap) {  // pytorch#156788
  auto to = [](DType t) { return pointwise("to", [t](auto x) { return st::cast(x, t); }); };
  EXPECT_EQ(text(to(u8)(tensor<float>({1.541f, -.2934f, -2.1788f, .5684f, -1.0845f}))), "1 0 254 0 255");
  EXPECT_EQ(text(to(u8)(tensor<float>({-1, -2, 255, 256, 300.5f}))), "255 254 255 0 44");
  EXPECT_EQ(text(to(i8)(tensor<float>({128, -129, 300}))), "-128 127 44");
}

TEST(CastCases, NaNAndInfinityToIntegersAreTheSameInBodyAndTail) {  // pytorch#87556
  auto op = pointwise("f", [](auto x) { return std::tuple{st::cast(x, i32), st::cast(x, i64)}; });
  for (float special : {kNaN, kInf, -kInf})
    for (int64_t n : {1, 7, 33, 67}) {
      auto [narrow, wide] = op(full({n}, special));
      for (int32_t v : narrow.to_vector<int32_t>()) ASSERT_EQ(v, narrow.to_vector<int32_t>()[0]);
      for (int64_t v : wide.to_vector<int64_t>()) ASSERT_EQ(v, wide.to_vector<int64_t>()[0]);
    }
}

TEST(CastCases, FloatsToBFloat16RoundToEven) {  // universal#1133
  auto op = pointwise("f", [](auto x) { return st::cast(x, bf16); }, {.promotion = {{{0}, Promotion::Default}}});
  Tensor x = tensor<float>({0.2691408770292272f, 3.14f, 1.00390625f, 1.01171875f, 3.4e38f, std::bit_cast<float>(0x7f800001)});
  Tensor y = zeros({6}, {bf16});
  op(x, st::out(y));
  EXPECT_EQ(text(y), "0.26953125 3.140625 1 1.015625 inf nan");
}

TEST(CastCases, DoublesKeepTheirBits) {  // FlagGems#2624
  Tensor x = full({3}, 1.0, {f64});
  st::ops::fill(x, 3.1415926, st::out(x));
  EXPECT_EQ(x.to_doubles()[1], 3.1415926);
  EXPECT_EQ((full({1}, 7.0, {f64}) * 0.2).to_doubles()[0], 7.0 * 0.2);
  auto literal = pointwise("f", [](auto v) { return v * 0.2; });
  EXPECT_EQ(literal(full({1}, 7.0, {f64})).to_doubles()[0], 7.0 * 0.2);
}

TEST(CastCases, ConstantsKeepTheirBits) {  // nautilus PR #316
  const double constants[] = {0.1, M_PI, 1e-45, 0x1p-1074, NAN, INFINITY, -INFINITY, -0.0};
  for (double c : constants) {
    auto op = pointwise("f", [c](auto x) { return st::where(x > 0, x, c); });
    double wide = op(zeros({1}, {f64})).to_doubles()[0], narrow = op(zeros({1})).to_doubles()[0];
    auto f = static_cast<float>(c);
    if (std::isnan(c)) {
      EXPECT_TRUE(std::isnan(wide) && std::isnan(narrow));
      continue;
    }
    EXPECT_EQ(std::bit_cast<uint64_t>(wide), std::bit_cast<uint64_t>(c)) << c;
    EXPECT_EQ(std::bit_cast<uint64_t>(narrow), std::bit_cast<uint64_t>(static_cast<double>(f))) << c;
  }
}

/// Writes 1234.5 as 1.234,5.
struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// Sets C++'s locale to one with commas, and C's where one is installed.
struct WithCommas {
  WithCommas() {
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"})
      if (std::setlocale(LC_ALL, name)) break;
  }
  ~WithCommas() {
    std::locale::global(before);
    std::setlocale(LC_ALL, "C");
  }
  std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
};

TEST(CastCases, TextDoesNotFollowTheLocale) {  // clFFT#66
  auto halves = [] { return pointwise("f", [](auto x) { return st::where(x < 1234.5, x * 1.5, x); }); };
  Tensor x = tensor<float>({0.25f, 2000});
  Tensor before = halves()(x);
  std::string source = halves().source(x), shown = to_string(before);
  WithCommas here;
  EXPECT_EQ((std::ostringstream() << 1234.5).str(), "1.234,5");
  EXPECT_EQ(halves().source(x), source);
  Tensor after = halves()(x);
  EXPECT_EQ(to_string(after), shown);
  EXPECT_EQ(after.to_bits(), before.to_bits());
}

}  // namespace
}  // namespace strider::cases
