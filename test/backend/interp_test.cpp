// SPDX-License-Identifier: Apache-2.0
// The tile interpreter: what programs compute, and what it says about faulty ones.
#include <gtest/gtest.h>

#include <tuple>

#include "backend/interp_launch.h"

namespace strider::interp {
namespace {

using ir::Builder;
using ir::Function;
using ir::Op;
using ir::Shape;
using ir::Type;
using ir::Value;
using Values = Builder::Values;
using Params = std::span<const Value>;

// --- memory and masks

/// y[i] = x[i] where i < n, else `other` (none: not stored).
Function masked_copy(bool with_other) {
  Builder b("masked_copy");
  Value x = pointer_param(b, "x", DType::F32), y = pointer_param(b, "y", DType::F32), n = scalar_param(b, "n", DType::I32);
  Value i = b.arange(DType::I32, 0, 8);
  Value inside = b.binary(Op::Lt, i, b.broadcast(n, {8}));
  Value loaded = b.load(at(b, x, i), inside, with_other ? b.constant(Type::tile(DType::F32, {8}), -1) : Value{});
  b.store(at(b, y, i), loaded);
  return b.finish();
}

TEST(TileInterpreter, MaskedLoadGivesZeroWithoutOther) {
  std::vector<float> x{1, 2, 3}, y(8, 9);
  EXPECT_EQ(Launch().array("x", x).array("y", y).scalar(3).run(masked_copy(false)), "");
  EXPECT_EQ(y, (std::vector<float>{1, 2, 3, 0, 0, 0, 0, 0}));
}

TEST(TileInterpreter, MaskedLoadGivesOther) {
  std::vector<float> x{1, 2, 3}, y(8, 9);
  EXPECT_EQ(Launch().array("x", x).array("y", y).scalar(3).run(masked_copy(true)), "");
  EXPECT_EQ(y, (std::vector<float>{1, 2, 3, -1, -1, -1, -1, -1}));
}

TEST(TileInterpreter, MaskedOffLanesTouchNoMemory) {
  Builder b("poisoned");
  Value x = pointer_param(b, "x", DType::I64);
  Value i = b.arange(DType::I64, 0, 4);
  Value even = b.binary(Op::Eq, b.binary(Op::And, i, splat(b, i, 1)), splat(b, i, 0));
  Value wild = b.where(even, i, b.constant_int(Type::tile(DType::I64, {4}), INT64_MAX / 16));
  Value loaded = b.load(at(b, x, wild), even);
  b.store(at(b, x, wild), b.add(loaded, loaded), even);
  b.atomic_add(at(b, x, wild), splat(b, i, 1), even);
  std::vector<int64_t> memory{1, 2, 3, 4};
  Launch launch = Launch().array("x", memory);
  EXPECT_EQ(launch.run(b.finish()), "");
  EXPECT_EQ(memory, (std::vector<int64_t>{3, 2, 7, 4}));
}

TEST(TileInterpreter, MaskedOffLanesAreSafeWithoutKnownMemories) {
  Builder b("poisoned");
  Value x = pointer_param(b, "x", DType::I32);
  Value i = b.arange(DType::I64, 0, 2);
  Value first = b.binary(Op::Eq, i, splat(b, i, 0));
  Value wild = b.mul(i, b.constant_int(Type::tile(DType::I64, {2}), int64_t{1} << 60));
  b.store(at(b, x, wild), b.load(at(b, x, wild), first), first);
  std::vector<int32_t> memory{5};
  Launch launch = Launch().array("x", memory);
  launch.options.memories.clear();
  EXPECT_EQ(launch.run(b.finish()), "");
  EXPECT_EQ(memory[0], 5);
}

TEST(TileInterpreter, RaggedGridCoversEveryElementOnce) {
  Builder b("scale");
  Value x = pointer_param(b, "x", DType::F32), n = scalar_param(b, "n", DType::I32);
  Value start = b.mul(b.program_id(0), b.i32(16));
  Value i = b.add(b.broadcast(start, {16}), b.arange(DType::I32, 0, 16));
  Value inside = b.binary(Op::Lt, i, b.broadcast(n, {16}));
  Value loaded = b.load(at(b, x, i), inside);
  b.store(at(b, x, i), b.add(loaded, loaded), inside);
  std::vector<float> memory = iota<float>(37), wanted;
  for (float v : memory) wanted.push_back(2 * v);
  EXPECT_EQ(Launch().array("x", memory).scalar(37).run(b.finish(), 3), "");
  EXPECT_EQ(memory, wanted);
}

TEST(TileInterpreter, ProgramIdsRunWithTheFirstAxisFastest) {
  Builder b("ids");
  Value log = pointer_param(b, "log", DType::I32), next = pointer_param(b, "next", DType::I32);
  Value place = b.atomic_add(next, b.i32(1));
  Value id = b.program_id(0);
  for (int axis : {1, 2}) id = b.add(b.mul(id, b.i32(10)), b.program_id(axis));
  Value size = b.num_programs(0);
  for (int axis : {1, 2}) size = b.add(b.mul(size, b.i32(10)), b.num_programs(axis));
  b.store(b.ptr_add(log, place), b.add(b.mul(size, b.i32(1000)), id));
  std::vector<int32_t> ids(6), counter(1);
  Launch launch = Launch().array("log", ids).array("next", counter);
  EXPECT_TRUE(launch.reports(b.finish(), {2, 1, 3}).empty());
  EXPECT_EQ(ids, (std::vector<int32_t>{213000, 213100, 213001, 213101, 213002, 213102}));
}

TEST(TileInterpreter, AtomicAddGivesOldValuesInLaneOrder) {
  Builder b("count");
  Value x = pointer_param(b, "x", DType::I32), old = pointer_param(b, "old", DType::I32);
  Value i = b.arange(DType::I32, 0, 5);
  Value zero = splat(b, i, 0);
  Value on = b.binary(Op::Ne, i, splat(b, i, 2));
  b.store(at(b, old, i), b.atomic_add(at(b, x, zero), b.add(i, splat(b, i, 1)), on));
  std::vector<int32_t> x_data{100}, old_data(5, -1);
  EXPECT_EQ(Launch().array("x", x_data).array("old", old_data).run(b.finish()), "");
  EXPECT_EQ(old_data, (std::vector<int32_t>{100, 101, 0, 103, 107}));
  EXPECT_EQ(x_data[0], 112);
}

TEST(TileInterpreter, StoreThenLoadOfTheSameMemoryRunsInOrder) {
  Builder b("shift");
  Value x = pointer_param(b, "x", DType::I32);
  Value i = b.arange(DType::I32, 0, 4);
  Value one = splat(b, i, 1);
  b.store(at(b, x, b.add(i, one)), b.load(at(b, x, i)));
  b.store(at(b, x, i), b.add(b.load(at(b, x, b.add(i, one))), one));
  std::vector<int32_t> memory{10, 20, 30, 40, 50};
  EXPECT_EQ(Launch().array("x", memory).run(b.finish()), "");
  EXPECT_EQ(memory, (std::vector<int32_t>{11, 21, 31, 41, 40}));
}

TEST(TileInterpreter, BoolsLoadAsZeroOrOne) {
  Builder b("bools");
  Value x = pointer_param(b, "x", DType::Bool), y = pointer_param(b, "y", DType::I32);
  Value i = b.arange(DType::I32, 0, 3);
  b.store(at(b, y, i), b.cast(b.load(at(b, x, i)), DType::I32));
  std::vector<uint8_t> flags{0, 1, 0xF0};
  std::vector<int32_t> y_data(3, -1);
  EXPECT_EQ(Launch().array("x", flags).array("y", y_data).run(b.finish()), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{0, 1, 1}));
}

TEST(TileInterpreter, NarrowUnsignedOffsetsAreZeroExtended) {
  Builder b("offsets");
  Value x = pointer_param(b, "x", DType::I32), up = scalar_param(b, "up", DType::U8), down = scalar_param(b, "down", DType::I8);
  b.store(b.ptr_add(x, down), b.load(b.ptr_add(x, up)));
  std::vector<int32_t> memory = iota<int32_t>(256);
  Launch launch = Launch().view("x", memory, &memory[4]).scalar<uint8_t>(250).scalar<int8_t>(-3);
  EXPECT_EQ(launch.run(b.finish()), "");
  EXPECT_EQ(memory[1], 254);
}

TEST(TileInterpreter, ScalarArgumentsUseOnlyTheBytesOfTheirType) {
  Builder b("arguments");
  Value y = pointer_param(b, "y", DType::I64), n = scalar_param(b, "n", DType::I8), on = scalar_param(b, "on", DType::Bool);
  b.store(y, b.cast(n, DType::I64));
  b.store(b.ptr_add(y, b.i32(1)), b.cast(on, DType::I64));
  std::vector<int64_t> y_data(2);
  Launch launch = Launch().array("y", y_data).scalar<uint64_t>(0xABCD00FE).scalar<uint64_t>(0x30);
  EXPECT_EQ(launch.run(b.finish()), "");
  EXPECT_EQ(y_data, (std::vector<int64_t>{-2, 1}));
}

// --- shapes

TEST(TileInterpreter, BroadcastExpandTransReshape) {
  Builder b("shapes");
  Value y = pointer_param(b, "y", DType::I32);
  Value rows = b.expand_dims(b.arange(DType::I32, 0, 2), 1), columns = b.expand_dims(b.arange(DType::I32, 0, 3), 0);
  Value tens = b.mul(b.broadcast(rows, {2, 3}), b.constant(Type::tile(DType::I32, {2, 3}), 10));
  Value grid = b.add(tens, b.broadcast(columns, {2, 3}));
  int swap[] = {1, 0};
  Value flat = b.reshape(b.trans(grid, swap), {6});
  b.store(at(b, y, b.arange(DType::I32, 0, 6)), flat);
  std::vector<int32_t> y_data(6);
  EXPECT_EQ(Launch().array("y", y_data).run(b.finish()), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{0, 10, 1, 11, 2, 12}));
}

