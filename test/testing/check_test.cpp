// SPDX-License-Identifier: Apache-2.0
// check(): that good operators and kernels pass, and that each kind of bad one fails at the step that is meant for it.
#include <strider/testing/check.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>

#include <strider/testing/worked.h>
#include "testing/check.h"
#include "support/errors.h"

#include <strider/strider.h>

namespace strider {
namespace {

using strider::testing::check;
using strider::testing::CheckOptions;
using strider::testing::CheckReport;
using strider::testing::CheckStep;
using strider::testing::KernelCall;
using strider::testing::KernelCheck;
using strider::testing::KernelSize;
using strider::testing::Verdict;

CheckOptions brief(std::vector<DType> dtypes = {f32, i32}) { return {.dtypes = std::move(dtypes), .speed = 0, .quick = true}; }

const CheckStep& step(const CheckReport& report, std::string_view name) {
  for (const CheckStep& s : report.steps)
    if (s.name == name) return s;
  throw std::runtime_error("no such step");
}

bool says(const CheckStep& s, std::string_view words) {
  return std::any_of(s.lines.begin(), s.lines.end(), [&](const auto& l) { return l.text.find(words) != std::string::npos; });
}

// --- operators

TEST(CheckOperator, GoodOnesPass) {
  for (const CheckReport& r :
       {check(ops::abs, brief({f32, f16, i8, u16, i64})), check(ops::add, brief({boolean, f32, i32, bf16})),
        check(ops::where, brief()), check(ops::add_scaled, brief()), check(ops::lt, brief())}) {
    EXPECT_TRUE(r.passed()) << r.text();
    EXPECT_EQ(r.steps.size(), 4u);
    EXPECT_EQ(r.steps[3].verdict, Verdict::Skipped);
  }
}

TEST(CheckOperator, OwnOnesPassToo) {
  auto two = pointwise("sum_and_difference", [](auto x, auto y) { return std::tuple(x + y, x - y); });
  CheckReport r = check(two, brief());
  EXPECT_TRUE(r.passed()) << r.text();
}

TEST(CheckOperator, TypesThatMustBeAccepted) {
  CheckOptions options = brief({f32, i32});
  options.must_accept = {f32, i32};
  auto only_floats = pointwise("only_floats", [](auto x) { return 0.5 * x; }, {.promotion = {{{0}, Promotion::Default}}});
  CheckReport r = check(only_floats, options);
  EXPECT_EQ(step(r, "types").verdict, Verdict::Failed) << r.text();
  EXPECT_TRUE(says(step(r, "types"), "i32 must be accepted"));
  EXPECT_EQ(step(r, "boundaries").verdict, Verdict::Skipped);
  EXPECT_EQ(step(r, "correctness").verdict, Verdict::Skipped);
}

TEST(CheckOperator, FailingWithoutATypedErrorIsAFault) {
  auto throwing = pointwise("throwing", [](auto x) {
    if constexpr (std::same_as<decltype(x), Value>)
      if (x.dtype() == i32) throw std::runtime_error("a stray exception");
    return x + x;
  });
  CheckReport r = check(throwing, brief());
  EXPECT_EQ(step(r, "types").verdict, Verdict::Failed) << r.text();
  EXPECT_TRUE(says(step(r, "types"), "i32 fails by no error of its own"));
}

TEST(CheckOperator, TheSignOfZeroIsABoundary) {
  auto wrong_abs = pointwise("wrong_abs", [](auto x) { return where(x < 0, -x, x); });
  CheckOptions options = brief({f32});
  options.reference = [](std::span<const double> x) { return std::fabs(x[0]); };
  CheckReport r = check(wrong_abs, options);
  EXPECT_EQ(step(r, "types").verdict, Verdict::Passed);
  EXPECT_EQ(step(r, "boundaries").verdict, Verdict::Failed) << r.text();
  EXPECT_TRUE(says(step(r, "boundaries"), "in0 = -0.0 the result is -0.0, expected 0.0")) << r.text();
  EXPECT_EQ(step(r, "correctness").verdict, Verdict::Passed) << "ordinary numbers are right";
  EXPECT_FALSE(r.passed());
}

TEST(CheckOperator, NanIsABoundary) {
  auto drops_nan = pointwise("drops_nan", [](auto x, auto y) { return fmax(x, y); });
  CheckOptions options = brief({f32});
  options.reference = [](std::span<const double> x) { return std::isnan(x[0]) || std::isnan(x[1]) ? NAN : std::max(x[0], x[1]); };
  CheckReport r = check(drops_nan, options);
  EXPECT_EQ(step(r, "boundaries").verdict, Verdict::Failed);
  EXPECT_TRUE(says(step(r, "boundaries"), "nan")) << r.text();
}

TEST(CheckOperator, TheSmallestIntegerIsABoundary) {
  CheckOptions options = brief({i8});
  options.reference = [](std::span<const double> x) { return std::min(std::fabs(x[0]), 127.0); };
  CheckReport r = check(ops::abs, options);
  EXPECT_TRUE(says(step(r, "boundaries"), "x = -128")) << r.text();
}

TEST(CheckOperator, OrdinaryNumbersAreCorrectness) {
  auto rough = pointwise("rough", [](auto x) { return where((x > 17.0) & (x < 17.5), x * 1.001, x); });
  CheckOptions options = brief({f32});
  options.reference = [](std::span<const double> x) { return x[0]; };
  CheckReport r = check(rough, options);
  EXPECT_EQ(step(r, "correctness").verdict, Verdict::Failed) << r.text();
  EXPECT_TRUE(says(step(r, "correctness"), "0.001"));
  EXPECT_EQ(step(r, "speed").verdict, Verdict::Skipped);
}

TEST(CheckOperator, DoublesThatAreOnlyFloatsAreWrong) {
  auto rough = pointwise("rough", [](auto x) { return x * 1.00000001; });
  CheckOptions options = brief({f64});
  options.reference = [](std::span<const double> x) { return x[0]; };
  CheckReport r = check(rough, options);
  EXPECT_FALSE(r.passed()) << r.text();
}

TEST(CheckOperator, OverflowOnTheWayIsTheFunctionsOwn) {
  auto f = pointwise("overflows", [](auto x) { return x * 4.0 / 4.0; });
  CheckReport r = check(f, brief({f32}));
  EXPECT_TRUE(r.passed()) << r.text();
  EXPECT_TRUE(says(step(r, "boundaries"), "in its own dtype")) << r.text();
}

// --- kernels

/// A kernel over vectors of x and out, and what it should give.
template <class Body, class Reference>
KernelCheck vectors(Body body, Reference reference) {
  Kernel k = kernel("seeded", body, {{"x", "out", "n"}});
  KernelCheck how{.block = 128, .blocks = {64, 128, 1024, 8192}};
  how.prepare = [=](const KernelSize& s, const TensorOptions& options) {
    KernelCall call;
    Tensor x = zeros({s.elements()}, options), out = empty({s.elements()}, options);
    call.inputs = {x}, call.out = out, call.bytes = 2 * x.elements() * size_of(x.dtype());
    call.launch = [=] { k[s.programs()](x, out, s.elements(), {{"BLOCK", s.block}}); };
    call.expected = [=] {
      std::vector<double> all = x.to_doubles();
      for (double& v : all) v = reference(v);
      return all;
    };
    return call;
  };
  return how;
}

auto offsets(const tl::Const<"BLOCK">& block) { return tl::program_id(0).to(i64) * block + tl::arange(0, block); }

const auto kAbs = [](tl::Ptr<> x, tl::Ptr<> out, tl::i64 n, tl::Const<"BLOCK"> block) {
  auto i = offsets(block);
  tl::store(out + i, tl::abs(tl::load(x + i, i < n)), i < n);
};
double abs_of(double v) { return std::fabs(v); }

TEST(CheckKernel, GoodOnesPass) {
  CheckReport r = check("seeded", vectors(kAbs, abs_of), brief({f32, f16, i32, i8, i64, u64}));
  EXPECT_TRUE(r.passed()) << r.text();
  EXPECT_TRUE(says(step(r, "boundaries"), "no elements: refused"));
}

TEST(CheckKernel, WorkedOnesPass) {
  for (const testing::worked::Worked& w : testing::worked::kAll) {
    KernelCheck how{.prepare = {}, .by_rows = w.by_rows, .in_f32 = w.in_f32, .block = 256};
    how.prepare = [&w](const KernelSize& size, const TensorOptions& tensors) {
      testing::worked::Call c = w.prepare({size.rows, size.columns, size.block}, tensors);
      return KernelCall{c.inputs, c.out, c.launch, c.expected, c.bytes};
    };
    CheckReport r = check(w.name, how, brief({f32, bf16}));
    EXPECT_TRUE(r.passed()) << r.text();
  }
}

TEST(CheckKernel, AStoreWithoutAMaskIsABoundary) {
  CheckReport r = check("seeded", vectors([](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Const<"BLOCK"> block) {
    auto i = offsets(block);
    tl::store(out + i, tl::abs(tl::load(x + i, i < n)));
  }, abs_of), brief({f32}));
  EXPECT_EQ(step(r, "types").verdict, Verdict::Passed) << r.text();
  EXPECT_EQ(step(r, "boundaries").verdict, Verdict::Failed);
  EXPECT_TRUE(says(step(r, "boundaries"), "check_test.cpp")) << "the interpreter knows the line\n" << r.text();
}

TEST(CheckKernel, ALoadWithoutAMaskIsABoundary) {
  CheckReport r = check("seeded", vectors([](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Const<"BLOCK"> block) {
    auto i = offsets(block);
    tl::store(out + i, tl::abs(tl::load(x + i)), i < n);
  }, abs_of), brief({f32}));
  EXPECT_EQ(step(r, "boundaries").verdict, Verdict::Failed) << r.text();
}

TEST(CheckKernel, ABranchOfSignsLosesMinusZero) {
  CheckReport r = check("seeded", vectors([](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Const<"BLOCK"> block) {
    auto i = offsets(block);
    auto v = tl::load(x + i, i < n);
    tl::store(out + i, tl::where(v != v, 0.0f, tl::abs(v)), i < n);
  }, abs_of), brief({f32}));
  EXPECT_EQ(step(r, "boundaries").verdict, Verdict::Failed);
  EXPECT_TRUE(says(step(r, "boundaries"), "nan in input 0 of f32")) << r.text();
}

TEST(CheckKernel, WhatOnlyLargeSizesShowIsCorrectness) {
  KernelCheck how = vectors(kAbs, abs_of);
  how.prepare = [inner = how.prepare](const KernelSize& s, const TensorOptions& options) {
    KernelCall call = inner(s, options);
    if (s.elements() > 5000)
      call.launch = [launch = call.launch, out = call.out] { launch(), out.narrow(0, 4999, 1).copy_from(full({1}, 3.0)); };
    return call;
  };
  CheckReport r = check("seeded", how, brief({f32}));
  EXPECT_EQ(step(r, "boundaries").verdict, Verdict::Passed) << r.text();
  EXPECT_EQ(step(r, "correctness").verdict, Verdict::Failed) << r.text();
  EXPECT_TRUE(says(step(r, "correctness"), "(4999)"));
}

TEST(CheckKernel, MemoryBetweenLaunchesIsGuarded) {
  KernelCheck how = vectors(kAbs, abs_of);
  how.prepare = [inner = how.prepare](const KernelSize& s, const TensorOptions& options) {
    KernelCall call = inner(s, options);
    call.launch = [launch = call.launch, out = call.out] {
      launch();
      static_cast<char*>(out.data())[-3] = 1;  // as code that does not go through the interpreter may
    };
    return call;
  };
  CheckReport r = check("seeded", how, brief({f32}));
  EXPECT_TRUE(says(step(r, "boundaries"), "wrote outside: 1 bytes before a tensor of 4 bytes, from byte -3 on")) << r.text();
  EXPECT_EQ(step(r, "correctness").verdict, Verdict::Skipped) << "memory was damaged";
}

// --- speed: judged by times that are made up here, so that nothing depends on what else the machine does

/// A machine on which a copy takes a second, and the subject `slowness` times as long.
struct MadeUp {
  std::function<double(int64_t elements, int64_t block, int64_t shift)> slowness;
  int64_t footprint = 8;  // for each element, of which 8 bytes must move
  double now = 1;
  int measured = 0;

