// SPDX-License-Identifier: Apache-2.0
// Prints, assertions and taps: on every device of this machine, and on both interpreters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <strider/strider.h>

#include "backend/interp/interp.h"
#include "front/trace/kernel.h"
#include "pass/pipeline.h"
#include "call/effects.h"
#include "support/errors.h"
#include "support/ptxas.h"

namespace st = strider;
namespace tl = strider::tl;

namespace strider::test {
namespace {

using support::error_of;
using support::unplaced;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

std::string line(int number) { return __FILE__ ":" + std::to_string(number); }

/// What `f` writes to standard output.
std::string output_of(auto f) {
  ::testing::internal::CaptureStdout();
  f();
  return ::testing::internal::GetCapturedStdout();
}

class Effects : public ::testing::TestWithParam<std::string> {
 protected:
  TensorOptions options(DType t = f32) { return {t, GetParam()}; }
};

// --- taps

Kernel make_tapped() {
  return st::kernel("l1_norm", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Constexpr BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    auto v = tl::load(x + i, i < n, 0.0f);
    tl::tap("abs", tl::abs(v));
    tl::tap("index", i, i < n);
    auto sum = tl::sum(tl::abs(v));
    tl::tap("sum", sum);
    tl::atomic_add(out, sum);
  }, {{"x", "out", "n"}});
}

TEST_P(Effects, TapsAreTensorsOfGridAndTile) {
  Kernel l1 = make_tapped();
  Tensor x = st::arange(-10, 20, 1, options()), out = st::zeros({}, options());
  st::Taps taps;
  l1[4].taps(taps)(x, out, 30, {{"BLOCK", 8}});
  EXPECT_EQ(taps.names(), (std::vector<std::string>{"abs", "index", "sum"}));
  EXPECT_EQ(taps["abs"].shape(), Dims({4, 8}));
  EXPECT_EQ(taps["index"].dtype(), i32);
  EXPECT_EQ(taps["sum"].shape(), Dims({4}));
  std::vector<float> magnitudes, sums(4);
  std::vector<int> indices;
  for (int i = 0; i < 32; ++i) {
    magnitudes.push_back(i < 30 ? std::abs(static_cast<float>(i - 10)) : 0);
    indices.push_back(i < 30 ? i : 0);
    sums[static_cast<size_t>(i) / 8] += magnitudes.back();
  }
  EXPECT_EQ(taps["abs"].to_vector<float>(), magnitudes);
  EXPECT_EQ(taps["index"].to_vector<int>(), indices);
  EXPECT_EQ(taps["sum"].to_vector<float>(), sums);
  EXPECT_EQ(out.item(), sums[0] + sums[1] + sums[2] + sums[3]);
  EXPECT_EQ(taps["abs"].device(), x.device());
}

TEST_P(Effects, TapsThatAreNotAskedForAreNotThere) {
  Kernel l1 = make_tapped();
  Tensor x = st::arange(32, options()), out = st::zeros({}, options());
  std::string text = l1.source({x, out, 32, {{"BLOCK", 8}}});
  EXPECT_EQ(text.find("tap"), std::string::npos) << text;
  int64_t before = st::stats().compiles;
  st::Taps taps{"sum"}, all;
  for (int round = 0; round < 2; ++round) {
    l1[4](x, out, 32, {{"BLOCK", 8}});
    l1[4].taps(taps)(x, out, 32, {{"BLOCK", 8}});
    l1[4].taps(all)(x, out, 32, {{"BLOCK", 8}});
    EXPECT_EQ(st::stats().compiles - before, 3);
  }
  EXPECT_EQ(taps.names(), std::vector<std::string>{"sum"});
  EXPECT_EQ(error_of([&] { taps["abs"]; }), "there is no tap abs; the last launch left: sum");
  st::Taps wrong{"abs", "total"};
  EXPECT_EQ(unplaced(error_of([&] { l1[4].taps(wrong)(x, out, 32, {{"BLOCK", 8}}); })),
            "kernel l1_norm: there is no tap total; its taps: abs, index, sum");
}

TEST_P(Effects, TapsOfGridsOfThreeAxesLoopsAndBranches) {
  auto k = st::kernel("taps", [](tl::Ptr<int> out) {
    auto p = tl::program_id(0) * 100 + tl::program_id(1) * 10 + tl::program_id(2);
    auto rows = tl::arange(0, 3)[{tl::colon, tl::newaxis}], columns = tl::arange(0, 5)[{tl::newaxis, tl::colon}];
    tl::tap("tile", (p + rows * columns).to<int64_t>());
    tl::range(0, 4, 1, [&](auto i) { tl::tap("last", (i + p).template to<double>()); });
    tl::if_(tl::program_id(1) == 1, [&] { tl::tap("some", p > 0); });
    tl::store(out, 1, p == 0);
  });
  Tensor out = st::zeros({1}, options(i32));
  st::Taps taps;
  k[{2, 3, 2}].taps(taps)(out);
  EXPECT_EQ(taps["tile"].shape(), Dims({2, 3, 2, 3, 5}));
  EXPECT_EQ(taps["last"].shape(), Dims({2, 3, 2}));
  Tensor tile = taps["tile"].to_host(), last = taps["last"].to_host(), some = taps["some"].to_host();
  for (int x = 0; x < 2; ++x)
    for (int y = 0; y < 3; ++y)
      for (int z = 0; z < 2; ++z) {
        int p = 100 * x + 10 * y + z;
        auto at = [&](const Tensor& t) { return t.select(0, x).select(0, y).select(0, z); };
        EXPECT_EQ(at(tile).select(0, 2).select(0, 4).item(), p + 8);
        EXPECT_EQ(at(last).item(), p + 3);
        EXPECT_EQ(at(some).item(), y == 1);
      }
}

// --- prints

TEST_P(Effects, PrintsComeInTheOrderOfPrograms) {
  auto k = st::kernel("loud", [](tl::Ptr<float> x) {
    auto i = tl::arange(0, 3);
    auto v = tl::load(x + tl::program_id(0) * 3 + i);
    tl::print("tile:", v, tl::sum(v), i[{tl::newaxis, tl::colon}].to(f16), v > 1);
    tl::print("here");
  });
  Tensor x = st::tensor<float>({0, 0.5, 1.5, -2, 1e10, 3}).to(GetParam());
  std::string text = output_of([&] { k[2](x); });
  std::string a = " (" + line(__LINE__ - 5) + "), program (", b = " (" + line(__LINE__ - 4) + "), program (";
  EXPECT_EQ(text, "loud" + a + "0, 0, 0): tile: [0. , 0.5, 1.5] f32(3), 2.0, [[0., 1., 2.]] f16(1, 3), [false, false,  true] bool(3)\n" +
                      "loud" + b + "0, 0, 0): here\n" +
                      "loud" + a + "1, 0, 0): tile: [-2.e+00,  1.e+10,  3.e+00] f32(3), 10000000000.0, [[0., 1., 2.]] f16(1, 3), [false,  true,  true] bool(3)\n" +
                      "loud" + b + "1, 0, 0): here\n");
}

TEST_P(Effects, PrintsInLoopsAndBranchesOfManyPrograms) {
  auto k = st::kernel("counting", [](tl::Ptr<int> x) {
    auto p = tl::program_id(0);
    tl::range(0, 3, 1, [&](auto i) {
      tl::if_((p + i) % 2 == 0, [&] { tl::print("", p, i); });
    });
    tl::store(x + p, p);
  });
  Tensor x = st::zeros({100}, options(i32));
  std::string text = output_of([&] { k[100](x); }), expected;
  for (int p = 0; p < 100; ++p)
    for (int i = 0; i < 3; ++i)
      if ((p + i) % 2 == 0) expected += fmt::format("counting ({}), program ({}, 0, 0): {}, {}\n", line(__LINE__ - 8), p, p, i);
  EXPECT_EQ(text, expected);
  EXPECT_EQ(x.select(0, 99).item(), 99);
}

TEST_P(Effects, PrintsThatDoNotFitAreCounted) {
  auto k = st::kernel("chatty", [](tl::Ptr<int> x) { tl::print("x", tl::load(x + tl::arange(0, 1000))); });
  Tensor x = st::zeros({1000}, options(i32));
  std::string text = output_of([&] { k[200](x); });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n') > 130, true);
  EXPECT_HAS(text, "chatty: 70140 words of prints did not fit into the 131072 that a launch keeps\n");
}

// --- assertions

Kernel make_checked() {
  return st::kernel("checked", [](tl::Ptr<float> x, tl::Ptr<int> at, tl::Ptr<float> y, tl::i32 n) {
    auto i = tl::program_id(0) * 16 + tl::arange(0, 16);
    auto index = tl::load(at + i, i < n);
    tl::device_assert((index >= 0) & (index < n), "index in range", i < n);
    tl::store(y + i, tl::load(x + index, i < n), i < n);
  });
}

TEST_P(Effects, FailedAssertionsAreErrorsOfTheLaunch) {
  Kernel k = make_checked();
  std::vector<int> indices(40);
  for (int i = 0; i < 40; ++i) indices[static_cast<size_t>(i)] = 39 - i;
  Tensor x = st::arange(40, options()), y = st::zeros({40}, options());
  k[3](x, st::tensor(indices).to(GetParam()), y, 40);
  EXPECT_EQ(y.select(0, 5).item(), 34);
  indices[21] = 1 << 30;  // an access there would be far out of bounds: the program ends before
  indices[23] = indices[39] = -(1 << 30);
  y.copy_from(st::zeros({40}, options()));
  std::string text = error_of([&] { k[3](x, st::tensor(indices).to(GetParam()), y, 40); });
  EXPECT_EQ(unplaced(text), "kernel checked: assertion failed: index in range (" + line(__LINE__ - 16) + "), program (1, 0, 0), lane (5); 1 more failed");
  EXPECT_EQ(y.select(0, 0).item(), 39);   // other programs ran
  EXPECT_EQ(y.select(0, 20).item(), 0);
  auto prepared = k[3].prepare(x, st::tensor(indices).to(GetParam()), y, 40);
  EXPECT_EQ(error_of([&] { prepared(); }), unplaced(text));
}

TEST_P(Effects, AssertionsOfScalarsInLoops) {
  auto k = st::kernel("looping", [](tl::Ptr<int> x, tl::i32 n) {
    tl::range(0, n, 1, [&](auto i) { tl::device_assert(tl::load(x + i) != 7, "no sevens"); });
    tl::store(x, 1);
  });
  Tensor x = st::arange(10, options(i32));
  k[1](x, 5);
  EXPECT_EQ(unplaced(error_of([&] { k[1](x, 10); })),
            "kernel looping: assertion failed: no sevens (" + line(__LINE__ - 6) + "), program (0, 0, 0)");
  EXPECT_EQ(x.select(0, 0).item(), 1);
}

INSTANTIATE_TEST_SUITE_P(All, Effects, ::testing::ValuesIn(available_devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

// --- interpreters

Device& interpreter(bool lanes) {
  static Device& tile = *open_interp_device(0).release();
  static Device& lane = *open_interp_device(1).release();
  return lanes ? lane : tile;
}

struct Interpreted {
  std::string output, error;
  std::vector<std::pair<std::string, Tensor>> taps;
};

/// A kernel without parameters.
template <class F>
Interpreted interpret(bool lanes, const Grid& grid, F body) {
  Kernel k = st::kernel("k", body);
  Device& device = interpreter(lanes);
  front::TracedKernel traced = front::trace_with_effects(k.declaration(), front::facts_for(k.declaration(), {}), {.any = true});
  ir::Function program = pass::prepare(traced.program, device.target());
  if (lanes) program = pass::lower(program, device.target(), 32);
  auto code = device.load(interp_compiler().compile(program, device.target()));
  EffectsExecutable executable("k", std::move(traced.effects), device,
                               [&](const Grid& g, std::span<const uint64_t> slots, std::span<const Tensor>, StreamHandle) { code->launch(g, slots); });
  Interpreted run;
  run.output = output_of([&] { run.error = error_of([&] { run.taps = executable.launch_and_tap(grid, 2, {}); }); });
  return run;
}

TEST(EffectsInterpreted, AllOfThem) {
  for (bool lanes : {false, true}) {
    Interpreted run = interpret(lanes, {2, 2, 1}, [] {
      auto i = tl::arange(0, 70), p = tl::program_id(0) + 10 * tl::program_id(1);
      tl::tap("tile", i * p);
      tl::print("p", p);
      tl::device_assert(i + p != 75, "no 75");
    });
    EXPECT_EQ(run.error, fmt::format("assertion failed: no 75 ({}), program (0, 1, 0), lane (65); 1 more failed", line(__LINE__ - 2)));
    EXPECT_EQ(std::count(run.output.begin(), run.output.end(), '\n'), 4);
    EXPECT_HAS(run.output, "program (1, 1, 0): p 11\n");
    run = interpret(lanes, {2, 2, 1}, [] {
      auto i = tl::arange(0, 70), p = tl::program_id(0) + 10 * tl::program_id(1);
      tl::tap("tile", i * p);
    });
    EXPECT_EQ(run.error, "");
    ASSERT_EQ(run.taps.size(), 1u);
    auto* values = static_cast<const int*>(run.taps[0].second.data());
    EXPECT_EQ(run.taps[0].second.shape(), Dims({2, 2, 70}));
    for (int k = 0; k < 280; ++k) EXPECT_EQ(values[k], k % 70 * (k / 140 + 10 * (k / 70 % 2)));
  }
}

TEST(EffectsInterpreted, LaunchesOfCpuTensors) {
  Kernel l1 = make_tapped();
  Tensor x = st::arange(-10, 20, 1, {f32, "cpu"}), out = st::zeros({});
  st::Taps compiled, interpreted;
  l1[4].taps(compiled)(x, out, 30, {{"BLOCK", 8}});
  l1[4].interpreted().taps(interpreted)(x, out, 30, {{"BLOCK", 8}});
  for (const std::string& name : compiled.names()) EXPECT_TRUE(st::equal(compiled[name], interpreted[name])) << name;

  Kernel checked = make_checked();
  Tensor at = st::tensor<int>({0, 1, 9, 3}), y = st::zeros({4}), four = st::arange(4, {f32, "cpu"});
  std::string text = error_of([&] { checked[1].interpreted()(four, at, y, 4); });
  EXPECT_HAS(unplaced(text), "kernel checked: assertion failed: index in range (");
  EXPECT_HAS(text, "), program (0, 0, 0), lane (2)");
  // Lints do not take prints and taps for what the kernel does.
  std::vector<Fault> faults;
  auto linted = st::kernel("linted", [](tl::Ptr<float> x, tl::Ptr<bool> flags, tl::i32 n) {
    auto i = tl::arange(0, 8);
    auto v = tl::multiple_of(tl::load(x + i, i < n).to(i32), 1);
    tl::assume(v >= 0);
    tl::print("v", v);
    tl::tap("v", v);
    tl::atomic_cas(flags, false, true);
    tl::print("", tl::randn(n - 10, i - 5), tl::philox(n, i.to(i64), 1, 2, 3)[3], tl::umulhi(n - 10, 1 << 31));
  });
  output_of([&] {
    st::Interpretation how{.faults = &faults, .masked_lanes = true, .overflow = true, .elementwise = true};
    linted[1].interpreted(how).taps(interpreted)(four, st::zeros({1}, {DType::Bool, "cpu"}), 4);
  });
  EXPECT_TRUE(faults.empty()) << faults[0].text;
  EXPECT_EQ(interpreted["v"].to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 0, 0, 0, 0}));
  auto outside = st::kernel("outside", [](tl::Ptr<float> x) {
    tl::print("before");
    tl::store(x + 4, 1.0f);
    tl::device_assert(tl::program_id(0) < 0, "never");
  });
  std::string output = output_of([&] { text = error_of([&] { outside[1].interpreted()(four); }); });
  EXPECT_HAS(output, "before\n");
  EXPECT_HAS(text, "assertion failed: never");
  EXPECT_HAS(text, "out of bounds");
}

TEST(EffectsCompiled, ForGpus) {
  Kernel k = st::kernel("k", [](tl::Ptr<float> x, tl::i32 n) {
    auto i = tl::arange(0, 128), j = tl::arange(0, 64)[{tl::colon, tl::newaxis}] * 2 + tl::arange(0, 2);
    auto v = tl::load(x + i);
    tl::tap("tile", v * tl::rand(n, i), v > 0);
    tl::tap("flag", j.to(bf16));
    tl::print("v", v.to(f16), j, n);
    tl::device_assert(v < 3, "small", i < n);
    tl::range(0, n, 1, [&](auto m) { tl::device_assert(m < 100); });
    tl::store(x + i, v);
  });
  front::TracedKernel traced = front::trace_with_effects(k.declaration(), front::facts_for(k.declaration(), {}), {.any = true});
  for (const char* processor : {"sm_70", "sm_90"}) {
    Target target = target_named(std::string("cuda:") + processor);
    Binary binary = compiler_for(target).compile(pass::lower(pass::prepare(traced.program, target), target), target);
    if (!support::has_ptxas()) GTEST_SKIP() << "ptxas is not installed; the PTX was compiled only";
    EXPECT_EQ(support::assemble({std::string(binary.code.begin(), binary.code.end())}, processor), "");
  }
}

// --- while tracing

TEST(EffectsTraced, CompilePrint) {
  auto k = st::kernel("shown", [](tl::Ptr<float> x, tl::i32 n, tl::Constexpr BLOCK) {
    auto i = tl::arange(0, BLOCK);
    tl::compile_print("x", x, tl::load(x + i), i.shape(), f16, n, BLOCK, Value(BLOCK) * 2, tl::full({}, 0.5, f32), 1.5);
  });
  std::string text = output_of([&] { k.source({st::zeros({64}), 5, 64}); });
  EXPECT_EQ(text, "shown (" + line(__LINE__ - 3) + "): x *f32 f32[64] (64) f16 i32 64 128 f32 = 0.5 1.5\n");
}

TEST(EffectsTraced, CompileAssert) {
  auto k = st::kernel("sized", [](tl::Ptr<float> x, tl::Constexpr BLOCK) {
    tl::compile_assert(BLOCK % 16 == 0, "BLOCK is a multiple of 16");
    tl::store(x, 1.0f);
  });
  Tensor x = st::zeros({1});
  k[1](x, 32);
  EXPECT_EQ(error_of([&] { k[1](x, 33); }), "kernel sized (" + line(__LINE__ - 5) + "): compile_assert failed: BLOCK is a multiple of 16");
  auto runtime = st::kernel("runtime", [](tl::i32 n) { tl::compile_assert(n > 0); });
  EXPECT_HAS(error_of([&] { runtime[1](5); }), "compile_assert: the condition is bool, which is not known while the kernel is traced");
}

TEST(EffectsTraced, Mistakes) {
  auto error = [](auto body) { return error_of([&] { st::kernel("wrong", body)[1](); }); };
  EXPECT_HAS(error([] { tl::tap("a", 1), tl::tap("a", 2); }), "tap: the name a is taken by another tap of this kernel");
  EXPECT_HAS(error([] { tl::device_assert(tl::arange(0, 4)); }), "device_assert: the condition is i32[4], expected bool; compare it with 0");
  EXPECT_HAS(error([] { tl::device_assert(true, "", tl::arange(0, 4)); }), "device_assert: the mask is i32[4], expected bool");
  EXPECT_HAS(error([] { tl::tap("a", 1, tl::program_id(0)); }), "tap: the mask is i32, expected bool");
  EXPECT_HAS(error([] { tl::print("a", tl::zeros<float>({512, 512})); }), "print: 262144 elements, at most 131070 are possible");
  auto op = st::pointwise("loud", [](auto x) {
    tl::print("x", x);
    return x;
  });
  EXPECT_HAS(error_of([&] { op(st::zeros({4})); }), "print stands in an operator, expected in a kernel");
}

}  // namespace
}  // namespace strider::test
