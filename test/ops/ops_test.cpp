// SPDX-License-Identifier: Apache-2.0
// The operator library against its own maths in double, and the builtins' tile programs for every target.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/backend.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ops/builtins.h"

#include <strider/strider.h>

namespace st = strider;

namespace strider::test {
namespace {

class Library : public ::testing::TestWithParam<std::string> {
 protected:
  Tensor random(const Dims& shape, uint64_t seed = 0) { return st::randn(shape, {}, seed).to(GetParam()); }
};

template <class Op>
void expect_unary(const Op& op, const Tensor& x) {
  std::vector<double> in = x.to_doubles(), out = op(x).to_doubles();
  for (size_t i = 0; i < in.size(); ++i) {
    double wanted = op(in[i]);
    EXPECT_NEAR(out[i], wanted, 1e-6 * std::max(1.0, std::abs(wanted)))
        << Op::get().untyped().declaration().name << " of " << in[i];
  }
}

TEST_P(Library, UnaryOperatorsFollowTheirMaths) {
  Tensor x = random({37, 11});
  auto all = [&](const auto&... op) { (expect_unary(op, x), ...); };
  all(ops::neg, ops::abs, ops::copy, ops::exp, ops::tanh, ops::erf, ops::sigmoid, ops::relu, ops::silu, ops::gelu,
      ops::gelu_tanh);
  expect_unary(ops::log, ops::abs(x));
  expect_unary(ops::sqrt, ops::abs(x));
}

TEST_P(Library, OtherOperatorsFollowTheirMaths) {
  Tensor x = random({23, 9}), y = random({9}, 1);
  std::vector<double> a = x.to_doubles(), b = y.expand({23, 9}).to_doubles();
  auto check = [&](const auto& op) {
    std::vector<double> out = op(x, y).to_doubles();
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(out[i], op(a[i], b[i]), 1e-5 * std::max(1.0, std::abs(op(a[i], b[i]))));
  };
  check(ops::add), check(ops::sub), check(ops::mul), check(ops::div), check(ops::minimum), check(ops::maximum);
  std::vector<double> clamped = ops::clamp(x, -0.5, y).to_doubles();
  auto positive = st::pointwise("positive", [](auto v) { return v > 0; });
  std::vector<double> chosen = ops::where(positive(x), x, y).to_doubles();
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(clamped[i], std::min(std::max(a[i], -0.5), b[i]));
    EXPECT_EQ(chosen[i], a[i] > 0 ? a[i] : b[i]);
  }
}

TEST_P(Library, L1Norm) {
  Tensor x = random({10001});
  double sum = 0;
  for (double v : x.to_doubles()) sum += std::abs(v);
  EXPECT_NEAR(ops::l1_norm(x).item(), sum, 1e-4 * sum);
  EXPECT_EQ(ops::l1_norm(st::empty({0}, {f32, GetParam()})).item(), 0);
}

TEST_P(Library, SoftmaxOfRows) {
  for (int64_t columns : {1, 3, 257, 1000, 4096}) {
    Tensor x = random({3, columns}, static_cast<uint64_t>(columns));
    std::vector<double> in = x.to_doubles(), out = ops::softmax(x).to_doubles();
    for (int64_t r = 0; r < 3; ++r) {
      double sum = 0;
      for (int64_t j = 0; j < columns; ++j) sum += std::exp(in[static_cast<size_t>(r * columns + j)]);
      for (int64_t j = 0; j < columns; ++j) {
        auto i = static_cast<size_t>(r * columns + j);
        ASSERT_NEAR(out[i], std::exp(in[i]) / sum, 2e-6) << columns << ' ' << i;
      }
    }
  }
}

TEST_P(Library, LayerNormOfRows) {
  for (int64_t columns : {1, 3, 257, 1000, 4096}) {
    Tensor x = random({3, columns}, static_cast<uint64_t>(columns)), w = random({columns}, 1), b = random({columns}, 2);
    std::vector<double> in = x.to_doubles(), weight = w.to_doubles(), bias = b.to_doubles();
    std::vector<double> out = ops::layer_norm(x, w, b).to_doubles();
    for (size_t r = 0, n = static_cast<size_t>(columns); r < 3; ++r) {
      double mean = 0, variance = 0;
      for (size_t j = 0; j < n; ++j) mean += in[r * n + j] / static_cast<double>(n);
      for (size_t j = 0; j < n; ++j) variance += std::pow(in[r * n + j] - mean, 2) / static_cast<double>(n);
      for (size_t j = 0; j < n; ++j)
        ASSERT_NEAR(out[r * n + j], (in[r * n + j] - mean) / std::sqrt(variance + 1e-5) * weight[j] + bias[j], 2e-5) << columns;
    }
  }
}

/// Against the root in double, whose second rounding never changes the first. All floats on a GPU, every 61st elsewhere.
TEST_P(Library, SquareRootsAreCorrectlyRounded) {
  auto count = st::kernel("wrong_roots", [](tl::Ptr<int> wrong, tl::i32 step, tl::Constexpr BLOCK) {
    auto bits = (tl::program_id(0) * BLOCK + tl::arange(0, BLOCK)) * step;
    auto x = tl::bitcast(bits, f32);
    auto found = tl::sqrt(x), wanted = tl::sqrt(x.to<double>()).to<float>();
    auto same = (tl::bitcast(found, i32) == tl::bitcast(wanted, i32)) | ((found != found) & (wanted != wanted));
    tl::atomic_add(wrong, tl::sum(tl::where(same, 0, 1)));
  });
  bool is_gpu = GetParam().starts_with("cuda");
  Tensor wrong = st::zeros({1}, {i32, GetParam()});
  count[is_gpu ? 1 << 22 : 1 << 16](wrong, is_gpu ? 1 : 61, {{"BLOCK", 1024}});
  EXPECT_EQ(wrong.item(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Library, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

TEST(Builtins, EveryVariantIsAProgramForEveryTarget) {
  for (const std::string& name : known_targets()) {
    Target target = target_named(name);
    for (const ops::Builtin& b : ops::builtins())
      for (const std::string& variant : ops::variants(b))
        EXPECT_NO_THROW(ir::verify(b.tile(target, variant), ir::Form::Tile)) << b.name << variant;
  }
}

TEST(Builtins, VariantsAreTheLayoutsTheySay) {
  const ops::Builtin& add = ops::builtin_named("add");
  Target target = target_named("cpu");
  auto text = [&](std::string_view variant) { return ir::print(add.tile(target, variant)); };
  EXPECT_EQ(text("flat").find("stride"), std::string::npos);
  EXPECT_NE(text("rows").find("x_stride_m"), std::string::npos);
  EXPECT_EQ(text("rows").find("y_stride"), std::string::npos);
  EXPECT_EQ(text("strided").find("y_stride_n"), std::string::npos);  // every second element is a constant
  EXPECT_NE(ir::print(add.tile(target_named("cuda:sm_90"), "strided")).find("y_stride_n"), std::string::npos);
  EXPECT_NE(text("transposed").find("y_stride_n"), std::string::npos);
  EXPECT_EQ(text("transposed").find("y_stride_m"), std::string::npos);
}

TEST(Builtins, UnknownNamesListTheKnownOnes) {
  try {
    ops::builtin_named("nope");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("there is no builtin nope; there are add, add_scaled, sub"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace strider::test
