// SPDX-License-Identifier: Apache-2.0
// What the tile interpreter says about faulty programs, word by word.
#include <gtest/gtest.h>

#include <strider/error.h>

#include "backend/interp_launch.h"

namespace strider::interp {
namespace {

using ir::Builder;
using ir::Function;
using ir::Op;
using ir::Type;
using ir::Value;
using Values = Builder::Values;
using Params = std::span<const Value>;

/// y[i + shift] = 1, i < 4, written at "fill.py:7".
Function fill(int64_t shift) {
  Builder b("fill");
  Value y = pointer_param(b, "y", DType::F32);
  Value ones = b.constant(Type::tile(DType::F32, {4}), 1);
  Value pointers = at(b, y, b.arange(DType::I32, shift, shift + 4));
  b.set_span({"fill.py", 7, 1});
  b.store(pointers, ones);
  return b.finish();
}

TEST(TileInterpreterReports, StorePastTheEnd) {
  std::vector<float> y(6);
  EXPECT_EQ(Launch().array("y", y).run(fill(3)),
            "kernel fill: `store %3, %0` (fill.py:7): element y + 6 is out of bounds, y reaches elements 0 to 5; "
            "program (0, 0, 0), lane (3)");
  EXPECT_EQ(y, (std::vector<float>{0, 0, 0, 1, 1, 1}));
}

TEST(TileInterpreterReports, StoreBeforeTheBeginOfAView) {
  std::vector<float> y(6);
  EXPECT_EQ(Launch().view("y", y, &y[1]).run(fill(-3)),
            "kernel fill: `store %3, %0` (fill.py:7): element y - 3 is out of bounds, y reaches elements -1 to 4; "
            "program (0, 0, 0), lane (0); 1 more like it");
  EXPECT_EQ(y, (std::vector<float>{1, 1, 0, 0, 0, 0}));
}

TEST(TileInterpreterReports, LoadOutOfBoundsGivesZeroAndNamesTheLaneOfTheTile) {
  Builder b("corner");
  Value x = pointer_param(b, "x", DType::I16), y = pointer_param(b, "y", DType::I16);
  Value i = b.reshape(b.arange(DType::I32, 0, 6), {2, 3});
  Value loaded = b.load(at(b, x, i));
  b.store(at(b, y, i), loaded);
  std::vector<int16_t> x_data{1, 2, 3, 4, 5}, y_data(6, 9);
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).run(b.finish()),
            "kernel corner: `%4 = load %3 : i16[2, 3]`: element x + 5 is out of bounds, x reaches elements 0 to 4; "
            "program (0, 0, 0), lane (1, 2)");
  EXPECT_EQ(y_data, (std::vector<int16_t>{1, 2, 3, 4, 5, 0}));
}

TEST(TileInterpreterReports, PartOfAnElementOutOfBounds) {
  Builder b("half");
  Value x = pointer_param(b, "x", DType::I32);
  b.store(x, b.i32(1));
  std::vector<uint8_t> bytes(3, 5);
  EXPECT_EQ(Launch().array("x", bytes).reports(b.finish(), {1, 1, 1}).at(0).kind, ReportKind::OutOfBounds);
  EXPECT_EQ(bytes, std::vector<uint8_t>(3, 5));
}

TEST(TileInterpreterReports, AccessThatStraysIntoAnotherArgument) {
  Builder b("stray");
  Value x = pointer_param(b, "x", DType::I32), y = pointer_param(b, "y", DType::I32);
  Value i = b.arange(DType::I32, 0, 4);
  Value loaded = b.load(at(b, x, i));
  b.store(at(b, y, i), loaded);
  std::vector<int32_t> both = iota<int32_t>(6);
  Launch launch = Launch().array("x", both).view("y", both, &both[2]);
  launch.options.memories[0].bytes = 8;
  EXPECT_EQ(launch.run(b.finish()),
            "kernel stray: `%3 = load %2 : i32[4]`: element x + 2 is out of bounds, x reaches elements 0 to 1; program (0, 0, 0), lane (2)"
            "; 1 more like it");
}

TEST(TileInterpreterReports, PointerOfTwoOriginsMayReachBoth) {
  Builder b("either");
  Value x = pointer_param(b, "x", DType::I32), y = pointer_param(b, "y", DType::I32), n = scalar_param(b, "n", DType::I32);
  b.store(b.ptr_add(b.where(b.binary(Op::Gt, n, b.i32(0)), x, y), n), b.i32(1));
  Function f = b.finish();
  std::vector<int32_t> x_data(2), y_data(2);
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).scalar(1).run(f), "");
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).scalar(0).run(f), "");
  EXPECT_EQ(x_data, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(y_data, (std::vector<int32_t>{1, 0}));
  const std::string text = Launch().array("x", x_data).array("y", y_data).scalar(1 << 28).run(f);
  EXPECT_TRUE(says(text, "is out of bounds, no memory of the launch holds it"));
}

