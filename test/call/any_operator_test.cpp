// SPDX-License-Identifier: Apache-2.0
// Operators without their C++ type: kept, empty, made from the IR; and stages of what one wrote oneself.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include <strider/strider.h>

#include "call/from_ir.h"
#include "call/stats.h"
#include "ir/builder.h"
#include "support/cache_folder.h"
#include "support/errors.h"

namespace st = strider;
namespace tl = strider::tl;

namespace strider {
namespace {

using support::error_of;

constexpr std::string_view kAxpy = R"(kernel axpy(%x: f32, %y: f32, %a: f32) {
  %0 = mul %a, %x : f32
  %1 = add %0, %y : f32
  yield %1
}
)";

TEST(AnyOperator, KeepsOperatorsOfAnyLambda) {
  std::map<std::string, st::Operator> kept{
      {"twice", st::pointwise("twice", [](auto x) { return x * 2; })},
      {"plus", st::pointwise("plus", [](auto x, auto y) { return x + y; }, {.names = {"x", "y"}, .defaults = {{"y", 1}}})},
      {"library", st::ops::exp}};
  Tensor x = st::tensor<float>({0, 1, 2});
  EXPECT_EQ(kept["twice"](x).to_doubles(), (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(kept["plus"](x).to_doubles(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(kept["plus"](x, st::arg("y", 3)).to_doubles(), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(kept["plus"](3, x).to_doubles(), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(kept["library"](x).to_doubles(), st::ops::exp(x).to_doubles());
  EXPECT_EQ(kept["twice"].interpreted()(x).to_doubles(), (std::vector<double>{0, 2, 4}));
  Tensor y = st::zeros({3});
  kept["twice"](x, st::out(y));
  EXPECT_EQ(y.to_doubles(), (std::vector<double>{0, 2, 4}));
  auto step = kept["plus"].prepare(x, 1.0, st::out(y));
  step.set_number("y", 5);
  step();
  EXPECT_EQ(y.to_doubles(), (std::vector<double>{5, 6, 7}));
  EXPECT_EQ(kept["plus"].name(), "plus");
  EXPECT_EQ(kept["plus"].arguments(), 2u);
  EXPECT_EQ(kept["twice"].source(x), st::pointwise("twice", [](auto v) { return v * 2; }).source(x));
}

TEST(AnyOperator, IsUsedOnValues) {
  st::Operator plus = st::pointwise("plus", [](auto x, auto y) { return x + y; }, {.names = {"x", "y"}, .defaults = {{"y", 10}}});
  auto both = st::pointwise("both", [=](st::Value x) { return plus(x) * plus(x, st::arg("y", 1)); });
  EXPECT_EQ(both(st::tensor<float>({1, 2})).to_doubles(), (std::vector<double>{22, 36}));
  auto wrong = st::pointwise("wrong", [=](st::Value x) { return plus(x, x, x); });
  EXPECT_EQ(error_of([&] { wrong(st::zeros({1})); }), "operator plus: 3 arguments given, expected 2");
}

TEST(AnyOperator, SeveralOutputs) {
  st::Operator both = st::pointwise("both", [](auto x) { return std::tuple{x + 1, x - 1}; });
  Tensor x = st::tensor<float>({1, 2});
  std::vector<Tensor> all = both.all(x);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].to_doubles(), (std::vector<double>{0, 1}));
  EXPECT_EQ(error_of([&] { both(x); }), "operator both: it has 2 outputs: all(...) gives them");
}

TEST(AnyOperator, EmptyOnesSaySo) {
  st::Operator none;
  EXPECT_TRUE(none.is_empty());
  const std::string words = "the operator is empty: nothing was assigned to it";
  Tensor x = st::zeros({2});
  EXPECT_EQ(error_of([&] { none(x); }), words);
  EXPECT_EQ(error_of([&] { none.prepare(x); }), words);
  EXPECT_EQ(error_of([&] { none.source(x); }), words);
  EXPECT_EQ(error_of([&] { none.name(); }), words);
  none = st::ops::neg;
  EXPECT_EQ(none(x).to_doubles(), (std::vector<double>{0, 0}));
  st::Operator moved = std::move(none);
  EXPECT_FALSE(none.is_empty());
}

TEST(AnyOperator, PlainNumbersAloneAreNoCall) {
  st::Operator neg = st::ops::neg;
  EXPECT_EQ(error_of([&] { neg(1.0); }), "operator neg: none of the arguments is a tensor");
}

/// Takes and returns a sum of K inputs.
template <size_t... I>
auto sum_of(std::index_sequence<I...>) {
  return st::pointwise("sum", [](decltype(I, st::Value())... x) { return (x + ...); });
}

TEST(AnyOperator, SixtyFourInputsFit) {
  auto sum = sum_of(std::make_index_sequence<64>());
  std::vector<Tensor> x;
  for (int k = 0; k < 64; ++k) x.push_back(st::full({5}, k + 1, {i32, "cpu"}));
  [&]<size_t... I>(std::index_sequence<I...>) {
    EXPECT_EQ(sum(x[I]...).to_doubles(), std::vector<double>(5, 64 * 65 / 2));
    EXPECT_EQ(sum.interpreted()(x[I]...).to_doubles(), std::vector<double>(5, 64 * 65 / 2));
  }(std::make_index_sequence<64>());
  EXPECT_EQ(error_of([] { st::Operator({"none", {}, 0, 1, [](auto) { return detail::Values(1, Value(1)); }}); }),
            "operator none: it has 0 arguments, expected 1 to 64");
}

// ---- from the IR

TEST(OperatorFromIr, ComputesAndPromotes) {
  st::Operator axpy = st::operator_from_ir(kAxpy, {.is_tensor = {true, true, false}, .defaults = {{"a", 2}}});
  EXPECT_EQ(axpy.name(), "axpy");
  Tensor x = st::tensor<float>({1, 2, 3}), y = st::tensor<float>({10, 20, 30});
  EXPECT_EQ(axpy(x, y, 0.5).to_doubles(), (std::vector<double>{10.5, 21, 31.5}));
  EXPECT_EQ(axpy(x, y).to_doubles(), (std::vector<double>{12, 24, 36}));
  EXPECT_EQ(axpy(x, y, st::arg("a", 3)).to_doubles(), (std::vector<double>{13, 26, 39}));
  EXPECT_EQ(axpy(x.unsqueeze(1), y, 1).shape(), (Dims{3, 3}));
  EXPECT_EQ(axpy(x.to(f16), y.to(f16), 0.5).dtype(), f16);  // f32 inside, the common dtype outside
  EXPECT_EQ(axpy(x.to(i32), y, 1).dtype(), f32);
  EXPECT_EQ(axpy.interpreted()(x, y, 0.5).to_doubles(), (std::vector<double>{10.5, 21, 31.5}));
  EXPECT_EQ(error_of([&] { axpy(x.to(f64), y, 1); }),
            "operator axpy: argument x is f64 here, its maths are written for f32: convert the argument with .to(st::f32)");
  auto lambda = st::pointwise("axpy", [](auto x, auto y, auto a) { return a * x + y; },
                              {.is_tensor = {true, true, false}, .names = {"x", "y", "a"}});
  EXPECT_EQ(axpy.source(x, y, 0.5), lambda.source(x, y, 0.5));  // one way of making kernels
}

TEST(OperatorFromIr, IsWhatAnOperatorShows) {
  Tensor x = st::tensor<float>({0.5, 1.5});
  std::string text = st::ops::gelu.show("scalar", x);
  st::Operator again = st::operator_from_ir(text);
  EXPECT_EQ(again(x).to_bits(), st::ops::gelu(x).to_bits());
  EXPECT_EQ(again.show("scalar", x), text);
}

TEST(OperatorFromIr, IsUsedOnValuesAndTiles) {
  st::Operator axpy = st::operator_from_ir(kAxpy);
  auto outer = st::pointwise("outer", [=](st::Value x) { return axpy(x, 1.0, x); });
  EXPECT_EQ(outer(st::tensor<float>({2, 3})).to_doubles(), (std::vector<double>{5, 10}));
  auto k = st::kernel("tiles", [=](tl::Ptr<float> x, tl::Ptr<float> out, tl::Constexpr BLOCK) {
    auto i = tl::arange(0, BLOCK), j = tl::arange(0, BLOCK);
    auto sum = axpy(tl::load(x + i)[{tl::colon, tl::newaxis}], 0.0, tl::load(x + j));
    tl::store(out + i[{tl::colon, tl::newaxis}] * BLOCK + j, sum);
  });
  Tensor out = st::zeros({2, 2});
  k[1](st::tensor<float>({2, 3}), out, 2);
  EXPECT_EQ(out.to_doubles(), (std::vector<double>{4, 6, 6, 9}));
}

TEST(OperatorFromIr, OneNameTwoBodies) {
  test::CacheFolder folder;
  Tensor x = st::tensor<float>({1, 2});
  auto text = [](const char* op) { return std::string("kernel f(%x: f32) {\n  %0 = ") + op + " %x, %x : f32\n  yield %0\n}\n"; };
  for (int round = 0; round < 2; ++round) {  // the second one finds code on disk
    EXPECT_EQ(st::operator_from_ir(text("add"))(x).to_doubles(), (std::vector<double>{2, 4}));
    EXPECT_EQ(st::operator_from_ir(text("mul"))(x).to_doubles(), (std::vector<double>{1, 4}));
  }
}

TEST(OperatorFromIr, RefusesWhatIsNoScalarFunction) {
  auto of = [](const char* text) { return error_of([&] { st::operator_from_ir(text); }); };
  EXPECT_EQ(of("kernel f(%x: f32) {\n}\n"), "operator f: its maths do not end in a yield of its outputs");
  EXPECT_EQ(of("kernel f(%x: *f32) {\n  yield %x\n}\n"), "operator f: its maths take *f32, expected scalars");
  EXPECT_EQ(of("kernel f(%x: f32) {\n  %0 = broadcast %x : f32[4]\n  yield %0\n}\n").rfind("operator f: its maths may not contain `broadcast`", 0), 0u);
  EXPECT_EQ(of("kernel f(%x: f32) {\n  %0 = nothing %x : f32\n  yield %0\n}\n").rfind("line 2, column ", 0), 0u);
  EXPECT_EQ(error_of([] { st::operator_from_ir(kAxpy, {.names = {"x"}}); }),
            "operator axpy: .names has 1 names, the operator takes 3: one for each, \"\" where there is none");
}

TEST(OperatorFromIr, ABuiltFunctionIsOne) {
  ir::Builder b("built");
  ir::Value x = b.param(ir::Type::scalar(f64), {.name = "x"}), sum = b.add(x, x), product = b.mul(x, x);
  b.yield(std::array{sum, product});
  std::vector<Tensor> both = operator_of(b.finish()).all(st::tensor<double>({3}));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].item(), 6);
  EXPECT_EQ(both[1].item(), 9);
}

TEST(KernelFromIr, IsWhatAKernelShows) {
  auto k = st::kernel("scale", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::f32 s, tl::i64 n, tl::Constexpr BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    tl::store(out + i, tl::load(x + i, i < n) * s, i < n);
  }, {.names = {"x", "out", "s", "n"}});
  Tensor x = st::arange(100, {f32, "cpu"}), out = st::zeros({100}), expected = x * 0.5;
  std::string text = k.source({x, out, 0.5, 100, 64});
  Kernel again = st::kernel_from_ir(text);
  again[2](x, out, 0.5, 100);
  EXPECT_TRUE(st::equal(out, expected));
  EXPECT_EQ(again.source({x, out, 0.5, 100}), text);
  // What the text promises of alignment, divisibility and overlap is not believed.
  Tensor y = st::arange(101, {f32, "cpu"}), part = y.slice(0, 1, 100);
  again[2](part, part, 0.5, 99);
  EXPECT_EQ(y.to_doubles()[99], 49.5);
  EXPECT_EQ(y.to_doubles()[100], 100);
  EXPECT_EQ(again.source({part, part, 0.5, 99}).find(" no_alias"), std::string::npos);
  again[2].interpreted()(x, out, 2, 100);
  EXPECT_EQ(out.to_doubles()[99], 198);
}

TEST(KernelFromIr, RefusesWhatIsNoKernel) {
  EXPECT_NE(error_of([] { st::kernel_from_ir(kAxpy); }).find("kernel axpy: it yields values as the maths of an operator do"), std::string::npos);
  EXPECT_EQ(error_of([] { st::kernel_from_ir("kernel f(%x: f32) {\n  oops\n}\n"); }).rfind("line 2, column ", 0), 0u);
}

// ---- stages

TEST(Show, StagesOfAnOperator) {
  auto op = st::pointwise("scaled", [](auto x, auto s) { return x * s; });
  Tensor x = st::zeros({64, 64});
  EXPECT_EQ(op.show("tile", x, 0.5), op.source(x, 0.5));
  EXPECT_NE(op.show("plan", x, 0.5).find("layout"), std::string::npos);
  EXPECT_NE(op.show("scalar", x, 0.5).find("yield"), std::string::npos);
  EXPECT_NE(op.show({"ptx", "cuda:sm_90"}, x, 0.5).find(".target sm_90"), std::string::npos);
  std::string text = error_of([&] { op.show({"ptx", "cpu"}, x, 0.5); });
  EXPECT_EQ(text.rfind("operator scaled: target cpu has no stage ptx; it has plan, scalar, tile, ", 0), 0u) << text;
  EXPECT_NE(text.find("; another target may have it"), std::string::npos) << text;
  EXPECT_EQ(error_of([&] { op.show({"ptx", "abacus"}, x, 0.5); }).rfind("operator scaled: there is no target abacus", 0), 0u);
}

TEST(Show, StagesOfAKernel) {
  auto k = st::kernel("twice", [](tl::Ptr<float> x, tl::i64 n, tl::Constexpr BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    tl::store(x + i, tl::load(x + i, i < n) * 2, i < n);
  });
  Tensor x = st::zeros({100});
  EXPECT_EQ(k.show("tile", {x, 100, {{"BLOCK", 64}}}), k.source({x, 100, {{"BLOCK", 64}}}));
  EXPECT_NE(k.show({"ptx", "cuda:sm_80"}, {x, 100, 64}).find(".target sm_80"), std::string::npos);
  EXPECT_NE(k.show("llvm", {x, 100, 64}).find("define"), std::string::npos);
}

TEST(Errors, OfLaunchesSayWhere) {
  auto k = st::kernel("stores", [](tl::Ptr<float> x) { tl::store(x, 1); });
  std::string text = error_of([&] { k[1](st::zeros({1}, {f64, "cpu"})); });
  EXPECT_EQ(text.rfind("kernel stores (" __FILE__ ":" + std::to_string(__LINE__ - 1) + "): argument arg0 is a tensor of f64", 0), 0u) << text;
}

TEST(Errors, HaveOneTypeThatUsersKnow) {
  auto bad = st::kernel("bad", [](tl::Ptr<float>) { (void)tl::arange(4, 4); });
  try {
    bad[1](st::zeros({1}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(typeid(error), typeid(st::Error));
    EXPECT_TRUE(error.is_placed());
  }
}

TEST(Errors, AChainOfComparisons) {
  auto op = st::pointwise("between", [](auto x) { return 0 < x < 1; });
  EXPECT_NE(error_of([&] { op(st::zeros({1})); })
                .find("lt: a bool is compared with i64 by order: a < x < b is written (a < x) & (x < b)"), std::string::npos);
  auto fine = st::pointwise("fine", [](auto x, auto y) { return (x < y) < (y < x); });
  EXPECT_EQ(fine(st::tensor<float>({2, 1}), st::tensor<float>({1, 2})).dtype(), boolean);
}

TEST(Errors, HintsSayWhatToWrite) {
  Tensor x = st::zeros({3}), y = st::zeros({3});
  EXPECT_EQ(error_of([&] { st::ops::add(x, x, y); }),
            "operator add: 3 arguments given, expected 2; a tensor to write to is given as st::out(tensor)");
  EXPECT_EQ(error_of([&] { st::ops::add(x, x, st::out(y.to(i32))); }),
            "operator add: output 0 is i32, the result is f32: give a tensor of f32, or convert the result in the maths with .to(st::i32)");
  auto plain = st::pointwise("plain", [](auto a, auto b) { return a + b; });
  EXPECT_EQ(error_of([&] { plain(x, st::arg("b", 1)); }),
            "operator plain: there is no argument b; its arguments have no names: the schema gives them by .names");
  auto k = st::kernel("k", [](tl::Ptr<bool> p) { tl::store(p, tl::sum(tl::arange(0, 4))); });
  EXPECT_NE(error_of([&] { k[1](st::zeros({1}, {boolean, "cpu"})); }).find("convert it with .to(st::boolean)"), std::string::npos);
  auto sums = st::kernel("sums", [](tl::Ptr<float>) { tl::sum(tl::arange(0, 4), 0, {.dtype = boolean}); });
  EXPECT_NE(error_of([&] { sums[1](x); }).find("sum: the dtype is bool, expected one of numbers"), std::string::npos);
}

}  // namespace
}  // namespace strider
