// SPDX-License-Identifier: Apache-2.0
// The planner, step by step and as a whole.
#include <gtest/gtest.h>

#include <vector>

#include <strider/error.h>

#include "planner/plan.h"

namespace strider::planner {
namespace {

Target one_thread() { return usual_target(TargetKind::Cpu); }
Target many_threads() {
  Target target = usual_target(TargetKind::Gpu);
  target.deinterleaves = target.streaming_stores = true;
  return target;
}

/// Operands of f32 at addresses a gigabyte apart.
class Operands {
 public:
  Operands& add(Role role, Dims shape, Dims strides, DType dtype = f32, int64_t address = 0) {
    shapes_.push_back(shape);
    strides_.push_back(strides);
    if (address == 0) address = static_cast<int64_t>(operands_.size() + 1) << 40;
    operands_.push_back({role, dtype, reinterpret_cast<const void*>(address), nullptr, nullptr});
    return *this;
  }
  Operands& out(Dims shape, Dims strides, DType dtype = f32, int64_t address = 0) {
    return add(Role::Output, shape, strides, dtype, address);
  }
  Operands& in(Dims shape, Dims strides, DType dtype = f32, int64_t address = 0) {
    return add(Role::Input, shape, strides, dtype, address);
  }
  std::vector<Operand> list() const {
    std::vector<Operand> result = operands_;
    for (size_t k = 0; k < result.size(); ++k) {
      result[k].shape = &shapes_[k];
      result[k].strides = &strides_[k];
    }
    return result;
  }
  Plan plan(const Target& target = one_thread()) const { return planner::plan(list(), target); }
  /// A plan after step::broadcast, for tests of one step.
  Plan start() const {
    Plan p;
    step::broadcast(p, list(), broadcast_shape(list()));
    return p;
  }

