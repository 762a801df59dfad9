// SPDX-License-Identifier: Apache-2.0
// The lane interpreter: threads in lockstep, scratch, barriers, and the faults of programs that several threads run.
#include <gtest/gtest.h>

#include <strider/error.h>

#include "backend/interp_launch.h"

namespace strider::interp {
namespace {

using ir::Builder;
using ir::Function;
using ir::Op;
using ir::Space;
using ir::Type;
using ir::Value;
using Values = Builder::Values;
using Params = std::span<const Value>;

Value less(Builder& b, Value x, int64_t limit) { return b.binary(Op::Lt, x, b.constant_int(b.type(x), limit)); }
void when(Builder& b, Value condition, const std::function<void()>& then) {
  b.if_else(condition, [&](Params) { then(); return Values{}; }, [](Params) { return Values{}; });
}

// --- what programs compute

TEST(LaneInterpreter, BlocksReadAndWriteConsecutiveElements) {
  Builder b("double");
  Value x = pointer_param(b, "x", DType::F32), y = pointer_param(b, "y", DType::F32);
  Value start = b.mul(b.thread_id(), b.i32(4));
  Value block = b.load_block(b.ptr_add(x, start), DType::F32, 4, 2);
  b.store_block(b.ptr_add(y, start), b.add(block, block), 2);
  std::vector<float> x_data = iota<float>(16), y_data(16), wanted;
  for (float v : x_data) wanted.push_back(2 * v);
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).run(in_lane_form(b, 4)), "");
  EXPECT_EQ(y_data, wanted);
}

TEST(LaneInterpreter, MaskedBlocksTouchOnlyLanesThatAreOn) {
  Builder b("ragged");
  Value x = pointer_param(b, "x", DType::I32), y = pointer_param(b, "y", DType::I32);
  Value start = b.mul(b.thread_id(), b.i32(4));
  Value index = b.add(b.broadcast(start, {4}), b.arange(DType::I32, 0, 4));
  Value inside = less(b, index, 6);
  Value block = b.load_block(b.ptr_add(x, start), DType::I32, 4, 2, inside, b.constant_int(Type::vector(DType::I32, 4), -1));
  b.store_block(b.ptr_add(y, start), block, 2);
  std::vector<int32_t> x_data = iota<int32_t>(6), y_data(8);
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).run(in_lane_form(b, 2)), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, -1, -1}));
}

TEST(LaneInterpreter, GatherAndScatterLaneByLane) {
  Builder b("reverse");
  Value x = pointer_param(b, "x", DType::I32), y = pointer_param(b, "y", DType::I32);
  Value index = b.add(b.broadcast(b.mul(b.thread_id(), b.i32(2)), {2}), b.arange(DType::I32, 0, 2));
  Value reversed = b.sub(b.constant_int(Type::vector(DType::I32, 2), 7), index);
  b.store(at(b, y, reversed), b.load(at(b, x, index)));
  std::vector<int32_t> x_data = iota<int32_t>(8), y_data(8);
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).run(in_lane_form(b, 4)), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST(LaneInterpreter, VectorExtractShuffle) {
  Builder b("lanes");
  Value y = pointer_param(b, "y", DType::I32);
  Value v = b.vector(DType::I32, {10, 20, 30, 40});
  Value mine = b.add(v, b.broadcast(b.thread_id(), {4}));
  Value mixed = b.shuffle(mine, v, {3, 0, 5, 4});
  Value start = b.mul(b.thread_id(), b.i32(5));
  b.store_block(b.ptr_add(y, start), mixed, 2);
  b.store(b.ptr_add(y, b.add(start, b.i32(4))), b.extract(mine, 2));
  std::vector<int32_t> y_data(10);
  EXPECT_EQ(Launch().array("y", y_data).run(in_lane_form(b, 2)), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{40, 10, 20, 10, 30, 41, 11, 20, 10, 31}));
}

TEST(LaneInterpreter, ExchangeIsAButterfly) {
  Builder b("sum");
  Value y = pointer_param(b, "y", DType::I32);
  Value sum = b.mul(b.thread_id(), b.thread_id());
  for (int d = 4; d >= 1; d /= 2) sum = b.add(sum, b.exchange(sum, d));
  b.store(b.ptr_add(y, b.thread_id()), sum);
  std::vector<int32_t> y_data(8);
  EXPECT_EQ(Launch().array("y", y_data).run(in_lane_form(b, 8)), "");
  EXPECT_EQ(y_data, std::vector<int32_t>(8, 140));
}