TEST(TileInterpreter, TransOfThreeAxesRotates) {
  Builder b("rotate");
  Value y = pointer_param(b, "y", DType::I32);
  Value cube = b.reshape(b.arange(DType::I32, 0, 24), {2, 3, 4});
  int axes[] = {2, 0, 1};  // result[k, i, j] = cube[i, j, k]
  b.store(at(b, y, b.arange(DType::I32, 0, 24)), b.reshape(b.trans(cube, axes), {24}));
  std::vector<int32_t> y_data(24), wanted;
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) wanted.push_back(i * 12 + j * 4 + k);
  EXPECT_EQ(Launch().array("y", y_data).run(b.finish()), "");
  EXPECT_EQ(y_data, wanted);
}

TEST(TileInterpreter, ShapesOfSplatsStaySplats) {
  Builder b("splats");
  Value y = pointer_param(b, "y", DType::F32), s = scalar_param(b, "s", DType::F32);
  Value tile = b.broadcast(s, {2, 4});
  int swap[] = {1, 0};
  Value sum = b.reduce(b.add(b.trans(tile, swap), b.broadcast(s, {4, 2})), 0, Op::Add);
  b.store(at(b, y, b.arange(DType::I32, 0, 2)), sum);
  std::vector<float> y_data(2);
  EXPECT_EQ(Launch().array("y", y_data).scalar(1.5f).run(b.finish()), "");
  EXPECT_EQ(y_data, (std::vector<float>{12, 12}));
}

