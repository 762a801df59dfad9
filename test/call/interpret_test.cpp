// SPDX-License-Identifier: Apache-2.0
// Launches in the interpreter: each kind of fault is found where it was seeded, and what is right is left alone.
#include <gtest/gtest.h>

#include <algorithm>

#include <strider/strider.h>

#include <strider/testing/worked.h>
#include "ops/builtins.h"
#include "ops/kernels.h"
#include "call/interpret.h"
#include "support/errors.h"

namespace st = strider;
namespace tl = strider::tl;

namespace strider::test {
namespace {

using support::error_of;
using Faults = std::vector<Fault>;

/// The faults of one launch with what is asked for switched on.
template <class Launch>
Faults faults_of(Interpretation how, Launch launch) {
  Faults faults;
  how.faults = &faults;
  Interpreted scope(how);
  launch();
  return faults;
}

constexpr Interpretation kPlain{}, kMasked{.masked_lanes = true}, kOverflow{.overflow = true}, kElementwise{.elementwise = true};

/// One fault, in this file at `line`.
void expect_one(const Faults& faults, FaultKind kind, int line, std::array<int64_t, 3> program, std::vector<int64_t> lane) {
  ASSERT_EQ(faults.size(), 1u) << (faults.empty() ? "" : faults[0].text + "\n" + faults.back().text);
  const Fault& f = faults[0];
  EXPECT_EQ(name_of(f.kind), name_of(kind)) << f.text;
  EXPECT_EQ(f.file, __FILE__) << f.text;
  EXPECT_EQ(f.line, line) << f.text;
  EXPECT_EQ(f.program, program) << f.text;
  EXPECT_EQ(f.lane, lane) << f.text;
}

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }
#define EXPECT_HAS(text, words) EXPECT_TRUE(has(text, words)) << text

struct Shift {
  int line = 0;
  Kernel kernel = make();
  Kernel make() {
    line = __LINE__ + 3;
    return st::kernel("shift", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
      auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
      auto v = tl::load(x + (i + 27), i < n);
      tl::store(out + i, v, i < n);
    }, {{"x", "out", "n"}});
  }
};

TEST(Interpret, AnAccessOutOfBoundsIsTold) {
  Shift shift;
  Tensor x = st::arange(1000), out = st::zeros({1000});
  Faults faults;
  shift.kernel[st::cdiv(1000, 128)].interpreted({.faults = &faults})(x, out, 1000, {{"BLOCK", 128}});
  expect_one(faults, FaultKind::OutOfBounds, shift.line, {7, 0, 0}, {973 - 7 * 128});
  EXPECT_EQ(faults[0].kernel, "shift");
  EXPECT_EQ(faults[0].argument, "x");
  EXPECT_EQ(faults[0].element, 1000);
  EXPECT_EQ(faults[0].repeats, 26);
  EXPECT_HAS(faults[0].text, "element x + 1000 is out of bounds, the tensor has 1000 elements, 0 to 999; program (7, 0, 0), lane (77); 26 more");
  EXPECT_EQ(out.to_doubles()[972], 999);
  EXPECT_EQ(out.to_doubles()[973], 0);  // a load out of bounds gives 0
}

TEST(Interpret, FaultsAreAnErrorUnlessTheyAreCollected) {
  Shift shift;
  Tensor x = st::arange(1000), out = st::zeros({1000});
  const std::string text = error_of([&] { shift.kernel[8].interpreted()(x, out, 1000, {{"BLOCK", 128}}); });
  EXPECT_EQ(text.rfind("kernel shift: `%", 0), 0u) << text;  // the kernel is named once
  EXPECT_EQ(text.find("kernel shift", 1), std::string::npos) << text;
  EXPECT_HAS(text, "interpret_test.cpp:" + std::to_string(shift.line) + "): element x + 1000 is out of bounds");
  auto prepared = shift.kernel[8].interpreted().prepare(x, out, 1000, 128);
  EXPECT_EQ(error_of([&] { prepared(); }), text);
}

