// SPDX-License-Identifier: Apache-2.0
// Operators called with tensors, on every device of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include <strider/strider.h>

#include "support/errors.h"

namespace st = strider;

namespace strider::test {
namespace {

const auto& add_operator() {
  static const auto& op = *new auto(
      st::pointwise("add", [](auto x, auto y, auto alpha) { return x + y * alpha; }, {{true, true, false}, {"x", "y", "alpha"}}));
  return op;
}

using support::error_of;

class Operators : public ::testing::TestWithParam<std::string> {
 protected:
  Tensor here(const Tensor& t) { return t.to(GetParam()); }
  TensorOptions options(DType t = f32) { return {t, GetParam()}; }
};

/// x + y * alpha as the operator's own lambda computes it, in f32.
std::vector<double> reference(const Tensor& x, const Tensor& y, float alpha, const Dims& shape) {
  std::vector<double> a = x.expand(shape).to_doubles(), b = y.expand(shape).to_doubles();
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::fma(static_cast<float>(b[i]), alpha, static_cast<float>(a[i]));
  return a;
}

TEST_P(Operators, AnyBroadcastAndAnyStrides) {
  struct Case {
    Tensor x, y;
    Dims shape;
  };
  Tensor m = here(randn({64, 128})), n = here(randn({128, 64}, {}, 1)), big = here(randn({65, 130}, {}, 2));
  const Case cases[] = {
      {m, m, {64, 128}},
      {m.slice(0, 0, 1), m, {64, 128}},
      {m.slice(1, 3, 4), m, {64, 128}},
      {m.slice(1, 3, 4), n.slice(1, 5, 6).t(), {64, 128}},
      {m, n.t(), {64, 128}},
      {n.t(), m, {64, 128}},
      {m.slice(0, 0, 64, 2), m.slice(0, 63, -65, -2), {32, 128}},
      {m.flip(0).flip(1), n.t(), {64, 128}},
      {big.slice(0, 1, 65).slice(1, 1, 129), m, {64, 128}},
      {big.slice(1, 0, 130, 2).slice(0, 0, 65, 2), big.slice(1, 1, 130, 2).slice(0, 0, 65, 2), {33, 65}},
      {m.reshape({4, 16, 8, 16}).permute({3, 1, 2, 0}), m.reshape({16, 16, 8, 4}), {16, 16, 8, 4}},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    Tensor z = add_operator()(cases[i].x, cases[i].y, 0.5);
    EXPECT_EQ(z.shape(), cases[i].shape) << i;
    EXPECT_EQ(z.device(), GetParam());
    EXPECT_EQ(z.to_doubles(), reference(cases[i].x, cases[i].y, 0.5f, cases[i].shape)) << i;
  }
}

TEST_P(Operators, OutputsThatAreGiven) {
  Tensor x = here(arange(12).reshape({3, 4})), out = st::zeros({4, 6}, options());
  Tensor view = out.slice(1, 1, 6, 2).t();
  add_operator()(x, 10, 1, st::out(view));
  EXPECT_EQ(view.to_doubles(), (std::vector<double>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}));
  EXPECT_EQ(out.slice(1, 0, 6, 2).to_doubles(), std::vector<double>(12));
  add_operator()(x, x, 1, st::out(x));
  EXPECT_EQ(x.to_doubles(), (std::vector<double>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}));
}

TEST_P(Operators, NewOutputsLieAsTheInputs) {
  Tensor t = here(randn({5, 7})).t();
  EXPECT_EQ(add_operator()(t, 1, 1).strides(), (Dims{1, 7}));
}

TEST_P(Operators, ScalarsAndSizesCompileNothing) {
  auto op = st::pointwise("scale", [](auto x, auto s) { return x * s; });
  op(here(randn({100, 300})), 2.0);
  int64_t before = st::stats().compiles, hits = st::stats().memory_hits;
  for (double s : {1.0, 5.0, 16.0, 0.5}) op(here(randn({17})), s);
  for (int64_t n : {1, 2, 1000, 4097}) op(here(randn({n, 3})), 1.5);
  EXPECT_EQ(st::stats().compiles, before);
  EXPECT_EQ(st::stats().memory_hits, hits + 8);
  op(here(arange(5, {i32, "cpu"})), 2);
  EXPECT_EQ(st::stats().compiles, before + 1);
}

TEST_P(Operators, ZeroSizesLaunchAndCompileNothing) {
  auto op = st::pointwise("fresh", [](auto x, auto y) { return x - y; });
  int64_t before = st::stats().compiles;
  EXPECT_EQ(op(st::empty({0, 1, 3}, options()), st::empty({0, 10, 3}, options())).shape(), (Dims{0, 10, 3}));
  EXPECT_EQ(op(st::empty({0}, options()), st::empty({1}, options())).shape(), (Dims{0}));
  EXPECT_EQ(st::stats().compiles, before);
}

TEST_P(Operators, DtypesMeet) {
  struct Case {
    DType x, y, result;
  };
  for (const Case& c : {Case{f32, f16, f32}, Case{i32, i64, i64}, Case{u8, i8, i16}, Case{f16, f16, f16}, Case{i64, bf16, bf16},
                        Case{f64, f32, f64}}) {
    Tensor x = here(arange(10, {c.x, "cpu"})), y = here(arange(10, {c.y, "cpu"}));
    Tensor z = add_operator()(x, y, 2);
    EXPECT_EQ(z.dtype(), c.result);
    for (size_t i = 0; i < 10; ++i) EXPECT_EQ(z.to_doubles()[i], 3.0 * static_cast<double>(i));
  }
}