// --- folds

/// The fold that tile.h states, on plain numbers.
template <class T, class Combine>
T halving_fold(std::vector<T> x, Combine combine) {
  size_t half = std::bit_ceil(x.size()) / 2;
  for (size_t present = x.size(); half >= 1; present = half, half /= 2)
    for (size_t i = 0; i + half < present; ++i) x[i] = combine(x[i], x[i + half]);
  return x[0];
}

/// A combine that neither commutes nor associates, so that only one order gives its answer.
Values skewed(Builder& b, Params p) { return {b.sub(b.mul(p[0], b.constant(b.type(p[0]), 3)), p[1])}; }

TEST(TileInterpreter, ReduceFoldsByHalvesAtEveryLength) {
  for (int64_t n : {1, 2, 3, 5, 8, 13, 64, 100}) {
    Builder b("fold");
    Value y = pointer_param(b, "y", DType::I64);
    Value tiles[] = {b.arange(DType::I64, 7, 7 + n)};
    b.store(y, b.reduce(tiles, 0, [&](Params p) { return skewed(b, p); })[0]);
    std::vector<int64_t> y_data(1);
    EXPECT_EQ(Launch().array("y", y_data).run(b.finish()), "");
    const auto combine = [](int64_t left, int64_t right) { return left * 3 - right; };
    EXPECT_EQ(y_data[0], halving_fold(iota<int64_t>(n, 7), combine)) << n;
  }
}