TEST(Interpret, BoundsAreThoseOfTheView) {
  auto fill = st::kernel("fill", [](tl::Ptr<int> p, tl::i32 from) { tl::store(p + (from + tl::arange(0, 4)), 7); }, {{"p", "from"}});
  Tensor x = st::zeros({10}, {i32});
  auto faults = [&](const Tensor& view, int from) { return faults_of(kPlain, [&] { fill[1](view, from); }); };
  EXPECT_TRUE(faults(x.slice(0, 2, 6), 0).empty());
  Faults after = faults(x.slice(0, 2, 6), 1), before = faults(x.slice(0, 2, 6), -1);
  ASSERT_EQ(after.size(), 1u);
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(after[0].element, 4);
  EXPECT_EQ(after[0].lane, std::vector<int64_t>{3});
  EXPECT_EQ(before[0].element, -1);
  EXPECT_HAS(before[0].text, "element p - 1 is out of bounds, the tensor has 4 elements, 0 to 3");
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{0, 0, 7, 7, 7, 7, 0, 0, 0, 0}));
  EXPECT_EQ(faults(x.slice(0, 0, 10, 3), 7).size(), 1u);  // 4 elements, 0 to 9
  EXPECT_TRUE(faults(x.slice(0, 0, 10, 3), 6).empty());
  Faults flipped = faults(x.flip(0), 0);
  ASSERT_EQ(flipped.size(), 1u);
  EXPECT_HAS(flipped[0].text, "the tensor has 10 elements, -9 to 0");
  Tensor none = st::zeros({0}, {i32});
  ASSERT_EQ(faults(none, 0).size(), 1u);
  EXPECT_HAS(faults(none, 0)[0].text, "p has no elements");
}

TEST(Interpret, TwoProgramsThatMeetRace) {
  const int line = __LINE__ + 3;
  auto sum = st::kernel("sum", [](tl::Ptr<int> x, tl::Ptr<int> out) {
    auto v = tl::load(out) + tl::load(x + tl::program_id(0));
    tl::store(out, v);
  }, {{"x", "out"}});
  Tensor x = st::arange(4, {i32}), out = st::zeros({}, {i32});
  Faults faults = faults_of(kPlain, [&] { sum[4](x, out); });
  expect_one(faults, FaultKind::Race, line - 1, {1, 0, 0}, {});  // the load meets the store of the program before
  EXPECT_EQ(faults[0].argument, "out");
  EXPECT_EQ(faults[0].repeats, 2);
  EXPECT_HAS(faults[0].text, "element out + 0 races with `store");
  auto atomic = st::kernel("atomic", [](tl::Ptr<int> x, tl::Ptr<int> out) {
    tl::atomic_add(out, tl::load(x + tl::program_id(0)));
  });
  EXPECT_TRUE(faults_of(kPlain, [&] { atomic[4](x, out); }).empty());
}

TEST(Interpret, GridsOfThreeAxesNameTheProgram) {
  const int line = __LINE__ + 3;
  auto k = st::kernel("corner", [](tl::Ptr<int> out) {
    auto at = tl::program_id(0) + 2 * tl::program_id(1) + 4 * tl::program_id(2);
    tl::store(out + at, at);
  });
  Tensor out = st::zeros({7}, {i32});
  expect_one(faults_of(kPlain, [&] { k[{2, 2, 2}](out); }), FaultKind::OutOfBounds, line, {1, 1, 1}, {});
}

// --- the lint of masked lanes

struct Sink {
  const char* words;
  int line;
  Kernel kernel;
  std::vector<int64_t> lane;
};