TEST(LaneInterpreter, ThreadsBranchAndLoopApart) {
  Builder b("apart");
  Value y = pointer_param(b, "y", DType::I32);
  Value id = b.thread_id();
  Value odd = b.binary(Op::Eq, b.binary(Op::And, id, b.i32(1)), b.i32(1));
  Value zero[] = {b.i32(0)};
  Value chosen = b.if_else(
      odd, [&](Params) {  // 0 + 1 + ... + (id - 1)
        return b.for_loop(b.i32(0), id, b.i32(1), zero, [&](Params p) { return Values{b.add(p[1], p[0])}; });
      },
      [&](Params) {  // the least n with n * n >= id
        return b.while_loop(zero, [&](Params p) { return Values{b.binary(Op::Lt, b.mul(p[0], p[0]), id)}; },
                            [&](Params p) { return Values{b.add(p[0], b.i32(1))}; });
      })[0];
  b.store(b.ptr_add(y, id), chosen);
  std::vector<int32_t> y_data(8);
  EXPECT_EQ(Launch().array("y", y_data).run(in_lane_form(b, 8)), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{0, 0, 2, 3, 2, 10, 3, 21}));
}

TEST(LaneInterpreter, ThreadsThatLeaveALoopKeepTheirCarriedValues) {
  Builder b("leave");
  Value y = pointer_param(b, "y", DType::I32);
  Value id = b.thread_id();
  Value start[] = {b.i32(1), b.add(id, b.i32(1))};
  // Threads that have left would pass the condition again: what they compute while inactive must not count.
  Values done = b.while_loop(
      start, [&](Params p) { return Values{b.binary(Op::Ne, p[1], b.i32(0))}; },
      [&](Params p) { return Values{b.add(p[0], p[0]), b.sub(p[1], b.i32(1))}; });
  b.store(b.ptr_add(y, id), b.add(b.mul(done[0], b.i32(10)), done[1]));
  std::vector<int32_t> y_data(4);
  EXPECT_EQ(Launch().array("y", y_data).run(in_lane_form(b, 4)), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{20, 40, 80, 160}));
}

/// y[t] = scratch written by thread t + 1, with or without a barrier between.
Function neighbour(bool barrier) {
  Builder b("neighbour");
  Value y = pointer_param(b, "y", DType::I32);
  Value id = b.thread_id();
  Value shared = b.alloc(Space::Shared, DType::I32, 4);
  Value next = b.binary(Op::And, b.add(id, b.i32(1)), b.i32(3));
  Value mine = b.ptr_add(shared, id), theirs = b.ptr_add(shared, next);
  b.store(mine, b.mul(id, b.i32(10)));
  if (barrier) b.barrier();
  b.store(b.ptr_add(y, id), b.load(theirs));
  return in_lane_form(b, 4, 16);
}

TEST(LaneInterpreter, BarriersMakeScratchVisible) {
  std::vector<int32_t> y(4);
  EXPECT_EQ(Launch().array("y", y).run(neighbour(true)), "");
  EXPECT_EQ(y, (std::vector<int32_t>{10, 20, 30, 0}));
}

TEST(LaneInterpreter, LocalMemoryIsPrivate) {
  Builder b("local");
  Value y = pointer_param(b, "y", DType::I64);
  Value id = b.cast(b.thread_id(), DType::I64);
  Value first = b.alloc(Space::Local, DType::I64, 2), second = b.alloc(Space::Local, DType::I64, 1);
  b.store(first, id);
  b.store(b.ptr_add(first, b.i32(1)), b.mul(id, id));
  b.store(second, b.i64(100));
  Value sum = b.add(b.add(b.load(first), b.load(b.ptr_add(first, b.i32(1)))), b.load(second));
  b.store(b.ptr_add(y, id), sum);
  std::vector<int64_t> y_data(4);
  EXPECT_EQ(Launch().array("y", y_data).run(in_lane_form(b, 4)), "");
  EXPECT_EQ(y_data, (std::vector<int64_t>{100, 102, 106, 112}));
}

TEST(LaneInterpreter, AtomicsGiveOldValuesInThreadOrder) {
  Builder b("count");
  Value x = pointer_param(b, "x", DType::I32), y = pointer_param(b, "y", DType::I32);
  Value id = b.thread_id();
  b.store(b.ptr_add(y, id), b.atomic_add(x, b.add(id, b.i32(1)), b.binary(Op::Ne, id, b.i32(1))));
  std::vector<int32_t> x_data{7}, y_data(4, -1);
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).run(in_lane_form(b, 4)), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{7, 0, 8, 11}));
  EXPECT_EQ(x_data[0], 15);
}