 private:
  std::vector<Dims> shapes_, strides_;
  std::vector<Operand> operands_;
};

Dims sizes(const Plan& p) { return {p.sizes, p.key.rank}; }
Dims strides(const Plan& p, int k) { return {p.strides[k], p.key.rank}; }

std::string error_of(const Operands& o) {
  try {
    o.plan();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// --- steps

TEST(PlanStep, BroadcastGivesZeroStrides) {
  Plan p = Operands().out({64, 128}, {128, 1}).in({1, 128}, {999, 1}).in({64, 1}, {1, 1}).in({}, {}).in({128}, {2}).start();
  EXPECT_EQ(strides(p, 0), (Dims{128, 1}));
  EXPECT_EQ(strides(p, 1), (Dims{0, 1}));
  EXPECT_EQ(strides(p, 2), (Dims{1, 0}));
  EXPECT_EQ(strides(p, 3), (Dims{0, 0}));
  EXPECT_EQ(strides(p, 4), (Dims{0, 2}));
}

TEST(PlanStep, BroadcastShapes) {
  EXPECT_EQ(broadcast_shape(Operands().in({1, 128}, {1, 1}).in({64, 1}, {1, 1}).list()), (Dims{64, 128}));
  EXPECT_EQ(broadcast_shape(Operands().in({}, {}).in({5}, {1}).list()), (Dims{5}));
  EXPECT_EQ(broadcast_shape(Operands().in({0, 1, 3}, {3, 3, 1}).in({0, 10, 3}, {30, 3, 1}).list()), (Dims{0, 10, 3}));
  EXPECT_EQ(broadcast_shape(Operands().in({0, 1}, {1, 1}).in({1, 3}, {3, 1}).list()), (Dims{0, 3}));
  EXPECT_EQ(broadcast_shape(Operands().in({0}, {1}).in({1}, {1}).list()), (Dims{0}));
}

TEST(PlanStep, UnitAxesGo) {
  Plan p = Operands().out({1, 5, 1, 3, 1}, {15, 3, 3, 1, 1}).in({1, 5, 1, 3, 1}, {7, 1, 7, 5, 7}).start();
  step::drop_unit_axes(p);
  EXPECT_EQ(sizes(p), (Dims{5, 3}));
  EXPECT_EQ(strides(p, 1), (Dims{1, 5}));
}

TEST(PlanStep, FlipsAxesAlongWhichTheOutputRunsBackwards) {
  Plan p = Operands().out({4, 5}, {-5, 1}, f32, 1 << 20).in({4, 5}, {5, -1}, f64, 1 << 21).start();
  step::flip_axes(p);
  EXPECT_EQ(strides(p, 0), (Dims{5, 1}));
  EXPECT_EQ(strides(p, 1), (Dims{-5, -1}));
  EXPECT_EQ(reinterpret_cast<int64_t>(p.data[0]), (1 << 20) - 3 * 5 * 4);
  EXPECT_EQ(reinterpret_cast<int64_t>(p.data[1]), (1 << 21) + 3 * 5 * 8);
}

TEST(PlanStep, AxesGoByTheOutputsStridesThenTheInputs) {
  Plan p = Operands().out({2, 3, 4}, {1, 8, 2}).in({2, 3, 4}, {12, 4, 1}).start();
  step::order_axes(p);
  EXPECT_EQ(sizes(p), (Dims{3, 4, 2}));
  EXPECT_EQ(strides(p, 1), (Dims{4, 1, 12}));
}

TEST(PlanStep, MergesWhatIsOneLoopForAll) {
  struct Case {
    Operands operands;
    Dims sizes;
  };
  const Case cases[] = {
      {Operands().out({4, 5, 6}, {30, 6, 1}).in({4, 5, 6}, {30, 6, 1}), {120}},
      {Operands().out({4, 5, 6}, {30, 6, 1}).in({4, 5, 6}, {60, 12, 2}), {120}},
      {Operands().out({4, 5, 6}, {30, 6, 1}).in({4, 5, 6}, {0, 6, 1}), {4, 30}},
      {Operands().out({4, 5, 6}, {30, 6, 1}).in({4, 5, 6}, {1, 0, 0}), {4, 30}},
      {Operands().out({4, 5, 6}, {30, 6, 1}).in({4, 5, 6}, {0, 0, 0}), {120}},
      {Operands().out({4, 5, 6}, {30, 6, 1}).in({4, 5, 6}, {30, 7, 1}), {4, 5, 6}},
      {Operands().out({4, 5, 6}, {30, 6, 1}).in({4, 5, 6}, {6, 24, 1}), {4, 5, 6}},
      {Operands().out({4, 5, 6}, {40, 8, 1}).in({4, 5, 6}, {40, 8, 1}), {20, 6}},
  };
  for (const Case& c : cases) {
    Plan p = c.operands.start();
    step::merge_axes(p);
    EXPECT_EQ(sizes(p), c.sizes) << to_string(strides(p, 1));
  }
}

// --- layouts

struct LayoutCase {
  const char* name;
  Operands operands;
  Layout layout;
  Dims sizes;
  std::vector<Unit> units;
  std::vector<uint32_t> broadcast;
};

TEST(Plan, Layouts) {
  using enum Layout;
  constexpr Unit N = Unit::N, M = Unit::M, S = Unit::Second, X = Unit::None;
  const Operands matrix = Operands().out({64, 128}, {128, 1}).in({64, 128}, {128, 1});
  const Operands box = Operands().out({20, 30, 40}, {1200, 40, 1}), slab = Operands().out({90, 3, 40}, {120, 40, 1});
  const LayoutCase cases[] = {
      {"contiguous", Operands().out({64, 128}, {128, 1}).in({64, 128}, {128, 1}), Flat, {8192}, {N, N}, {0, 0}},
      {"both transposed", Operands().out({64, 128}, {1, 64}).in({64, 128}, {1, 64}), Flat, {8192}, {N, N}, {0, 0}},
      {"a single number", Operands().out({}, {}).in({}, {}), Flat, {1}, {N, N}, {0, 0}},
      {"size 1 everywhere", Operands().out({1, 1}, {5, 9}).in({1, 1}, {3, 3}).in({1}, {0}), Flat, {1}, {N, N, N}, {0, 0, 0}},
      {"0-d with 1-d", Operands().out({7}, {1}).in({7}, {1}).in({}, {}), Flat, {7}, {N, N, X}, {0, 0, 1}},
      {"row", Operands(matrix).in({1, 128}, {128, 1}), Rows, {64, 128}, {N, N, N}, {0, 0, 1}},
      {"column", Operands(matrix).in({64, 1}, {1, 1}), Rows, {64, 128}, {N, N, X}, {0, 0, 2}},
      {"outer", Operands().out({64, 128}, {128, 1}).in({64, 1}, {1, 1}).in({128}, {1}), Rows, {64, 128}, {N, X, N}, {0, 2, 1}},
      {"every second", Operands().out({50}, {1}).in({50}, {2}), Rows, {50}, {N, S}, {0, 0}},
      {"every third", Operands().out({50}, {1}).in({50}, {3}), Rows, {50}, {N, X}, {0, 0}},
      {"reversed", Operands().out({50}, {1}).in({50}, {-1}), Rows, {50}, {N, X}, {0, 0}},
      {"reversed output", Operands().out({50}, {-1}).in({50}, {-1}), Flat, {50}, {N, N}, {0, 0}},
      {"second rows and columns", Operands().out({20, 30}, {30, 1}).in({20, 30}, {120, 2}), Rows, {20, 30}, {N, S}, {0, 0}},
      {"transposed", Operands(matrix).in({64, 128}, {1, 64}), Tiled, {64, 128}, {N, N, M}, {0, 0, 0}},
      {"rotated axes", Operands(box).in({20, 30, 40}, {1, 20, 600}), Tiled, {30, 20, 40}, {N, M}, {0, 0}},
      {"short middle", Operands(slab).in({90, 1, 40}, {40, 40, 1}).in({3, 40}, {40, 1}), Rows, {3, 90, 40}, {N, N, N}, {0, 1, 2}},
  };
  for (const LayoutCase& c : cases) {
    Plan p = c.operands.plan();
    EXPECT_EQ(p.key.layout, c.layout) << c.name;
    EXPECT_EQ(sizes(p), c.sizes) << c.name;
    for (size_t k = 0; k < c.units.size(); ++k) {
      EXPECT_EQ(p.key.access[k].unit, c.units[k]) << c.name << ' ' << k;
      EXPECT_EQ(p.key.access[k].broadcast, c.broadcast[k]) << c.name << ' ' << k;
    }
  }
}

TEST(Plan, HighRankThatCannotMerge) {
  Dims shape = Dims::filled(14, 2), forward = shape, backward = shape;
  for (int k = 0; k < 14; ++k) {
    forward[k] = int64_t{1} << (13 - k);
    backward[k] = int64_t{1} << k;
  }
  Plan p = Operands().out(shape, forward).in(shape, forward).in(shape, backward).plan();
  EXPECT_EQ(p.key.rank, 14);
  EXPECT_EQ(p.key.layout, Layout::Tiled);
  EXPECT_EQ(p.programs, 1 << 12);
}

// --- index width

TEST(Plan, OffsetsAreWideBySpanNotByCount) {
  int64_t gap = (int64_t{1} << 30) + 1;
  EXPECT_EQ(Operands().out({3}, {1}, u8).in({3}, {gap}, u8).plan().key.wide, 1);
  EXPECT_EQ(Operands().out({3}, {1}, u8).in({3}, {gap >> 12}, u8).plan().key.wide, 0);
  EXPECT_EQ(Operands().out({3}, {1}, u8).in({3}, {-gap}, u8).plan().key.wide, 1);
  EXPECT_EQ(Operands().out({int64_t{1} << 31}, {1}, u8).in({int64_t{1} << 31}, {1}, u8).plan().key.wide, 1);
  EXPECT_EQ(Operands().out({1 << 30}, {1}, u8).in({1 << 30}, {1}, u8).plan().key.wide, 0);
}

TEST(Plan, WhatLiesBetweenAnOutputsElementsIsNotRead) {
  Operands apart = Operands().out({50}, {1}).in({50}, {2});
  EXPECT_EQ(apart.plan().key.access[1].unit, Unit::Second);
  std::vector<float> x(100);
  Dims shape{50}, strides{2};
  std::vector<Operand> operands{{Role::Output, f32, &x[1], &shape, &strides}, {Role::Input, f32, &x[0], &shape, &strides}};
  EXPECT_EQ(plan(operands, usual_target(TargetKind::Cpu)).key.access[1].unit, Unit::None);
}

// --- blocks

TEST(Plan, BlocksFitTheSizes) {
  struct Case {
    int64_t m, n;
    int32_t block_m, block_n;
  };
  // On one thread; the input is a row, so that the axes do not merge.
  const Case cases[] = {
      {4096, 4096, 8, 4096}, {2, 1 << 20, 1, 8192}, {1000, 100, 128, 128}, {1 << 20, 5, 2048, 8}, {5, 7, 4, 64}, {4096, 4032, 16, 1024}};
  for (const Case& c : cases) {
    Plan p = Operands().out({c.m, c.n}, {c.n, 1}).in({c.m, c.n}, {c.n, 1}).in({c.n}, {1}).plan();
    EXPECT_EQ(p.key.block_m, c.block_m) << c.m << ' ' << c.n;
    EXPECT_EQ(p.key.block_n, c.block_n) << c.m << ' ' << c.n;
    EXPECT_EQ(p.programs, (c.m + c.block_m - 1) / c.block_m * ((c.n + c.block_n - 1) / c.block_n));
  }
}

TEST(Plan, FlatBlocksHoldTwoWideAccessesOfEachThread) {
  auto block = [](DType out, DType in) {
    return Operands().out({1 << 20}, {1}, out).in({1 << 20}, {1}, in).plan(many_threads()).key.block_n;
  };
  EXPECT_EQ(block(f32, f32), 1024);
  EXPECT_EQ(block(f32, f16), 2048);
  EXPECT_EQ(block(f64, f64), 512);
  EXPECT_EQ(block(boolean, f32), 4096);
}

// --- facts

TEST(Plan, ASecondShapeOfALayoutHasTheSameKey) {
  auto key = [](int64_t m, int64_t n) {
    Plan p = Operands().out({m, n}, {n, 1}).in({1, n}, {n, 1}).in({m, n}, {n, 1}).plan();
    return std::string(reinterpret_cast<const char*>(&p.key), p.key.bytes());
  };
  EXPECT_EQ(key(1100, 1900), key(1000, 2000));
  EXPECT_EQ(key(200, 250), key(256, 128));
  EXPECT_NE(key(4096, 4096), key(1 << 20, 4));
}

TEST(Plan, AlignmentIsThatOfEveryRow) {
  auto align = [](int64_t address, int64_t row) {
    Plan p = Operands()
                 .out({64, 100}, {row, 1}, f32, 1 << 30)
                 .in({64, 100}, {row, 1}, f32, address)
                 .in({100}, {1})
                 .plan(many_threads());
    return std::pair(p.key.align_out, p.key.align_in);
  };
  EXPECT_EQ(align(1 << 20, 100), std::pair(uint8_t{4}, uint8_t{4}));
  EXPECT_EQ(align((1 << 20) + 4, 100), std::pair(uint8_t{4}, uint8_t{0}));
  EXPECT_EQ(align(1 << 20, 101), std::pair(uint8_t{0}, uint8_t{0}));
}

TEST(Plan, LargeFreshOutputsStream) {
  auto streams = [](int64_t n, int64_t out, int64_t in) {
    return Operands().out({n}, {1}, f32, out).in({n}, {1}, f32, in).plan().key.streaming;
  };
  constexpr int64_t kLarge = 1 << 22, kFar = int64_t{1} << 40;
  EXPECT_EQ(streams(kLarge, kFar, 2 * kFar), 1);
  EXPECT_EQ(streams(kLarge - 1, kFar, 2 * kFar), 0);
  EXPECT_EQ(streams(kLarge, kFar + 4, 2 * kFar), 0);
  EXPECT_EQ(streams(kLarge, kFar, kFar), 0);  // in place: the lines are in the caches
}

// --- outputs

TEST(Plan, InPlaceIsSeen) {
  Plan p = Operands().out({5}, {1}, f32, 4096).in({5}, {1}, f32, 4096).in({5}, {1}, f32, 8192).plan();
  EXPECT_EQ(p.key.access[1].same_as, 1);
  EXPECT_EQ(p.key.access[2].same_as, 0);
}

TEST(Plan, ZeroSizesPlanNothing) {
  EXPECT_TRUE(Operands().out({0, 3}, {3, 1}).in({0, 1}, {1, 1}).in({1, 3}, {3, 1}).plan().empty);
  EXPECT_TRUE(Operands().out({3, 0}, {0, 0}).in({3, 0}, {1, 1}).plan().empty);
}

// --- errors

TEST(PlanErrors, NameTheOperandAndTheAxis) {
  EXPECT_EQ(error_of(Operands().out({3}, {1}).in({3}, {1}).in({4}, {1})),
            "argument 1 of shape (4) does not broadcast with the others: its axis 0 has size 4, theirs 3");
  EXPECT_EQ(error_of(Operands().out({2, 3}, {3, 1}).in({2, 3}, {3, 1}).in({2}, {1})),
            "argument 1 of shape (2) does not broadcast with the others: its axis 0 has size 2, theirs 3");
  EXPECT_EQ(error_of(Operands().out({0}, {1}).in({0}, {1}).in({2}, {1})),
            "argument 1 of shape (2) does not broadcast with the others: its axis 0 has size 2, theirs 0");
  EXPECT_EQ(error_of(Operands().out({5, 1}, {1, 1}).in({5, 20}, {20, 1})),
            "output 0 has shape (5, 1), the inputs broadcast to (5, 20)");
}

TEST(PlanErrors, OverlapIsRefused) {
  EXPECT_EQ(error_of(Operands().out({3}, {0}).in({3}, {1})),
            "output 0 of shape (3) with strides (0) has elements that share memory");
  EXPECT_EQ(error_of(Operands().out({5}, {1}, f32, 4096).in({5}, {1}, f32, 4100)),
            "output 0 shares memory with argument 0: write to other memory, or to exactly the same elements");
  EXPECT_EQ(error_of(Operands().out({5}, {1}, f32, 4096).out({5}, {1}, f32, 4096).in({5}, {1})),
            "output 0 shares memory with output 1: write to other memory");
  EXPECT_EQ(error_of(Operands().out({3, 3}, {3, 1}, f32, 4096).in({3, 3}, {1, 3}, f32, 4096)),
            "output 0 shares memory with argument 0: write to other memory, or to exactly the same elements");
  EXPECT_EQ(error_of(Operands().out({5}, {2}, f32, 4096).in({5}, {2}, f32, 4100)), "");  // x[::2] += x[1::2]
}

}  // namespace
}  // namespace strider::planner
