// SPDX-License-Identifier: Apache-2.0
// Kernels launched on tensors, on every device of this machine.
#include <gtest/gtest.h>

#include <numeric>

#include <strider/strider.h>

#include "backend/interp/interp.h"
#include "support/errors.h"

namespace st = strider;
namespace tl = strider::tl;

namespace strider::test {
namespace {

using support::error_of;
using support::unplaced;

Kernel make_l1() {
  return st::kernel("l1_norm", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Constexpr BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    tl::atomic_add(out, tl::sum(tl::abs(tl::load(x + i, i < n, 0.0f))));
  }, {{"x", "out", "n"}});
}

class Kernels : public ::testing::TestWithParam<std::string> {
 protected:
  TensorOptions options(DType t = f32) { return {t, GetParam()}; }
};

TEST_P(Kernels, L1NormWithItsConstantGivenInAnyWay) {
  Kernel l1 = make_l1();
  int64_t n = 5000;
  Tensor x = st::arange(n, options()), out = st::zeros({}, options());
  auto expect_and_clear = [&](double factor) {
    EXPECT_EQ(out.item(), factor * 5000.0 * 4999 / 2);
    out = st::zeros({}, options());
  };
  l1[st::cdiv(n, 1024)](x, out, n, {{"BLOCK", 1024}});
  expect_and_clear(1);
  l1[{st::cdiv(n, 512)}](x, out, n, 512);
  expect_and_clear(1);
  auto grid = [n](const auto& constants) { return st::cdiv(n, constants["BLOCK"]); };
  l1[grid](x, out, n, {{"BLOCK", 256}});
  l1.launch(grid, {x, out, n, {{"BLOCK", 256}}});
  expect_and_clear(2);
}

TEST_P(Kernels, GridsOfThreeAxes) {
  auto k = st::kernel("ids", [](tl::Ptr<int> out) {
    auto x = tl::program_id(0), y = tl::program_id(1), z = tl::program_id(2);
    auto linear = (z * tl::num_programs(1) + y) * tl::num_programs(0) + x;
    tl::store(out + linear, 100 * z + 10 * y + x);
  });
  Tensor out = st::zeros({2, 3, 4}, options(i32));
  k[{4, 3, 2}](out);
  std::vector<int> expected;
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) expected.push_back(100 * z + 10 * y + x);
  EXPECT_EQ(out.to_vector<int>(), expected);
}

TEST_P(Kernels, AnyElementType) {
  auto k = st::kernel("double",
                      [](tl::Ptr<> x, tl::Const<"N"> n) { tl::store(x + tl::arange(0, n), tl::load(x + tl::arange(0, n)) * 2); });
  for (DType t : {i8, u16, i64, f16, bf16, f32, f64}) {
    Tensor x = st::arange(9, options(t));
    k[1](x, {{"N", 9}});
    EXPECT_EQ(x.to_doubles(), (std::vector<double>{0, 2, 4, 6, 8, 10, 12, 14, 16})) << name_of(t);
  }
}

TEST_P(Kernels, NumbersOfEveryKind) {
  auto k = st::kernel("numbers", [](tl::Ptr<double> out, tl::boolean b, tl::i8 i, tl::u64 u, tl::f32 f) {
    tl::store(out, b.to(f64));
    tl::store(out + 1, i);
    tl::store(out + 2, u.to(f64));
    tl::store(out + 3, f);
  });
  Tensor out = st::zeros({4}, options(f64));
  k[1](out, true, -7, ~uint64_t{0}, 3);
  EXPECT_EQ(out.to_doubles(), (std::vector<double>{1, -7, 0x1p64, 3}));
}

TEST_P(Kernels, ReverseInPlaceAndOverlappingArguments) {
  auto reverse = st::kernel("reverse", [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Const<"N"> n) {
    auto i = tl::arange(0, n);
    tl::store(y + i, tl::load(x + (n - 1 - i)));
  });
  Tensor x = st::arange(100, options());
  reverse[1](x, x, {{"N", 100}});
  EXPECT_EQ(x.to_doubles()[0], 99);
  EXPECT_EQ(x.to_doubles()[99], 0);
  Tensor y = st::arange(150, options());
  reverse[1](y.slice(0, 0, 100), y.slice(0, 50, 150), {{"N", 100}});
  EXPECT_EQ(y.to_doubles()[50], 99);
  EXPECT_EQ(y.to_doubles()[149], 0);
}