TEST(TileInterpreter, ReduceAlongEachAxisOfThree) {
  const Shape shape{2, 3, 4};
  for (int axis = 0; axis < 3; ++axis) {
    Builder b("sum");
    Value y = pointer_param(b, "y", DType::I32);
    Value sums = b.reduce(b.reshape(b.arange(DType::I32, 0, 24), shape), axis, Op::Add);
    const int64_t count = b.type(sums).elements();
    b.store(at(b, y, b.arange(DType::I32, 0, count)), b.reshape(sums, {count}));
    std::vector<int32_t> y_data(count), wanted(count);
    const int strides[3][3] = {{0, 4, 1}, {4, 0, 1}, {3, 1, 0}};  // of the result, by reduced axis
    for (int i = 0; i < 24; ++i)
      wanted[i / 12 * strides[axis][0] + i / 4 % 3 * strides[axis][1] + i % 4 * strides[axis][2]] += i;
    EXPECT_EQ(Launch().array("y", y_data).run(b.finish()), "");
    EXPECT_EQ(y_data, wanted) << axis;
  }
}

TEST(TileInterpreter, ArgmaxReducesTwoTilesAtOnce) {
  Builder b("argmax");
  Value x = pointer_param(b, "x", DType::F32), best = pointer_param(b, "best", DType::F32);
  Value where = pointer_param(b, "where", DType::I32);
  Value i = b.arange(DType::I32, 0, 7);
  Value tiles[] = {b.load(at(b, x, i)), i};
  Values result = b.reduce(tiles, 0, [&](Params p) {
    Value same = b.binary(Op::Eq, p[0], p[2]), first = b.binary(Op::Lt, p[1], p[3]);
    Value left = b.binary(Op::Or, b.binary(Op::Gt, p[0], p[2]), b.binary(Op::And, same, first));
    return Values{b.where(left, p[0], p[2]), b.where(left, p[1], p[3])};
  });
  b.store(best, result[0]);
  b.store(where, result[1]);
  std::vector<float> x_data{3, 9, 2, 9, 1, 9, 0}, best_data(1);
  std::vector<int32_t> where_data(1);
  EXPECT_EQ(Launch().array("x", x_data).array("best", best_data).array("where", where_data).run(b.finish()), "");
  EXPECT_EQ(best_data[0], 9);
  EXPECT_EQ(where_data[0], 1);
}

TEST(TileInterpreter, CombineThatYieldsItsParametersSwaps) {
  Builder b("swap");
  Value y = pointer_param(b, "y", DType::I32);
  Value i = b.arange(DType::I32, 0, 4);
  Value tiles[] = {i, b.add(i, splat(b, i, 10))};
  Values last = b.scan(tiles, 0, [&](Params p) { return Values{p[1], p[0]}; });
  b.store(at(b, y, i), last[0]);
  b.store(at(b, y, b.add(i, splat(b, i, 4))), last[1]);
  std::vector<int32_t> y_data(8), first = iota<int32_t>(4), second = iota<int32_t>(4, 10);
  for (int d = 1; d < 4; d *= 2) {
    auto a = first, c = second;
    for (int k = d; k < 4; ++k) std::tie(first[k], second[k]) = std::pair(c[k - d], a[k - d]);
  }
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_EQ(Launch().array("y", y_data).run(b.finish()), "");
  EXPECT_EQ(y_data, first);
}

TEST(TileInterpreter, ScanDoublesItsReach) {
  for (int64_t n : {1, 2, 6, 17}) {
    Builder b("scan");
    Value y = pointer_param(b, "y", DType::I64);
    Value tiles[] = {b.arange(DType::I64, 1, 1 + n)};
    b.store(at(b, y, b.arange(DType::I32, 0, n)), b.scan(tiles, 0, [&](Params p) { return skewed(b, p); })[0]);
    std::vector<int64_t> y_data(n), wanted = iota<int64_t>(n, 1);
    for (int64_t d = 1; d < n; d *= 2) {
      const std::vector<int64_t> old = wanted;
      for (int64_t i = d; i < n; ++i) wanted[i] = old[i - d] * 3 - old[i];
    }
    EXPECT_EQ(Launch().array("y", y_data).run(b.finish()), "");
    EXPECT_EQ(y_data, wanted) << n;
  }
}

TEST(TileInterpreter, ScanAlongTheFirstAxisOfTwo) {
  Builder b("columns");
  Value y = pointer_param(b, "y", DType::I32);
  Value tile = b.reshape(b.arange(DType::I32, 0, 6), {3, 2});
  b.store(at(b, y, b.arange(DType::I32, 0, 6)), b.reshape(b.scan(tile, 0, Op::Add), {6}));
  std::vector<int32_t> y_data(6);
  EXPECT_EQ(Launch().array("y", y_data).run(b.finish()), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{0, 1, 2, 4, 6, 9}));
}