TEST(Interpret, MaskedLanesThatCount) {
  const int line = __LINE__;
  const Sink sinks[] = {
      {"stores a lane that", line + 4, st::kernel("stored", [](tl::Ptr<float> x, tl::Ptr<float> out) {
         auto i = tl::arange(0, 8);
         tl::store(out + i, tl::load(x + i, i < 5) + 1);
       }), {5}},
      {"folds a lane that", line + 9, st::kernel("reduced", [](tl::Ptr<float> x, tl::Ptr<float> out) {
         auto i = tl::arange(0, 8);
         auto v = tl::load(x + i, i < 6);
         auto s = tl::sum(v);
         tl::store(out, s);
       }), {6}},
      {"updates memory with a lane that", line + 15, st::kernel("added", [](tl::Ptr<float> x, tl::Ptr<float> out) {
         auto i = tl::arange(0, 8);
         auto v = tl::load(x + i, i != 3);
         tl::atomic_add(out + i, v);
       }), {3}},
      {"decides by a lane that", line + 20, st::kernel("decided", [](tl::Ptr<float> x, tl::Ptr<float> out) {
         auto n = tl::load(x, tl::program_id(0) > 0);
         auto is_large = n > 3;
         tl::if_(is_large, [&] { tl::store(out, 1.0f); });
       }), {}},
  };
  for (const Sink& s : sinks) {
    Tensor x = st::arange(8), out = st::zeros({8});
    Faults faults = faults_of(kMasked, [&] { s.kernel[1](x, out); });
    ASSERT_EQ(faults.size(), 1u) << s.words;
    EXPECT_EQ(faults[0].kind, FaultKind::MaskedLane);
    EXPECT_EQ(faults[0].line, s.line) << faults[0].text;
    EXPECT_EQ(faults[0].lane, s.lane) << faults[0].text;
    EXPECT_HAS(faults[0].text, s.words);
    EXPECT_HAS(faults[0].text, "without `other`");
    EXPECT_TRUE(faults_of(kPlain, [&] { s.kernel[1](x, out); }).empty()) << s.words;
  }
}

TEST(Interpret, MaskedLanesThatDoNotCount) {
  auto k = st::kernel("clean", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i32 n) {
    auto i = tl::arange(0, 8);
    auto mask = i < n;
    auto bare = tl::load(x + i, mask);
    tl::store(out + i, bare * 2, mask);                        // stored where it was loaded
    auto chosen = tl::where(mask, tl::exp(bare), 0.0f);        // where drops the lanes
    auto filled = tl::load(x + i, mask, -1.0f);                // other
    tl::store(out, tl::sum(chosen) + tl::max(filled));
    auto last = tl::range(0, n, 1, filled, [&](auto, auto carried) { return tl::where(mask & (bare > 0), carried + bare, 0.0f); });
    tl::store(out + i, last);
  });
  Tensor x = st::arange(8), out = st::zeros({8});
  Faults faults = faults_of(kMasked, [&] { k[1](x, out, 5); });
  EXPECT_TRUE(faults.empty()) << faults[0].text;
}

TEST(Interpret, MaskedLanesAreFollowedThroughLoopsAndShapes) {
  auto k = st::kernel("through", [](tl::Ptr<float> x, tl::Ptr<float> out) {
    auto i = tl::arange(0, 4);
    auto v = tl::load(x + i, i < 3);
    auto looped = tl::range(0, 2, 1, v, [](auto, auto carried) { return carried * 2; });
    auto square = tl::trans(tl::broadcast_to(tl::expand_dims(looped, 0), {4, 4}));
    tl::store(out + tl::reshape(tl::arange(0, 16), {4, 4}), square);
  });
  Tensor x = st::arange(4), out = st::zeros({16});
  Faults faults = faults_of(kMasked, [&] { k[1](x, out); });
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].lane, (std::vector<int64_t>{3, 0})) << faults[0].text;
  EXPECT_EQ(faults[0].repeats, 3);
}

// --- the lint of overflow

template <class T, class F>
Faults overflow_of(std::vector<T> values, F f) {
  auto k = st::kernel("maths", [f](tl::Ptr<T> x, tl::Ptr<> out, tl::Const<"N"> n) {
    auto i = tl::arange(0, n);
    tl::store(out + i, f(tl::load(x + i)));
  });
  Tensor x = st::tensor(values), out = st::zeros({static_cast<int64_t>(values.size())}, {i64});
  return faults_of(kOverflow, [&] { k[1](x, out, static_cast<int64_t>(values.size())); });
}