TEST(TileInterpreterReports, ArgumentWithoutMemory) {
  std::vector<float> y(8), elsewhere(8);
  Launch launch = Launch().array("y", y);
  launch.options.memories[0] = {"z", reinterpret_cast<char*>(elsewhere.data()), 32};
  EXPECT_EQ(launch.run(fill(0)),
            "kernel fill: `store %3, %0` (fill.py:7): element y + 0 is out of bounds, y points to no memory of the launch; "
            "program (0, 0, 0), lane (0); 3 more like it");
}

TEST(TileInterpreterReports, ReportsAreBounded) {
  Builder b("many");
  Value y = pointer_param(b, "y", DType::I32);
  for (int k = 0; k < 10; ++k) b.store(b.ptr_add(y, b.i32(100 + k)), b.i32(k));
  std::vector<int32_t> y_data(1);
  Launch launch = Launch().array("y", y_data);
  launch.options.max_reports = 3;
  EXPECT_EQ(launch.reports(b.finish(), {1, 1, 1}).size(), 3u);
}

TEST(TileInterpreterReports, TwoProgramsThatStoreToOneElement) {
  std::vector<float> y(4);
  EXPECT_EQ(Launch().array("y", y).run(fill(0), 3),
            "kernel fill: `store %3, %0` (fill.py:7): element y + 0 races with `store %3, %0` (fill.py:7) of program (0, 0, 0); "
            "program (1, 0, 0), lane (0); 7 more like it");
}

/// One program of two reads or adds to x[0], the other does what `op` says.
std::string race_of(Op first, Op second) {
  Builder b("pair");
  Value x = pointer_param(b, "x", DType::I32);
  const auto act = [&](Op op) {
    if (op == Op::Load) b.load(x);
    if (op == Op::Store) b.store(x, b.i32(1));
    if (op == Op::Atomic) b.atomic_add(x, b.i32(1));
    return Values{};
  };
  b.if_else(b.binary(Op::Eq, b.program_id(0), b.i32(0)), [&](Params) { return act(first); }, [&](Params) { return act(second); });
  std::vector<int32_t> x_data(1);
  return Launch().array("x", x_data).run(b.finish(), 2);
}

TEST(TileInterpreterReports, ProgramsRaceUnlessBothLoadOrBothAreAtomic) {
  for (Op first : {Op::Load, Op::Store, Op::Atomic})
    for (Op second : {Op::Load, Op::Store, Op::Atomic}) {
      const bool fine = first == second && first != Op::Store;
      EXPECT_EQ(race_of(first, second).empty(), fine) << name_of(first) << " " << name_of(second);
    }
  EXPECT_EQ(race_of(Op::Store, Op::Load),
            "kernel pair: `%4 = load %x : i32`: element x + 0 races with `store %x, %3` of program (0, 0, 0); program (1, 0, 0)");
}

TEST(TileInterpreterReports, ManyReadersThenOneWriter) {
  Builder b("readers");
  Value x = pointer_param(b, "x", DType::I32);
  b.if_else(b.binary(Op::Lt, b.program_id(1), b.i32(3)), [&](Params) { b.load(x); return Values{}; },
            [&](Params) { b.store(x, b.i32(1)); return Values{}; });
  std::vector<int32_t> x_data(1);
  Launch launch = Launch().array("x", x_data);
  const std::string text = to_string(launch.reports(b.finish(), {1, 4, 1}));
  EXPECT_TRUE(says(text, "element x + 0 races with `%3 = load %x : i32` of several programs; program (0, 3, 0)"));
}

TEST(TileInterpreterReports, OverlapOfOneByteIsARace) {
  Builder b("overlap");
  Value x = pointer_param(b, "x", DType::U8);
  Value i = b.arange(DType::I32, 0, 4);
  Value start = b.mul(b.program_id(0), b.i32(3));
  b.store(at(b, x, b.add(i, b.broadcast(start, {4}))), b.constant_int(Type::tile(DType::U8, {4}), 0));
  std::vector<uint8_t> bytes(7);
  const std::string text = Launch().array("x", bytes).run(b.finish(), 2);
  EXPECT_TRUE(says(text, "x + 3 races with"));
  EXPECT_FALSE(says(text, "more like it"));
}

TEST(TileInterpreterReports, RaceCheckCanBeSwitchedOff) {
  std::vector<float> y(4);
  Launch launch = Launch().array("y", y);
  launch.options.check_races = false;
  EXPECT_EQ(launch.run(fill(0), 3), "");
}

/// x[i / 2] = value(i), i < 6.
template <class ValueFn>
std::string repeated_store(ValueFn value) {
  Builder b("repeat");
  Value x = pointer_param(b, "x", DType::I32);
  Value i = b.arange(DType::I32, 0, 6);
  Value stored = value(b, i);
  Value half = b.binary(Op::Div, i, splat(b, i, 2));
  b.store(at(b, x, half), stored);
  std::vector<int32_t> x_data(3);
  return Launch().array("x", x_data).run(b.finish());
}