TEST(LaneInterpreter, PointersAreCarriedAndSelected) {
  Builder b("walk");
  Value x = pointer_param(b, "x", DType::I32), y = pointer_param(b, "y", DType::I32);
  Value id = b.thread_id();
  Value start[] = {b.where(less(b, id, 1), x, b.ptr_add(x, b.i32(4))), b.i32(0)};
  Values done = b.for_loop(b.i32(0), b.i32(2), b.i32(1), start, [&](Params p) {
    return Values{b.ptr_add(p[1], b.i32(1)), b.add(p[2], b.load(p[1]))};
  });
  b.store(b.ptr_add(y, id), b.add(done[1], b.load(done[0])));
  std::vector<int32_t> x_data = iota<int32_t>(8), y_data(2);
  EXPECT_EQ(Launch().array("x", x_data).array("y", y_data).run(in_lane_form(b, 2)), "");
  EXPECT_EQ(y_data, (std::vector<int32_t>{3, 15}));
}

// --- races between threads

TEST(LaneInterpreterReports, MissingBarrier) {
  std::vector<int32_t> y(4);
  const std::string text = Launch().array("y", y).run(neighbour(false));
  EXPECT_TRUE(says(text, "= load "));
  EXPECT_TRUE(says(text, " + 4 races with `store "));
  EXPECT_TRUE(says(text, " of thread 1, no barrier lies between; program (0, 0, 0), thread 0; 3 more like it"));
}

/// Thread 0 does `first` to a shared word, thread 1 then `second`.
std::string race_of(Op first, Op second, Space space) {
  Builder b("pair");
  Value x = pointer_param(b, "x", DType::I32);
  Value word = space == Space::Shared ? b.alloc(space, DType::I32, 1) : x;
  Value id = b.thread_id();
  when(b, b.binary(Op::Eq, id, b.i32(2)), [&] { b.store(word, b.i32(0)); });
  b.barrier();
  const Op ops[] = {first, second};
  for (int k = 0; k < 2; ++k)
    when(b, b.binary(Op::Eq, id, b.i32(k)), [&] {
      if (ops[k] == Op::Load) b.load(word);
      if (ops[k] == Op::Store) b.store(word, b.i32(k + 1));
      if (ops[k] == Op::Atomic) b.atomic_add(word, b.i32(1));
    });
  std::vector<int32_t> x_data(1);
  return Launch().array("x", x_data).run(in_lane_form(b, 3, 4));
}

TEST(LaneInterpreterReports, ThreadsRaceUnlessBothLoadOrBothAreAtomic) {
  for (Space space : {Space::Shared, Space::Global})
    for (Op first : {Op::Load, Op::Store, Op::Atomic})
      for (Op second : {Op::Load, Op::Store, Op::Atomic}) {
        const bool fine = first == second && first != Op::Store;
        EXPECT_EQ(race_of(first, second, space).empty(), fine) << name_of(first) << " " << name_of(second);
      }
}

TEST(LaneInterpreterReports, RaceNamesBothThreadsAndStatements) {
  Builder b("both");
  Value x = pointer_param(b, "x", DType::I32);
  Value id = b.thread_id();
  Value other = b.binary(Op::Xor, id, b.i32(1));
  Value mine = b.ptr_add(x, id), theirs = b.ptr_add(x, other);
  b.set_span({"both.py", 3, 1});
  b.store(mine, id);
  b.set_span({"both.py", 4, 1});
  b.load(theirs);
  std::vector<int32_t> x_data(2);
  EXPECT_EQ(Launch().array("x", x_data).run(in_lane_form(b, 2)),
            "kernel both: `%5 = load %4 : i32` (both.py:4): element x + 1 races with `store %3, %0` (both.py:3) of thread 1, "
            "no barrier lies between; program (0, 0, 0), thread 0; 1 more like it");
}

/// All threads store `value(id)` to one global word.
template <class ValueFn>
std::string common_store(Space space, ValueFn value) {
  Builder b("common");
  Value x = pointer_param(b, "x", DType::I32);
  Value word = space == Space::Shared ? b.alloc(space, DType::I32, 1) : x;
  b.store(word, value(b, b.thread_id()));
  std::vector<int32_t> x_data(1);
  return Launch().array("x", x_data).run(in_lane_form(b, 4, 4));
}