TEST(Interpret, OverflowOfEachOperation) {
  const int32_t most = INT32_MAX, least = INT32_MIN;
  const std::vector<int64_t> second{1};
  int line = __LINE__;
  expect_one(overflow_of<int32_t>({5, most}, [](auto x) { return x + 1; }), FaultKind::Overflow, line + 1, {}, second);
  expect_one(overflow_of<int32_t>({5, least}, [](auto x) { return x - 1; }), FaultKind::Overflow, line + 2, {}, second);
  expect_one(overflow_of<int32_t>({5, 1 << 30}, [](auto x) { return x * 2; }), FaultKind::Overflow, line + 3, {}, second);
  expect_one(overflow_of<int32_t>({5, least}, [](auto x) { return -x; }), FaultKind::Overflow, line + 4, {}, second);
  expect_one(overflow_of<int32_t>({5, least}, [](auto x) { return tl::abs(x); }), FaultKind::Overflow, line + 5, {}, second);
  expect_one(overflow_of<int32_t>({5, least}, [](auto x) { return tl::div(x, -1); }), FaultKind::Overflow, line + 6, {}, second);
  expect_one(overflow_of<int32_t>({5, 6}, [](auto x) { return x << 29; }), FaultKind::Overflow, line + 7, {}, {0});
  expect_one(overflow_of<int32_t>({5, 300}, [](auto x) { return x.to(st::i8); }), FaultKind::Overflow, line + 8, {}, second);
  expect_one(overflow_of<float>({5, 3e9f}, [](auto x) { return x.to(st::i32); }), FaultKind::Overflow, line + 9, {}, second);
  expect_one(overflow_of<uint8_t>({5, 255}, [](auto x) { return x + 1; }), FaultKind::Overflow, line + 10, {}, second);
  expect_one(overflow_of<uint8_t>({5, 3}, [](auto x) { return x - 4; }), FaultKind::Overflow, line + 11, {}, second);
  expect_one(overflow_of<int64_t>({5, INT64_MAX}, [](auto x) { return x + x; }), FaultKind::Overflow, line + 12, {}, second);
  expect_one(overflow_of<int32_t>({most, 9}, [](auto x) { return tl::sum(x); }), FaultKind::Overflow, line + 13, {}, {});
}

TEST(Interpret, WhatDoesNotOverflowIsLeftAlone) {
  auto none = [](const Faults& faults) { EXPECT_TRUE(faults.empty()) << faults[0].text; };
  none(overflow_of<uint32_t>({5, 9}, [](auto x) { return x - 3; }));  // a sum with 2^32 - 3 to the compiler
  none(overflow_of<int32_t>({INT32_MAX, INT32_MIN}, [](auto x) { return (x.to(st::i64) + 1) * 2; }));
  none(overflow_of<int32_t>({INT32_MIN, 7}, [](auto x) { return tl::floor_div(x, 3) + tl::rem(x, 5) + tl::sign(x); }));
  none(overflow_of<float>({-1e30f, 80}, [](auto x) { return (tl::exp(x) * 0 + tl::sin(x)).to(st::i32); }));
  none(overflow_of<int8_t>({-128, 127}, [](auto x) { return x.to(st::i16) << 8; }));
  none(overflow_of<float>({2147483520.0f, -2147483648.0f}, [](auto x) { return x.to(st::i32); }));
  none(overflow_of<double>({2147483647.9, -2147483648.9}, [](auto x) { return x.to(st::i32); }));
}

TEST(Interpret, WhatMayWrapIsLeftAlone) {
  auto hash = [](auto x) {
    return tl::wrapping([&] {
      auto h = (x.to(st::u32) ^ 61u) * 0x9E3779B9u;
      return (h << 7) + h;
    });
  };
  EXPECT_TRUE(overflow_of<int32_t>({-5, 1 << 30}, hash).empty());
  EXPECT_EQ(overflow_of<int32_t>({1 << 30}, [&](auto x) { return hash(x) + 0xffffffffu; }).size(), 1u);
}

TEST(Interpret, OverflowInAnOperator) {
  const int line = __LINE__ + 1;
  auto add = st::pointwise("plus", [](auto x, auto y) { return x + y; });
  Tensor a = st::full({3, 4}, 100, {i8}), b = st::full({4}, 27, {i8}), c = st::full({4}, 28, {i8});
  Faults faults;
  add.interpreted({.faults = &faults, .overflow = true})(a, b);
  EXPECT_TRUE(faults.empty());
  Tensor sum = add.interpreted({.faults = &faults, .overflow = true})(a.t(), c.slice(0, 0, 3));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].line, line);
  EXPECT_HAS(faults[0].text, "operator plus: `");
  EXPECT_HAS(faults[0].text, "does not fit i8 and wraps: of 100 and 28");
  EXPECT_EQ(sum.to_doubles()[0], -128);
}