TEST(TileInterpreterReports, LanesOfOneStoreMustAgree) {
  EXPECT_EQ(repeated_store([](Builder& b, Value i) { return b.binary(Op::Div, i, splat(b, i, 2)); }), "");
  EXPECT_EQ(repeated_store([](Builder&, Value i) { return i; }),
            "kernel repeat: `store %4, %0`: two lanes write different values to element x + 0; "
            "program (0, 0, 0), lane (1); 2 more like it");
}

TEST(TileInterpreterReports, LanesOfDifferentStoresNeedNotAgree) {
  Builder b("twice");
  Value x = pointer_param(b, "x", DType::I32);
  Value i = b.arange(DType::I32, 0, 4);
  Value reversed = b.sub(splat(b, i, 3), i);
  b.store(at(b, x, i), i);
  b.store(at(b, x, reversed), i);
  std::vector<int32_t> x_data(4);
  EXPECT_EQ(Launch().array("x", x_data).run(b.finish()), "");
  EXPECT_EQ(x_data, (std::vector<int32_t>{3, 2, 1, 0}));
}

TEST(TileInterpreterReports, FalseFactsAboutArguments) {
  Builder b("facts");
  b.param(Type::scalar(DType::I32), {.name = "n", .divisible = 16});
  Value x = b.param(Type::pointer(DType::I32), {.name = "x", .read_only = true});
  b.store(x, b.i32(1));
  std::vector<int32_t> x_data{5};
  EXPECT_EQ(Launch().scalar(40).array("x", x_data).run(b.finish()),
            "kernel facts: argument n is 40, not divisible by 16 as declared\n"
            "kernel facts: `store %x, %0`: writes element x + 0, which is declared read-only; program (0, 0, 0)");
  EXPECT_EQ(x_data[0], 5);
}

TEST(TileInterpreterReports, PromiseNotToWrap) {
  Builder b("promise");
  Value y = pointer_param(b, "y", DType::I8), n = scalar_param(b, "n", DType::I8);
  Value sum = b.add(b.broadcast(n, {3}), b.arange(DType::I8, 0, 3));
  b.set_flags(sum, ir::kNoWrap);
  b.store(at(b, y, b.arange(DType::I32, 0, 3)), sum);
  std::vector<int8_t> y_data(3);
  Function f = b.finish();
  EXPECT_EQ(Launch().array("y", y_data).scalar<int8_t>(125).run(f), "");
  const std::string text = Launch().array("y", y_data).scalar<int8_t>(126).run(f);
  EXPECT_TRUE(says(text, "wraps, though it is marked as never wrapping; program (0, 0, 0), lane (2)"));
}

// --- misuse of the interface

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(TileInterpreterErrors, NameWhatIsWrong) {
  Function f = fill(0);
  EXPECT_EQ(error_of([&] { interpret_tiles(f, {1, 1, 1}, {}); }), "kernel fill takes 1 arguments, got 0");
  const uint64_t args[] = {0};
  EXPECT_EQ(error_of([&] { interpret_tiles(f, {1, -1, 1}, args); }), "grid (1, -1, 1) has a negative size");
  EXPECT_EQ(error_of([&] { interpret_lanes(f, {1, 1, 1}, args); }),
            "kernel fill is in tile form, the lane interpreter takes lane form");
  f.threads = 4;
  EXPECT_EQ(error_of([&] { interpret_tiles(f, {1, 1, 1}, args); }),
            "kernel fill is in lane form for 4 threads, the tile interpreter takes tile form");
  Builder b("lanes");
  b.barrier();
  EXPECT_EQ(error_of([&] { interpret_tiles(b.finish(), {1, 1, 1}, {}); }), "kernel lanes: barrier has no meaning in tile form");
}

TEST(TileInterpreterErrors, CombineFunctionsArePure) {
  Builder b("impure");
  Value x = pointer_param(b, "x", DType::I32);
  Value tiles[] = {b.arange(DType::I32, 0, 4)};
  b.reduce(tiles, 0, [&](Params p) { return Values{b.add(b.load(b.ptr_add(x, p[0])), p[1])}; });
  const uint64_t args[] = {0};
  EXPECT_EQ(error_of([&] { interpret_tiles(b.finish(), {1, 1, 1}, args); }), "a combine function cannot hold load");
}

TEST(TileInterpreterErrors, EmptyGridRunsNothing) {
  std::vector<float> y(4);
  EXPECT_EQ(Launch().array("y", y).run(fill(0), 0), "");
  EXPECT_EQ(y, std::vector<float>(4));
}

}  // namespace
}  // namespace strider::interp