TEST(LaneInterpreterReports, ThreadsMayAgreeOnWhatGlobalStoresWrite) {
  EXPECT_EQ(common_store(Space::Global, [](Builder& b, Value) { return b.i32(5); }), "");
  EXPECT_NE(common_store(Space::Global, [](Builder&, Value id) { return id; }), "");
  EXPECT_NE(common_store(Space::Shared, [](Builder& b, Value) { return b.i32(5); }), "");
}

TEST(LaneInterpreterReports, ProgramsRaceInLaneFormToo) {
  Builder b("programs");
  Value x = pointer_param(b, "x", DType::I32);
  Value id = b.thread_id();
  b.store(b.ptr_add(x, id), id);
  std::vector<int32_t> x_data(2);
  const std::string text = Launch().array("x", x_data).run(in_lane_form(b, 2), 2);
  EXPECT_TRUE(says(text, "element x + 0 races with `store %1, %0` of program (0, 0, 0); program (1, 0, 0), thread 0"));
}

// --- divergence

TEST(LaneInterpreterReports, DivergentBarrier) {
  Builder b("divergent");
  when(b, less(b, b.thread_id(), 3), [&] { b.barrier(); });
  EXPECT_EQ(Launch().run(in_lane_form(b, 8)),
            "kernel divergent: `barrier`: reached by 3 of 8 threads, thread 3 is missing; program (0, 0, 0)");
}

TEST(LaneInterpreterReports, BarrierInALoopThatThreadsLeaveApart) {
  Builder b("apart");
  Value hi = b.add(b.binary(Op::And, b.thread_id(), b.i32(1)), b.i32(1));
  b.for_loop(b.i32(0), hi, b.i32(1), {}, [&](Params) { b.barrier(); return Values{}; });
  const std::vector<Report> reports = Launch().reports(in_lane_form(b, 4), {1, 1, 1});
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, ReportKind::DivergentBarrier);
  EXPECT_TRUE(says(reports[0].text, "reached by 2 of 4 threads, thread 0 is missing"));
}

TEST(LaneInterpreterReports, BarriersUnderUniformConditionsAreFine) {
  Builder b("uniform");
  Value n = scalar_param(b, "n", DType::I32);
  when(b, less(b, n, 3), [&] { b.barrier(); });
  b.for_loop(b.i32(0), n, b.i32(1), {}, [&](Params) { b.barrier(); b.phase(); return Values{}; });
  EXPECT_EQ(Launch().scalar(2).run(in_lane_form(b, 8)), "");
}

TEST(LaneInterpreterReports, PhaseCountsAsABarrierForDivergence) {
  Builder b("phase");
  when(b, less(b, b.thread_id(), 1), [&] { b.phase(); });
  EXPECT_EQ(Launch().run(in_lane_form(b, 2)),
            "kernel phase: `phase`: reached by 1 of 2 threads, thread 1 is missing; program (0, 0, 0)");
}

TEST(LaneInterpreterReports, ExchangeNeedsWholeWarps) {
  const auto run = [](int64_t limit) {
    Builder b("warps");
    Value id = b.thread_id();
    when(b, less(b, id, limit), [&] { b.exchange(id, 1); });
    Launch launch;
    launch.options.warp = 4;
    return launch.run(in_lane_form(b, 8));
  };
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(run(6),
            "kernel warps: `%3 = exchange %0 xor=1 : i32`: reached by a part of the warp of threads 4 to 7, thread 6 is missing; "
            "program (0, 0, 0)");
}

TEST(LaneInterpreterReports, ExchangeBeyondTheWarp) {
  Builder b("beyond");
  b.exchange(b.thread_id(), 4);
  Launch launch;
  launch.options.warp = 4;
  EXPECT_EQ(launch.run(in_lane_form(b, 8)),
            "kernel beyond: `%1 = exchange %0 xor=4 : i32`: the partner, thread 4, is not in the warp; warps have 4 threads; "
            "program (0, 0, 0), thread 0; 7 more like it");
}

// --- scratch

TEST(LaneInterpreterReports, ScratchReadBeforeItIsWritten) {
  for (Space space : {Space::Shared, Space::Local}) {
    Builder b("unwritten");
    Value y = pointer_param(b, "y", DType::U32);
    Value words = b.alloc(space, DType::U32, 2);
    b.store(words, b.constant_int(Type::scalar(DType::U32), 1));
    Value second = b.ptr_add(words, b.i32(1));
    Value loaded = b.load(second);
    b.store(y, loaded);
    std::vector<uint32_t> y_data(1);
    const Launch launch = Launch().array("y", y_data);
    Function f = in_lane_form(b, 1, 8);
    const std::string text = Launch(launch).run(f);
    EXPECT_TRUE(says(text, "reads %0 + 4, which was not written; program (0, 0, 0), thread 0"));
    EXPECT_EQ(y_data[0], 0xA5A5A5A5u);
    Launch silent = launch;
    silent.options.check_uninitialised = false;
    EXPECT_EQ(silent.run(f), "");
  }
}