// --- the lint of elementwise kernels

TEST(Interpret, ElementwiseKernelsThatReadOtherElements) {
  const int line = __LINE__ + 3;
  auto naive = st::kernel("naive", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i32 n) {
    auto i = tl::program_id(0) * 4 + tl::arange(0, 4);
    auto v = tl::load(x + i, i < n);
    tl::store(out + i, v, i < n);
  }, {{"x", "out", "n"}});
  Tensor x = st::arange(12).reshape({3, 4}), out = st::empty({4, 3}), plain = st::empty({3, 4}), half = st::empty({3, 2});
  EXPECT_TRUE(faults_of(kElementwise, [&] { naive[3](x, plain, 12); }).empty());
  Faults transposed = faults_of(kElementwise, [&] { naive[3](x.t(), out, 12); });
  expect_one(transposed, FaultKind::Elementwise, line, {}, {1});
  EXPECT_HAS(transposed[0].text, "element x + 1 has index (1, 0), its lane is stored to index (0, 1), which is element x + 4;");
  Faults stepped = faults_of(kElementwise, [&] { naive[2](x.slice(1, 0, 4, 2), half, 6); });
  expect_one(stepped, FaultKind::Elementwise, line, {}, {1});
  EXPECT_HAS(stepped[0].text, "element x + 1 is no element of the tensor, its lane is stored to index (0, 1), which is element x + 2;");
  Faults broadcast = faults_of(kElementwise, [&] { naive[3](x.slice(0, 0, 1).expand({3, 4}), plain, 12); });
  expect_one(broadcast, FaultKind::OutOfBounds, line, {1, 0, 0}, {0});
}

// --- what is right

TEST(Interpret, ResultsAreThoseOfCompiledCode) {
  auto f = st::pointwise("mix", [](auto x, auto y) { return st::exp(x) * y + st::sin(y); });
  Tensor x = st::arange(60).reshape({3, 20}), y = st::arange(20);
  for (const Tensor& a : {x.slice(1, 0, 20, 2), x.t().slice(0, 0, 10).t(), x.flip(1).slice(1, 3, 13)}) {
    Tensor compiled = f(a, y.slice(0, 0, 20, 2)), interpreted = f.interpreted({.masked_lanes = true, .elementwise = true})(a, y.slice(0, 0, 20, 2));
    EXPECT_TRUE(std::ranges::equal(compiled.contiguous().to_doubles(), interpreted.contiguous().to_doubles()));
  }
}

/// Operands of an operator whose layouts have nothing in common; numbers where the schema has them.
struct Operands {
  explicit Operands(const detail::OperatorDecl& op) {
    const Tensor base = st::randn({6, 10, 14}), row = st::rand({14});
    const Tensor layouts[] = {base.slice(2, 1, 14, 2), base.permute({0, 2, 1}).slice(1, 0, 7).transpose(1, 2), row.slice(0, 0, 7).expand({6, 10, 7})};
    for (size_t k = 0; k < op.arguments; ++k) {
      tensors.push_back(layouts[k % 3]);
      if (op.name == "where" && k == 0) tensors.back() = st::randint({6, 10, 14}, 0, 2, {boolean}).flip(2).slice(2, 0, 7);
    }
    for (size_t k = 0; k < op.arguments; ++k)
      if (k < op.schema.is_tensor.size() && !op.schema.is_tensor[k]) arguments.push_back(Argument(0.5));
      else arguments.push_back(Argument(tensors[k]));
  }
  void use_integers() {
    for (Tensor& t : tensors) t = t.to(i32);
  }
  std::vector<Tensor> tensors;
  std::vector<Argument> arguments;
};

TEST(Interpret, EveryOperatorOfTheLibraryIsClean) {
  for (const ops::Builtin& b : ops::builtins()) {
    if (b.kind != "operator") continue;
    Operands operands(b.op->declaration());
    std::vector<Tensor> compiled;
    try {
      compiled = b.op->run(operands.arguments);
    } catch (const Error&) {
      operands.use_integers();
      compiled = b.op->run(operands.arguments);
    }
    std::vector<Tensor> interpreted;
    Faults faults = faults_of({.masked_lanes = true, .elementwise = true}, [&] { interpreted = b.op->run(operands.arguments); });
    EXPECT_TRUE(faults.empty()) << b.name << ": " << faults[0].text;
    for (size_t k = 0; k < compiled.size(); ++k)
      EXPECT_TRUE(st::equal(compiled[k], interpreted[k])) << b.name;
  }
}