  CheckStep speed(std::vector<int64_t> blocks = {64, 128, 1024}, int64_t block = 128) {
    testing::SpeedSubject subject{.make = {}, .block = block, .blocks = std::move(blocks)};
    subject.make = [this](int64_t elements, int64_t b, int64_t shift) {
      now = slowness(elements, b, shift);
      return testing::SpeedCase{[] {}, 8 * elements, footprint * elements};
    };
    CheckOptions options = brief({f32});
    options.speed = 0.9;
    options.elements = 1 << 18;
    CheckStep result{"speed"};
    testing::check_speed(result, subject, options, [this](auto&, auto, auto&) {
      ++measured;
      return std::vector<testing::Times>{{{now, now, now}}, {{1, 1, 1}}};
    });
    return result;
  }
};

TEST(CheckSpeed, FastCodePasses) {
  MadeUp m{[](auto...) { return 1.0; }};
  CheckStep s = m.speed();
  EXPECT_EQ(s.verdict, Verdict::Passed);
  EXPECT_TRUE(says(s, "1.00 of copy with a block of 128"));
  EXPECT_EQ(m.measured, 1);
}

TEST(CheckSpeed, OneSlowMeasurementIsNoFault) {
  MadeUp m{{}};
  m.slowness = [&](auto...) { return m.measured == 0 ? 3.0 : 1.0; };
  EXPECT_EQ(m.speed().verdict, Verdict::Passed);
}

TEST(CheckSpeed, ATinyBlockIsAtFault) {
  MadeUp m{[](int64_t, int64_t block, int64_t) { return block < 100 ? 4.0 : block < 1000 ? 1.05 : 1.0; }};
  CheckStep s = m.speed({2, 128, 1024}, 2);
  EXPECT_EQ(s.verdict, Verdict::Failed);
  EXPECT_TRUE(says(s, "at fault: the block. 1024 reaches 1.00 of copy"));
}

TEST(CheckSpeed, TooLittleDataIsAtFault) {
  MadeUp m{[](int64_t elements, int64_t, int64_t) { return elements > 1 << 18 ? 1.0 : 2.0; }};
  CheckStep s = m.speed();
  EXPECT_TRUE(says(s, "not the block"));
  EXPECT_TRUE(says(s, "at fault: the size of the data"));
}

TEST(CheckSpeed, ScatteredReadsAreAtFault) {
  MadeUp m{[](auto...) { return 5.0; }, 40};
  CheckStep s = m.speed();
  EXPECT_EQ(s.verdict, Verdict::Failed);
  EXPECT_TRUE(says(s, "not the block") && says(s, "not the size"));
  EXPECT_TRUE(says(s, "at fault: the access pattern. Its tensors span 5.0 times the bytes"));
}

TEST(CheckSpeed, WhatIsFastFromTheCachesAloneReadsInABadOrder) {
  MadeUp m{[](int64_t elements, int64_t, int64_t) { return elements <= 1 << 17 ? 1.0 : 5.0; }};
  CheckStep s = m.speed();
  EXPECT_EQ(s.verdict, Verdict::Failed);
  EXPECT_TRUE(says(s, "at fault: the access pattern. From the caches it is as fast as a copy"));
}

TEST(CheckSpeed, CostlyMathsAreNotedAndNoFault) {
  MadeUp m{[](auto...) { return 5.0; }};
  CheckStep s = m.speed();
  EXPECT_EQ(s.verdict, Verdict::Noted);
  EXPECT_TRUE(says(s, "at fault: the maths"));
}

TEST(CheckSpeed, OperatorsAndKernelsAreTimed) {
  CheckOptions o = brief({f32});
  o.speed = 1e-9;  // whatever the machine does, that is reached
  o.elements = 1 << 16;
  EXPECT_TRUE(says(step(check(ops::abs, o), "speed"), "of copy: "));
  EXPECT_TRUE(says(step(check("seeded", vectors(kAbs, abs_of), o), "speed"), "of copy with a block of 128: "));
}

// --- reports

TEST(CheckReports, TextAndJson) {
  CheckReport r{"operator f", "cpu", {{"types", Verdict::Passed, {{Verdict::Passed, "accepted: f32"}}},
                                      {"boundaries", Verdict::Failed, {{Verdict::Failed, "at x = nan\n  a table\n"}}}}};
  EXPECT_EQ(r.text(),
            "operator f on cpu: FAILED\n"
            "  1 types        passed\n"
            "       accepted: f32\n"
            "  2 boundaries   FAILED\n"
            "     ! at x = nan\n"
            "         a table\n");
  auto j = nlohmann::json::parse(r.json());
  EXPECT_EQ(j["passed"], false);
  EXPECT_EQ(j["steps"][1]["name"], "boundaries");
  EXPECT_EQ(j["steps"][1]["lines"][0]["verdict"], "failed");
}

TEST(CheckReports, SaysWhatIsWrong) {
  using support::error_of;
  EXPECT_NE(error_of([] { check(ops::abs, {.device = "abacus"}); }).find("abacus"), std::string::npos);
  EXPECT_NE(error_of([] { check(ops::abs, {.speed = -1}); }).find("the speed is -1"), std::string::npos);
  EXPECT_NE(error_of([] { check("k", KernelCheck{}); }).find("no function that prepares"), std::string::npos);
}

}  // namespace
}  // namespace strider