TEST(LaneInterpreterReports, ScratchIsPoisonedForEveryProgram) {
  Builder b("stale");
  Value word = b.alloc(Space::Shared, DType::I32, 1);
  when(b, b.binary(Op::Eq, b.program_id(0), b.i32(0)), [&] { b.store(word, b.i32(1)); });
  b.load(word);
  const std::string text = Launch().run(in_lane_form(b, 1, 4), 2);
  EXPECT_TRUE(says(text, "which was not written; program (1, 0, 0)"));
}

TEST(LaneInterpreterReports, ScratchThatAnotherAllocationWroteIsUnwritten) {
  Builder b("reuse");
  Value first = b.alloc(Space::Shared, DType::I32, 1), second = b.alloc(Space::Shared, DType::I32, 1);
  b.set_aux(second, 0);
  b.store(first, b.i32(1));
  b.load(second);
  const std::string text = Launch().run(in_lane_form(b, 1, 4));
  EXPECT_TRUE(says(text, "which was not written"));
}

TEST(LaneInterpreterReports, ScratchOutOfBounds) {
  for (Space space : {Space::Shared, Space::Local}) {
    Builder b("outside");
    Value first = b.alloc(space, DType::I32, 2);
    Value second = b.alloc(space, DType::I32, 2);
    if (space == Space::Shared) b.set_aux(second, 8);
    Value id = b.thread_id();
    b.store(b.ptr_add(first, id), id);
    b.store(b.ptr_add(second, b.sub(b.i32(0), id)), id);
    const std::vector<Report> reports = Launch().reports(in_lane_form(b, 3, 16), {1, 1, 1});
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_TRUE(says(reports[0].text, "%0 + 8 is out of bounds, it has 8 bytes; program (0, 0, 0), thread 2"));
    EXPECT_TRUE(says(reports[1].text, "%1 - 4 is out of bounds, it has 8 bytes; program (0, 0, 0), thread 1; 1 more like it"));
  }
}

TEST(LaneInterpreterReports, GlobalBlockOutOfBoundsNamesThreadAndLane) {
  Builder b("block");
  Value x = pointer_param(b, "x", DType::F32);
  Value start = b.mul(b.thread_id(), b.i32(4));
  b.load_block(b.ptr_add(x, start), DType::F32, 4, 2);
  std::vector<float> x_data(7);
  const std::string text = Launch().array("x", x_data).run(in_lane_form(b, 2));
  EXPECT_TRUE(says(text, "element x + 7 is out of bounds, x reaches elements 0 to 6; program (0, 0, 0), thread 1, lane (3)"));
}

TEST(LaneInterpreterReports, BlocksMustBeAlignedAsClaimed) {
  Builder b("aligned");
  Value word = b.alloc(Space::Shared, DType::I32, 12);
  Value id = b.thread_id();
  Value on = b.broadcast(b.binary(Op::Ne, id, b.i32(2)), {4});
  b.store_block(b.ptr_add(word, b.mul(id, b.i32(2))), b.broadcast(id, {4}), 4, on);
  Launch launch;
  launch.options.check_races = false;
  const std::string text = launch.run(in_lane_form(b, 3, 48));
  EXPECT_TRUE(says(text, "address 0x8 is not aligned to 16 bytes as claimed; program (0, 0, 0), thread 1"));
  EXPECT_FALSE(says(text, "address 0x10"));
}

TEST(LaneInterpreterErrors, AllocationBeyondScratch) {
  Builder b("scratch");
  Value first = b.alloc(Space::Shared, DType::I32, 4);
  b.set_aux(first, 8);
  try {
    Launch().run(in_lane_form(b, 1, 16));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "alloc %0 ends at byte 24, scratch has 16");
  }
}

TEST(LaneInterpreterErrors, TileOpsHaveNoMeaning) {
  Builder b("tile");
  b.reduce(b.arange(DType::I32, 0, 4), 0, Op::Add);
  try {
    Launch().run(in_lane_form(b, 2));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "kernel tile: reduce has no meaning in lane form");
  }
}

}  // namespace
}  // namespace strider::interp