TEST(Interpret, EveryKernelOfTheLibraryIsClean) {
  for (int64_t n : {1, 5, 100, 1000}) {
    Tensor x = st::randn({n}), rows = st::randn({7, n}), vector = st::rand({n});
    for (const Interpretation& how : {kMasked, kOverflow}) {
      Tensor sum = st::empty({n});
      Faults faults = faults_of(how, [&] {
        kernels::vector_add()[st::cdiv(n, 256)](x, vector, sum, n, {{"BLOCK", 256}});
        ops::l1_norm(x);
        ops::softmax(rows);
        ops::layer_norm(rows, vector, vector, 1e-5);
      });
      EXPECT_TRUE(faults.empty()) << faults[0].text;
      EXPECT_EQ(sum.to_vector<float>().back(), x.to_vector<float>().back() + vector.to_vector<float>().back());
    }
    Interpreted scope;
    Tensor interpreted = ops::softmax(rows);
    EXPECT_EQ(interpreted.size(1), n);
  }
}

/// Atomics of floats add in another order.
TEST(Interpret, EveryWorkedKernelIsCleanAndGivesTheSame) {
  for (const testing::worked::Worked& w : testing::worked::kAll) {
    const testing::worked::Size size = w.by_rows ? testing::worked::Size{3, 100, 128} : testing::worked::Size{1, 1000, 256};
    for (const Interpretation& how : {kMasked, kOverflow}) {
      testing::worked::Call call = w.prepare(size, {f32, "cpu"});
      call.launch();
      std::vector<double> compiled = call.out.to_doubles();
      Faults faults = faults_of(how, [&] { call.launch(); });
      EXPECT_TRUE(faults.empty()) << w.name << ": " << faults[0].text;
      std::vector<double> interpreted = call.out.to_doubles();
      for (size_t i = 0; i < compiled.size(); ++i) EXPECT_NEAR(compiled[i], interpreted[i], 1e-5 * std::abs(compiled[i])) << w.name;
    }
  }
}

TEST(Interpret, MaskedLanesAreFollowedThroughGathers) {
  auto k = st::kernel("gathered", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::Const<"LANE"> lane) {
    auto i = tl::arange(0, 4);
    auto v = tl::load(x + i, i < 3);
    tl::store(out + i, tl::gather(v, tl::full({4}, static_cast<int64_t>(lane), i32), 0));
  });
  Tensor x = st::arange(4), out = st::zeros({4});
  EXPECT_TRUE(faults_of(kMasked, [&] { k[1](x, out, 2); }).empty());
  EXPECT_EQ(faults_of(kMasked, [&] { k[1](x, out, 3); }).size(), 1u);
}

TEST(Interpret, PreparedCallsOfOperators) {
  auto scale = st::pointwise("scale", [](auto x, auto k) { return x * k; }, {.is_tensor = {true, false}});
  Tensor x = st::arange(5);
  Interpreted scope;
  auto call = scale.prepare(x, 2.0);
  call();
  call.set_number(1, 3.0);
  call();
  EXPECT_EQ(call.outputs()[0].to_doubles(), (std::vector<double>{0, 3, 6, 9, 12}));
}

TEST(Interpret, RandomNumbersAndHintsAreClean) {
  auto k = st::kernel("dropout", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i32 seed, tl::i32 n) {
    auto i = tl::multiple_of(tl::program_id(0) * 16, 16) + tl::arange(0, 16);
    auto v = tl::multiple_of(tl::load(x + i, i < n).to(st::i32), 1).to(st::f32);
    tl::store(out + i, tl::where(tl::rand(seed, i) > 0.5f, v, 0.0f) + tl::randn(seed, i), i < n);
  });
  Tensor x = st::arange(40), out = st::zeros({40});
  for (const Interpretation& how : {kMasked, kOverflow}) {
    Faults faults = faults_of(how, [&] { k[3](x, out, 1234567, 40); });
    EXPECT_TRUE(faults.empty()) << faults[0].text;
  }
}