TEST(TileInterpreter, CombineMayBranchAndLoopAndUseOuterScalars) {
  Builder b("control");
  Value y = pointer_param(b, "y", DType::I32), limit = scalar_param(b, "limit", DType::I32);
  Value bias = b.add(limit, b.i32(1));
  Value tiles[] = {b.arange(DType::I32, 0, 6)};
  // max(a, b) by `if`, then the smallest power of two times that above the bias.
  Value result = b.reduce(tiles, 0, [&](Params p) {
    Value larger = b.if_else(
        b.binary(Op::Gt, p[0], p[1]), [&](Params) { return Values{p[0]}; }, [&](Params) { return Values{p[1]}; })[0];
    return b.while_loop({{larger}}, [&](Params c) { return Values{b.binary(Op::Lt, c[0], bias)}; },
                        [&](Params c) { return Values{b.add(c[0], c[0])}; });
  })[0];
  b.store(y, result);
  std::vector<int32_t> y_data(1);
  EXPECT_EQ(Launch().array("y", y_data).scalar(20).run(b.finish()), "");
  const auto combine = [](int left, int right) {
    int larger = std::max(left, right);
    while (larger < 21) larger += larger;
    return larger;
  };
  EXPECT_EQ(y_data[0], halving_fold(iota<int>(6), combine));
}

// --- control flow

TEST(TileInterpreter, LoopCarriesTiles) {
  Builder b("rows");
  Value x = pointer_param(b, "x", DType::I32), y = pointer_param(b, "y", DType::I32), rows = scalar_param(b, "rows", DType::I32);
  Value i = b.arange(DType::I32, 0, 4);
  Value carried[] = {splat(b, i, 0), at(b, x, i)};
  Values done = b.for_loop(b.i32(0), rows, b.i32(1), carried, [&](Params p) {
    return Values{b.add(p[1], b.load(p[2])), b.ptr_add(p[2], splat(b, i, 4))};
  });
  b.store(at(b, y, i), done[0]);
  std::vector<int32_t> x_data = iota<int32_t>(12), y_data(4);
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).scalar(3).run(b.finish()), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{12, 15, 18, 21}));
}

TEST(TileInterpreter, LoopThatSwapsItsCarriedValues) {
  Builder b("fibonacci");
  Value y = pointer_param(b, "y", DType::I32), n = scalar_param(b, "n", DType::I32);
  Value carried[] = {b.i32(0), b.i32(1)};
  Values done = b.for_loop(b.i32(0), n, b.i32(1), carried, [&](Params p) { return Values{p[2], b.add(p[1], p[2])}; });
  b.store(y, done[0]);
  Function f = b.finish();
  std::vector<int32_t> y_data(1);
  EXPECT_EQ(Launch().array("y", y_data).scalar(10).run(f), "");
  EXPECT_EQ(y_data[0], 55);
  EXPECT_EQ(Launch().array("y", y_data).scalar(0).run(f), "");
  EXPECT_EQ(y_data[0], 0);
}

/// How often a loop over `dtype` runs.
int64_t trips(DType dtype, int64_t lo, int64_t hi, int64_t step, std::string* reports = nullptr) {
  Builder b("trips");
  Value y = pointer_param(b, "y", DType::I64);
  Value bounds[3];
  for (int k = 0; k < 3; ++k) bounds[k] = b.param(Type::scalar(dtype), {.name = "bound"});
  Value carried[] = {b.i64(0)};
  b.store(y, b.for_loop(bounds[0], bounds[1], bounds[2], carried, [&](Params p) { return Values{b.add(p[1], b.i64(1))}; })[0]);
  std::vector<int64_t> y_data(1);
  const std::string text = Launch().array("y", y_data).scalar(lo).scalar(hi).scalar(step).run(b.finish());
  if (reports) *reports = text;
  else EXPECT_EQ(text, "");
  return y_data[0];
}

TEST(TileInterpreter, LoopBoundsDoNotWrap) {
  EXPECT_EQ(trips(DType::I32, 0, 10, 3), 4);
  EXPECT_EQ(trips(DType::I32, 5, 5, 1), 0);
  EXPECT_EQ(trips(DType::I32, 5, -5, 1), 0);
  EXPECT_EQ(trips(DType::I8, -128, 127, 100), 3);
  EXPECT_EQ(trips(DType::U8, 0, 255, 254), 2);
  EXPECT_EQ(trips(DType::I64, INT64_MIN, INT64_MAX, INT64_MAX), 3);
}