TEST_P(Operators, SeveralOutputs) {
  auto op = st::pointwise("both", [](auto x, auto y) { return std::tuple{x < y, st::maximum(x, y)}; });
  auto [less, most] = op(here(tensor<float>({1, 5, NAN})), here(tensor<float>({2, 4, 0})));
  EXPECT_EQ(less.dtype(), boolean);
  EXPECT_EQ(less.to_doubles(), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(most.to_doubles()[1], 5);
  EXPECT_TRUE(std::isnan(most.to_doubles()[2]));
}

TEST_P(Operators, ComposeInOneKernel) {
  auto fused = st::pointwise("fused", [](auto x, auto bias, auto r) { return st::ops::relu(x + bias) * 1.5 + r; });
  int64_t before = st::stats().compiles;
  Tensor y = fused(here(tensor<float>({-3, 1, 2})), here(tensor<float>({1})), here(tensor<float>({10, 20, 30})));
  EXPECT_EQ(y.to_doubles(), (std::vector<double>{10, 23, 34.5}));
  EXPECT_EQ(st::stats().compiles, before + 1);
}

TEST_P(Operators, ManyThreadsCompileAKernelOnce) {
  auto op = st::pointwise("shared", [](auto x) { return x * x + 1; });
  Tensor x = here(arange(1000));
  int64_t before = st::stats().compiles;
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; ++t) threads.emplace_back([&] { right += op(x).to_doubles()[31] == 962; });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(st::stats().compiles, before + 1);
}

TEST_P(Operators, Source) {
  std::string text = add_operator().source(st::empty({1, 128}, options()), st::empty({64, 128}, options()), 0.5);
  for (const char* part : {"kernel add(", "%alpha: f64", "program_id axis=0", "%y_stride_m", "store"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  auto two = st::pointwise("two", [](auto x) { return std::tuple{x, x + 1}; });
  EXPECT_NE(two.source(st::empty({5}, options())).find("%out1: *f32"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, Operators, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

TEST(Operators, ChainsMayBeVeryLong) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kLinks = 3000;  // its stack frames are large
#else
  constexpr int kLinks = 30000;
#endif
  auto chain = st::pointwise("chain", [](auto x) {
    auto y = x;
    for (int k = 0; k < kLinks; ++k) y = st::abs(y) - x;
    return y;
  });
  EXPECT_EQ(chain(st::full({2}, 0.0)).to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST(Operators, AnOperatorThatWasMovedFromStillRuns) {
  auto twice = st::pointwise("twice", [](auto x) { return x + x; });
  auto other = std::move(twice);
  EXPECT_EQ(twice(st::full({1}, 2.0)).item(), 4);
}

TEST(OperatorErrors, NameTheOperatorAndTheArgument) {
  const auto& add = add_operator();
  Tensor x = arange(3), y = arange(4);
  EXPECT_EQ(error_of([&] { add(x, y, 1); }),
            "operator add: argument 1 of shape (4) does not broadcast with the others: its axis 0 has size 4, theirs 3");
  EXPECT_EQ(error_of([&] { add(x, x); }), "operator add: 2 arguments given, expected 3");
  EXPECT_EQ(error_of([&] { add(x, x, x); }), "operator add: argument alpha is a tensor, expected a number");
  EXPECT_EQ(error_of([&] { add(x, st::out(x), 1); }), "operator add: argument y is an output, expected a tensor or a number");
  EXPECT_EQ(error_of([&] { add(x, x, 1, st::out(y)); }), "operator add: output 0 has shape (4), the inputs broadcast to (3)");
  EXPECT_EQ(error_of([&] {
              add(x, x, 1, st::out(arange(3, {i32, "cpu"})));
            }),
            "operator add: output 0 is i32, the result is f32: give a tensor of f32, or convert the result in the maths with .to(st::i32)");
  EXPECT_EQ(error_of([&] { add(arange(3, {i8, "cpu"}), x, 1); }), "");
  EXPECT_EQ(error_of([&] {
              add(arange(3, {i8, "cpu"}), arange(3, {i8, "cpu"}), 300);
            }),
            "operator add: argument alpha is 300, which does not fit i8");
  EXPECT_EQ(error_of([&] { add(arange(3, {u64, "cpu"}), arange(3, {i8, "cpu"}), 1); }),
            "operator add: u64 and i8 have no common integer dtype: convert one of them, for example with .to(st::i64)");
  Tensor z = arange(6);
  EXPECT_NE(error_of([&] {
              add(z.slice(0, 0, 5), z.slice(0, 1, 6), 1, st::out(z.slice(0, 1, 6)));
            }).find("shares memory with argument 0"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { add(z.slice(0, 0, 6, 2), z.slice(0, 1, 6, 2), 1, st::out(z.slice(0, 0, 6, 2))); }), "");
}

TEST(OperatorErrors, MistakesInTheMathsNameTheLine) {
  auto op = st::pointwise("bad", [](auto x) { return st::exp(x); });
  int line = __LINE__ - 1;
  EXPECT_EQ(error_of([&] { op(arange(3, {i32, "cpu"})); }),
            "operator bad (" __FILE__ ":" + std::to_string(line) + "): exp: operands (i32) do not fit, expected floats");
  auto wrong_schema = [] { st::pointwise("short", [](auto x, auto y) { return x + y; }, {.is_tensor = {true}}); };
  EXPECT_EQ(error_of(wrong_schema), "operator short: is_tensor names 1 arguments, the operator takes 2");
}

TEST(OperatorErrors, AFailedCompileLeavesNoTrace) {
  int calls = 0;
  auto op = st::pointwise("moody", [&calls](auto x) {
    if (calls++ == 0) throw std::runtime_error("not today");
    return x + 1;
  });
  EXPECT_THROW(op(arange(3)), std::runtime_error);
  EXPECT_EQ(op(arange(3)).to_doubles(), (std::vector<double>{1, 2, 3}));
}

}  // namespace
}  // namespace strider::test