TEST(Interpret, MaskedLanesOfACompareExchange) {
  const int line = __LINE__ + 4;
  auto k = st::kernel("exchange", [](tl::Ptr<int> x, tl::Ptr<int> out) {
    auto i = tl::arange(0, 4);
    auto v = tl::load(x + i, i < 2);
    (void)tl::atomic_cas(out + i, 0, v, i < 3);
  });
  Tensor x = st::arange(4, {i32}), out = st::zeros({4}, {i32});
  expect_one(faults_of(kMasked, [&] { k[1](x, out); }), FaultKind::MaskedLane, line, {}, {2});
}

/// Case L15.
TEST(Interpret, ProgramsThatDoNotEndAreErrors) {
  const int line = __LINE__ + 2;
  auto endless = st::kernel("endless", [](tl::Ptr<int> x) {
    tl::range(0, 10, 1, [&](auto i) {
      tl::while_([&] { return tl::load(x) == 0; }, [&] { tl::store(x + 1, i); });
    });
  });
  Tensor x = st::zeros({2}, {i32, "cpu"});
  const Interpretation how{.most_steps = 1000};
  const std::string error = error_of([&] { endless[1].interpreted(how)(x); });
  EXPECT_HAS(error, "program (0, 0, 0) has run 1000 statements and has not ended, in the `for` at ");
  EXPECT_HAS(error, "interpret_test.cpp:" + std::to_string(line) + ", in the `while` at ");
  EXPECT_HAS(error, "interpret_test.cpp:" + std::to_string(line + 1) + "; if it would, allow more by STRIDER_STEPS");
  Faults faults;
  EXPECT_NE(error_of([&] { endless[1].interpreted({.faults = &faults, .most_steps = 1000})(x); }), "") << "it is never just collected";
  auto count = st::kernel("count", [](tl::Ptr<int> p) { tl::range(0, 100, 1, [&](auto i) { tl::store(p, i); }); });
  for (int64_t steps : {0, 10000}) count[1].interpreted({.most_steps = steps})(x);
  EXPECT_EQ(x.to_doubles()[0], 99);
}

TEST(Interpret, Settings) {
  EXPECT_FALSE(interpretation_from(nullptr, "masked"));
  EXPECT_FALSE(interpretation_from("native", nullptr));
  EXPECT_FALSE(interpretation_from("interp", nullptr)->has_lints());
  auto how = interpretation_from("interp", "masked,elementwise");
  EXPECT_TRUE(how->masked_lanes && how->elementwise && !how->overflow);
  EXPECT_NE(error_of([] { interpretation_from(nullptr, "abc"); }), "") << "also if nothing is interpreted";
  EXPECT_EQ(interpretation_from("interp", nullptr, "7")->most_steps, 7'000'000);
  EXPECT_EQ(interpretation_from("interp", nullptr, "0")->most_steps, 0);
  for (const char* steps : {"-1", "x", "1x", "99999999999999999"})
    EXPECT_EQ(error_of([&] { interpretation_from(nullptr, nullptr, steps); }),
              "STRIDER_STEPS is " + std::string(steps) + ", expected a number of millions of statements, 0 for no limit");
  EXPECT_EQ(error_of([] { interpretation_from("cuda", nullptr); }), "STRIDER_BACKEND is cuda, expected interp or native");
  EXPECT_EQ(error_of([] { interpretation_from("interp", "overflow,mask"); }),
            "STRIDER_LINTS names the lint mask, expected masked, overflow or elementwise, with commas between");
}

TEST(Interpret, OnlyThisThreadAndOnlyAsLongAsItLives) {
  Shift shift;
  Tensor x = st::arange(1000), out = st::zeros({1000});
  Faults outer, inner;
  {
    Interpreted a({.faults = &outer});
    {
      Interpreted b({.faults = &inner});
      shift.kernel[8](x, out, 1000, 128);
    }
    shift.kernel[8](x, out, 1000, 128);
  }
  EXPECT_EQ(inner.size(), 1u);
  EXPECT_EQ(outer.size(), 1u);
}

}  // namespace
}  // namespace strider::test