TEST(TileInterpreter, LoopStepBelowOneIsReported) {
  std::string text;
  EXPECT_EQ(trips(DType::I32, 0, 10, 0, &text), 0);
  EXPECT_EQ(text, "kernel trips: `for %bound, %0, %1, %2`: the step is 0, it must be above 0; program (0, 0, 0)");
}

TEST(TileInterpreter, WhileRunsUntilItsConditionFails) {
  Builder b("collatz");
  Value y = pointer_param(b, "y", DType::I32), n = scalar_param(b, "n", DType::I32);
  Value carried[] = {n, b.i32(0)};
  Values done = b.while_loop(
      carried, [&](Params p) { return Values{b.binary(Op::Ne, p[0], b.i32(1))}; },
      [&](Params p) {
        Value odd = b.binary(Op::Ne, b.binary(Op::And, p[0], b.i32(1)), b.i32(0));
        Value next = b.if_else(odd, [&](Params) { return Values{b.add(b.mul(p[0], b.i32(3)), b.i32(1))}; },
                               [&](Params) { return Values{b.binary(Op::Div, p[0], b.i32(2))}; })[0];
        return Values{next, b.add(p[1], b.i32(1))};
      });
  b.store(y, done[1]);
  std::vector<int32_t> y_data(1);
  EXPECT_EQ(Launch().array("y", y_data).scalar(27).run(b.finish()), "");
  EXPECT_EQ(y_data[0], 111);
}

TEST(TileInterpreter, IfRunsOneBranchWithItsEffects) {
  for (int sign : {-1, 1}) {
    Builder b("branch");
    Value y = pointer_param(b, "y", DType::I32), n = scalar_param(b, "n", DType::I32);
    Value i = b.arange(DType::I32, 0, 4);
    Values result = b.if_else(
        b.binary(Op::Gt, n, b.i32(0)), [&](Params) { return Values{b.reduce(i, 0, Op::Add), i}; },
        [&](Params) {
          b.store(b.ptr_add(y, b.i32(5)), n);
          return Values{n, b.add(i, i)};
        });
    b.store(at(b, y, i), result[1]);
    b.store(b.ptr_add(y, b.i32(4)), result[0]);
    std::vector<int32_t> y_data(6, 77);
    EXPECT_EQ(Launch().array("y", y_data).scalar(sign).run(b.finish()), "");
    EXPECT_EQ(y_data, sign > 0 ? (std::vector<int32_t>{0, 1, 2, 3, 6, 77}) : (std::vector<int32_t>{0, 2, 4, 6, -1, -1}));
  }
}

TEST(TileInterpreter, NestedLoopsReduceInside) {
  Builder b("nested");
  Value x = pointer_param(b, "x", DType::I32), y = pointer_param(b, "y", DType::I32);
  Value i = b.arange(DType::I32, 0, 4);
  Value zero[] = {b.i32(0)};
  b.store(y, b.for_loop(b.i32(0), b.i32(3), b.i32(1), zero, [&](Params outer) {
            Value start[] = {outer[1]};
            return b.for_loop(b.i32(0), outer[0], b.i32(1), start, [&](Params inner) {
              Value offset = b.add(b.mul(outer[0], b.i32(4)), inner[0]);
              Value row = b.load(at(b, x, b.add(i, b.broadcast(offset, {4}))));
              return Values{b.add(inner[1], b.reduce(row, 0, Op::Add))};
            });
          })[0]);
  std::vector<int32_t> x_data = iota<int32_t>(16), y_data(1);
  int32_t wanted = 0;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < r; ++c)
      for (int k = 0; k < 4; ++k) wanted += x_data[4 * r + c + k];
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).run(b.finish()), "");
  EXPECT_EQ(y_data[0], wanted);
}

TEST(TileInterpreter, ScheduledFormMeansItsStatementsInOrder) {
  Builder b("nests");
  Value x = pointer_param(b, "x", DType::I32), y = pointer_param(b, "y", DType::I32);
  Value i, loaded;
  b.nest({4}, [&] {
    i = b.arange(DType::I32, 0, 4);
    loaded = b.load(at(b, x, i));
  });
  b.nest({4}, [&] { b.store(at(b, y, i), b.add(loaded, loaded)); });
  std::vector<int32_t> x_data = iota<int32_t>(4), y_data(4);
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).run(b.finish()), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{0, 2, 4, 6}));
}

}  // namespace
}  // namespace strider::interp