TEST_P(Kernels, SpecialisesByConstantsAndFactsOnly) {
  Kernel l1 = make_l1();
  Tensor x = st::zeros({4096}, options()), out = st::zeros({}, options());
  int64_t before = st::stats().compiles;
  auto launch = [&](const Tensor& in, int64_t n, int64_t block) {
    l1[st::cdiv(n, block)](in, out, n, {{"BLOCK", block}});
    return st::stats().compiles - before;
  };
  EXPECT_EQ(launch(x, 4096, 256), 1);
  EXPECT_EQ(launch(x, 1600, 256), 1);
  EXPECT_EQ(launch(x, 4096, 512), 2);
  EXPECT_EQ(launch(x, 4095, 512), 3);  // n is no multiple of 16
  EXPECT_EQ(launch(x, 5, 512), 3);
  EXPECT_EQ(launch(x.slice(0, 1, 4096), 4095, 512), 4);  // less aligned
  EXPECT_EQ(launch(x.slice(0, 3, 4096), 4093, 512), 4);
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

TEST(KernelErrors, BadLaunchesRunNothing) {
  Kernel l1 = make_l1();
  Tensor x = st::zeros({64}), out = st::zeros({});
  using List = std::initializer_list<Argument>;
  auto launch = [&](const LaunchGrid& grid, List arguments) { return unplaced(error_of([&] { l1.launch(grid, arguments); })); };
  EXPECT_EQ(launch(1, {x, out, {{"BLOCK", 64}}}), "kernel l1_norm: 2 arguments given, expected 3 (x, out, n)");
  EXPECT_EQ(launch(1, {x, out, 64}), "kernel l1_norm: the constant arg3 has no value: end the arguments with {{\"arg3\", value}}");
  EXPECT_EQ(launch(1, {x, out, {{"BLOCK", 64}, {"SIZE", 3}}}), "kernel l1_norm: the constant arg3 is given twice");
  EXPECT_EQ(launch(1, {x, out, st::arg("m", 64), 64}),
            "kernel l1_norm: there is no argument m; its arguments: x, out, n, arg3 (.names in the kernel's options names them)");
  EXPECT_EQ(launch(1, {x, out, 64, st::arg("n", 3), 64}), "kernel l1_norm: 5 arguments given, expected 4 (x, out, n, arg3)");
  EXPECT_EQ(launch(1, {st::arg("n", 3), st::arg("n", 3), x, out, 64}), "kernel l1_norm: argument n is given twice");
  EXPECT_EQ(launch(INT64_MAX, {x, out, 64, 64}),
            "kernel l1_norm: the grid has size 9223372036854775807 along axis 0, expected 1 to 2147483647");
  EXPECT_EQ(launch([](const auto& constants) { return constants["SIZE"] * 0; }, {x, out, 64, 64}),
            "kernel l1_norm: the grid has size 0 along axis 0, expected 1 to 2147483647");
  EXPECT_EQ(launch(1, {x, out, 64, 64, 64}), "kernel l1_norm: 5 arguments given, expected 4 (x, out, n, arg3)");
  EXPECT_EQ(launch(1, {x, 1.0, 64, 64}), "kernel l1_norm: argument out is a float, expected a tensor of f32");
  EXPECT_EQ(launch(1, {st::zeros({3}, {f64, "cpu"}), out, 64, 64}),
            "kernel l1_norm: argument x is a tensor of f64, expected a tensor of f32: convert it with .to(st::f32), or let the kernel take tl::Ptr<>");
  EXPECT_EQ(launch(1, {x, out, 0.5, 64}), "kernel l1_norm: argument n is a float, expected i64");
  EXPECT_EQ(launch(1, {x, out, x, 64}), "kernel l1_norm: argument n is a tensor of f32, expected i64");
  EXPECT_EQ(launch(1, {x, out, 64, 6.5}), "kernel l1_norm: argument arg3 is a float, expected a constant integer");
  EXPECT_EQ(launch(1, {x, out, 64, {{"BLOCK", 64}, {"BLOCK", 3}}}), "kernel l1_norm: the constant arg3 is given twice");
  EXPECT_EQ(launch(0, {x, out, 64, 64}), "kernel l1_norm: the grid has size 0 along axis 0, expected 1 to 2147483647");
  EXPECT_EQ(launch(-3, {x, out, 64, 64}), "kernel l1_norm: the grid has size -3 along axis 0, expected 1 to 2147483647");
  EXPECT_EQ(launch({1, int64_t{1} << 31}, {x, out, 64, 64}),
            "kernel l1_norm: the grid has size 2147483648 along axis 1, expected 1 to 2147483647");
  EXPECT_EQ(launch({1, 1, 1, 1}, {x, out, 64, 64}), "kernel l1_norm: the grid has 4 numbers, expected 1 to 3");
  EXPECT_EQ(launch(Dims{}, {x, out, 64, 64}), "kernel l1_norm: the grid has 0 numbers, expected 1 to 3");
  EXPECT_EQ(out.item(), 0);
  auto narrow = st::kernel("narrow", [](tl::Ptr<float>, tl::u8) {}, {{"x", "n"}});
  EXPECT_EQ(unplaced(error_of([&] { narrow[1](x, 256); })), "kernel narrow: argument n is 256, which does not fit u8");
  EXPECT_EQ(unplaced(error_of([&] { narrow[1](x, -1); })), "kernel narrow: argument n is -1, which does not fit u8");
}

TEST(KernelErrors, TensorsOnDifferentDevices) {
  auto other = open_interp_device(0);
  Tensor x = st::zeros({64}), out = st::zeros({});
  TensorView away(x.data(), f32, {64}, {1}, *other);
  Kernel l1 = make_l1();
  EXPECT_EQ(unplaced(error_of([&] { l1[1](x, away, 64, 64); })), "kernel l1_norm: argument out is on interp:tile, others are on cpu");
  EXPECT_EQ(unplaced(error_of([&] { l1[1].interpreted()(away, away, 64, 64); })),
            "kernel l1_norm: its tensors are on interp:tile: the interpreter runs on tensors of the CPU");
  EXPECT_EQ(error_of([&] { st::ops::add(x, away); }), "operator add: its tensors are on cpu and on interp:tile");
  EXPECT_EQ(error_of([&] { st::ops::abs.interpreted()(away, st::out(away)); }),
            "operator abs: its tensors are on interp:tile: the interpreter runs on tensors of the CPU");
}

TEST(KernelErrors, NamesAreSaidOnce) {
  auto two = st::kernel("two", [](tl::Ptr<float>, tl::Const<"A">, tl::Const<"B">) {}, {{"x"}});
  Tensor x = st::zeros({4});
  auto launch = [&](const LaunchGrid& grid, std::initializer_list<Argument> arguments) {
    return unplaced(error_of([&] { two.launch(grid, arguments); }));
  };
  EXPECT_EQ(launch(1, {x, {{"A", 1}, {"C", 2}}}), "kernel two: there is no constant C; its constants: A, B");
  EXPECT_EQ(launch([](const auto& constants) { return constants["C"]; }, {x, {{"A", 1}, {"B", 2}}}),
            "kernel two: there is no constant C; its constants: A, B");
  EXPECT_EQ(launch(1, {x, {{"A", 1}}}), "kernel two: the constant B has no value: end the arguments with {{\"B\", value}}");
}

TEST(Kernel, ArgumentsByName) {
  Kernel l1 = make_l1();
  Tensor x = st::arange(100), out = st::zeros({});
  l1[1](x, st::arg("n", 10), out, {{"BLOCK", 128}});
  EXPECT_EQ(out.item(), 45);
}

TEST(Kernel, ConstantsAreFolded) {
  auto k = st::kernel("folded", [](tl::Ptr<int> out, tl::Const<"N"> n) {
    tl::store(out, st::abs(Value(n)) * 2 + tl::cdiv(n, 4));
  });
  Tensor out = st::zeros({}, {i32});
  const std::string text = k.source({out, {{"N", -9}}});
  EXPECT_NE(text.find("const 16 : i32"), std::string::npos) << text;  // 18 + ceil(-9 / 4)
  EXPECT_EQ(text.find("abs"), std::string::npos) << text;
  EXPECT_EQ(text.find("mul"), std::string::npos) << text;
}

/// Constants make specialisations of their own; of numbers and pointers only the facts count, so a hundred launches compile twice.
TEST(Kernel, FactsAreSpecialisedWithoutACompilePerValue) {
  auto k = st::kernel("facts", [](tl::Ptr<float> x, tl::i32 n, tl::i64 m, tl::f32 f, tl::Const<"N"> N) {
    auto i = tl::arange(0, N);
    tl::store(x + i, (tl::load(x + i) + n.to(f32)) * f + m.to(f32));
  });
  Tensor x = st::zeros({200});
  int64_t before = st::stats().compiles + st::stats().disk_hits;
  auto made = [&] { return st::stats().compiles + st::stats().disk_hits - before; };
  for (int value = 1; value <= 15; ++value) k[1](x, value, 2 * value + 1, 0.5 * value, {{"N", 8}});
  EXPECT_EQ(made(), 1);  // no number is a multiple of 16
  for (int value = 16; value <= 1600; value += 16) k[1](x, value, 5, 1.5, {{"N", 8}});
  EXPECT_EQ(made(), 2);  // n is, m is not
  for (int value = 16; value <= 1600; value += 16) k[1](x, value, -value, 1.5, {{"N", 8}});
  EXPECT_EQ(made(), 3);  // both are
  for (int begin = 16; begin < 100; begin += 16) k[1](x.slice(0, begin, 200), 3, 5, 1.5, {{"N", 8}});
  EXPECT_EQ(made(), 3);  // as aligned as before: to 64 bytes
  for (int begin = 1; begin < 100; begin += 4) k[1](x.slice(0, begin, 200), 3, 5, 1.5, {{"N", 8}});
  EXPECT_EQ(made(), 4);  // aligned to their dtype alone, however they lie
  for (int begin = 4; begin < 100; begin += 16) k[1](x.slice(0, begin, 200), 3, 5, 1.5, {{"N", 8}});
  EXPECT_EQ(made(), 5);  // to 16 bytes
  for (int n : {8, 9, 10}) k[1](x, 3, 5, 1.5, {{"N", n}});
  EXPECT_EQ(made(), 7);  // 9 and 10 are new
}

TEST(KernelErrors, MistakesInTheBodyNameTheLine) {
  auto k = st::kernel("empty_tile", [](tl::Ptr<float>, tl::Constexpr n) { tl::arange(0, n); });
  std::string text = error_of([&] { k[1](st::zeros({1}), 0); });
  EXPECT_EQ(text.rfind("kernel empty_tile (" __FILE__ ":" + std::to_string(__LINE__ - 2) + "): arange(0, 0) is empty", 0), 0u)
      << text;
}

TEST(Kernel, Source) {
  Tensor x = st::zeros({64}), out = st::zeros({});
  std::string text = make_l1().source({x, out, 64, {{"BLOCK", 64}}});
  EXPECT_NE(
      text.find(
          "kernel l1_norm(%x: *f32 divisible=64 read_only no_alias, %out: *f32 divisible=64 no_alias, %n: i64 divisible=16)"),
      std::string::npos)
      << text;
}

TEST(Kernel, StoresToLargeMemoryThatItDoesNotReadBypassTheCaches) {
  auto copy = st::kernel("copy", [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Constexpr BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    tl::store(y + i, tl::load(x + i));
  });
  auto twice = st::kernel("twice", [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Constexpr BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    tl::store(y + i, tl::load(x + i));
    tl::store(y + i, tl::load(y + i) * 2.0f);
  });
  auto streams = [](const Kernel& k, const Tensor& x, const Tensor& y) {
    return k.source({x, y, {{"BLOCK", 1024}}}).find("streaming") != std::string::npos;
  };
  Tensor small = st::randn({1 << 20}), large = st::randn({1 << 22}), other = st::empty({1 << 22});
  EXPECT_FALSE(streams(copy, small, st::empty({1 << 20})));
  EXPECT_TRUE(streams(copy, large, other));
  EXPECT_FALSE(streams(copy, large, large));
  EXPECT_FALSE(streams(twice, large, other));
  copy[1 << 12](large, other, {{"BLOCK", 1024}});
  EXPECT_TRUE(st::equal(large, other));
}

TEST(KernelMistakes, TileSizesThatOverflow) {
  Kernel k = st::kernel("huge", [](tl::Ptr<float> x) {
    tl::store(x, tl::sum(tl::full({int64_t{1} << 32, int64_t{1} << 32}, 1.0f, f32)));
  });
  Tensor x = st::zeros({1});
  EXPECT_NE(error_of([&] { k[1](x); }).find("1048576"), std::string::npos);
}

TEST(KernelBounds, ATileOfOneRowIsStoredWhole) {
  auto k = st::kernel("one_row", [](tl::Ptr<int> p, tl::i32 n) {
    auto row = tl::program_id(0) + tl::arange(0, 1), column = tl::arange(0, 1024);
    auto offsets = tl::expand_dims(row, 1) * 4096 + tl::expand_dims(column, 0);
    tl::store(p + offsets, 1, offsets < n);
  });
  Tensor x = zeros({1024}, {i32});
  k[1](x, 600);
  std::vector<int> wanted(1024, 0);
  std::fill(wanted.begin(), wanted.begin() + 600, 1);
  EXPECT_EQ(x.to_vector<int>(), wanted);
}

}  // namespace
}  // namespace strider::test
