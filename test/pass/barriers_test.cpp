// SPDX-License-Identifier: Apache-2.0
// Where barriers stand: small lane programs, how many barriers they need, and that the lane interpreter sees no race with
// them and one without.
#include "pass/barriers.h"

#include <gtest/gtest.h>

#include "backend/interp/lane.h"
#include "ir/builder.h"
#include "ir/print.h"
#include "ir/rewrite.h"
#include "ir/verify.h"
#include "support/scalar_program.h"

namespace strider::pass {
namespace {

using namespace ir;
using support::count_op;
using Params = std::span<const Value>;
using Values = Builder::Values;

constexpr int kThreads = 8;
constexpr int64_t kBytes = kThreads * 4;  // of one array

/// Writes a program whose threads put numbers into arrays at their own places and read those of their neighbours.
struct Program {
  Builder b{"program"};
  Value x = b.param(Type::pointer(DType::I32), {.name = "x"});
  Value y = b.param(Type::pointer(DType::I32), {.name = "y"});
  Value alone = b.param(Type::pointer(DType::I32), {.name = "alone", .no_alias = true});
  Value n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Value s = array(0), t = array(kBytes), over_s = array(kBytes / 2);  // over_s meets s and t
  Value own = b.alloc(Space::Local, DType::I32, kThreads);
  Value thread = b.thread_id();
  int written = 0;

  Value array(int64_t offset) {
    Value a = b.alloc(Space::Shared, DType::I32, kThreads);
    b.set_aux(a, static_cast<uint32_t>(offset));
    return a;
  }
  void write(Value array) { b.store(b.ptr_add(array, thread), b.add(thread, b.i32(++written * 100))); }
  void read(Value array) { b.load(b.ptr_add(array, b.binary(Op::Xor, thread, b.i32(1)))); }
  void count(Value array) { b.atomic_add(array, thread); }
  void mark() { b.phase(); }

  void loop(const std::function<void()>& body) {
    b.for_loop(b.i32(0), n, b.i32(1), {}, [&](Params) { return body(), Values{}; });
  }
  void branch(const std::function<void()>& then, const std::function<void()>& otherwise) {
    b.if_else(
        b.binary(Op::Lt, n, b.i32(100)), [&](Params) { return then(), Values{}; }, [&](Params) { return otherwise(), Values{}; });
  }
  void repeat(const std::function<void()>& condition, const std::function<void()>& body) {
    b.while_loop(
        {{b.i32(0)}}, [&](Params p) { return condition(), Values{b.binary(Op::Lt, p[0], n)}; },
        [&](Params p) { return body(), Values{b.add(p[0], b.i32(1))}; });
  }
  Function finish() {
    Function f = b.finish();
    f.threads = kThreads;
    f.scratch_bytes = 2 * kBytes;
    return f;
  }
};

using P = Program&;

struct Case {
  const char* name;
  void (*write)(P);
  int barriers;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// clang-format off
const Case kCases[] = {
    // straight
    {"ReadAfterWrite", [](P p) { p.write(p.s); p.mark(); p.read(p.s); }, 1},
    {"WriteAfterRead", [](P p) { p.read(p.s); p.mark(); p.write(p.s); }, 1},
    {"WriteAfterWriteElsewhere", [](P p) { p.write(p.s); p.mark(); p.write(p.over_s); }, 1},
    {"ReadAfterRead", [](P p) { p.read(p.s); p.mark(); p.read(p.s); }, 0},
    {"NoMark", [](P p) { p.write(p.s); p.write(p.t); }, 0},
    {"OtherArray", [](P p) { p.write(p.s); p.mark(); p.read(p.t); }, 0},
    {"SharedBytes", [](P p) { p.write(p.t); p.mark(); p.read(p.over_s); }, 1},
    {"LocalMemory", [](P p) { p.write(p.own); p.mark(); p.read(p.own); }, 0},
    {"TwoMarks", [](P p) { p.write(p.s); p.mark(); p.mark(); p.read(p.s); }, 1},
    {"TwoMarksAroundAnAccess", [](P p) { p.write(p.s); p.mark(); p.read(p.t); p.mark(); p.read(p.s); }, 1},
    {"OneBarrierForTwoArrays", [](P p) { p.write(p.s); p.mark(); p.write(p.t); p.mark(); p.read(p.s); p.read(p.t); }, 1},
    {"ThereAndBack", [](P p) { p.write(p.s); p.mark(); p.read(p.s); p.mark(); p.write(p.s); }, 2},
    {"ReadTwice", [](P p) { p.write(p.s); p.mark(); p.read(p.s); p.mark(); p.read(p.s); }, 1},
    {"OnlyMarks", [](P p) { p.mark(); p.mark(); }, 0},
    // global memory
    {"GlobalOneArgument", [](P p) { p.write(p.x); p.mark(); p.read(p.x); }, 1},
    {"GlobalMayAlias", [](P p) { p.write(p.x); p.mark(); p.read(p.y); }, 1},
    {"GlobalAlone", [](P p) { p.write(p.alone); p.mark(); p.read(p.y); }, 0},
    {"GlobalAndShared", [](P p) { p.write(p.x); p.mark(); p.read(p.s); }, 0},
    {"AtomicThenRead", [](P p) { p.count(p.x); p.mark(); p.read(p.x); }, 1},
    // branches
    {"WrittenInABranch", [](P p) { p.branch([&] { p.write(p.s); }, [] {}); p.mark(); p.read(p.s); }, 1},
    {"ReadInABranch", [](P p) { p.write(p.s); p.mark(); p.branch([&] { p.read(p.s); }, [] {}); }, 1},
    {"MarkInABranch", [](P p) { p.write(p.s); p.branch([&] { p.mark(); p.read(p.s); }, [] {}); }, 1},
    {"MarksInBothBranches",
     [](P p) { p.write(p.s); p.branch([&] { p.mark(); p.read(p.s); }, [&] { p.mark(); p.read(p.s); }); }, 2},
    {"BranchesDoNotMeet", [](P p) { p.branch([&] { p.write(p.s); }, [&] { p.mark(); p.read(p.s); }); }, 0},
    {"OneBranchHasABarrier",
     [](P p) { p.write(p.s); p.branch([&] { p.mark(); p.read(p.s); }, [] {}); p.mark(); p.read(p.s); }, 2},
    // loops
    {"LoopReads", [](P p) { p.write(p.s); p.mark(); p.loop([&] { p.read(p.s); }); }, 1},
    {"LoopWrites", [](P p) { p.loop([&] { p.mark(); p.write(p.s); }); p.mark(); p.read(p.s); }, 2},
    {"LoopThereAndBack", [](P p) { p.loop([&] { p.mark(); p.write(p.s); p.mark(); p.read(p.s); }); }, 2},
    {"LoopReadsThenWrites", [](P p) { p.loop([&] { p.mark(); p.read(p.s); p.mark(); p.write(p.s); }); }, 2},
    {"LoopReadsOnly", [](P p) { p.loop([&] { p.mark(); p.read(p.s); p.mark(); p.read(p.t); }); }, 0},
    {"LoopOfTwoBuffers",
     [](P p) { p.loop([&] { p.mark(); p.write(p.s); p.mark(); p.read(p.s); p.write(p.t); p.mark(); p.read(p.t); }); }, 2},
    {"LoopThatMayNotRun",
     [](P p) { p.write(p.s); p.loop([&] { p.mark(); p.write(p.t); p.mark(); p.read(p.t); }); p.mark(); p.read(p.s); }, 3},
    {"InnerLoop", [](P p) { p.loop([&] { p.mark(); p.write(p.s); p.mark(); p.loop([&] { p.read(p.s); }); }); }, 2},
    {"InnerLoopMeetsTheNextRoundOfTheOuter",
     [](P p) { p.loop([&] { p.mark(); p.loop([&] { p.read(p.s); }); p.mark(); p.write(p.s); }); }, 2},
    {"BranchInALoop",
     [](P p) { p.loop([&] { p.mark(); p.branch([&] { p.write(p.s); }, [] {}); p.mark(); p.read(p.s); }); }, 2},
    // while
    {"WhileThereAndBack", [](P p) { p.repeat([&] { p.mark(); p.read(p.s); }, [&] { p.mark(); p.write(p.s); }); }, 2},
    {"WhileConditionThenAfter", [](P p) { p.repeat([&] { p.read(p.s); }, [] {}); p.mark(); p.write(p.s); }, 1},
    {"WhileBodyThenAfter", [](P p) { p.repeat([] {}, [&] { p.mark(); p.write(p.s); }); p.mark(); p.read(p.s); }, 2},
};
// clang-format on

class Barriers : public ::testing::TestWithParam<Case> {
 protected:
  Function program() const {
    Program p;
    GetParam().write(p);
    return p.finish();
  }
};

/// The program without its n-th barrier, or without any when n is below 0.
struct WithoutBarrier : Rewriter {
  WithoutBarrier(const Function& f, int n) : Rewriter(f), n_(n) { b.set_literal(true); }
  void visit(Value v) override {
    bool is_dropped = from[v].op == Op::Barrier && (n_ < 0 || seen_++ == n_);
    if (!is_dropped) copy(v);
  }
  int n_, seen_ = 0;
};

int races(const Function& f) {
  std::vector<int32_t> x(kThreads), alone(kThreads);
  const uint64_t args[] = {reinterpret_cast<uint64_t>(x.data()), reinterpret_cast<uint64_t>(x.data()),
                           reinterpret_cast<uint64_t>(alone.data()), 3};
  int count = 0;
  for (const interp::Report& r : interp::interpret_lanes(f, {1, 1, 1}, args, {.check_uninitialised = false}))
    count += r.kind == interp::ReportKind::Race;
  return count;
}

TEST_P(Barriers, AsManyAsAreNeeded) {
  Function f = program(), g = insert_barriers(f);
  verify(g, Form::Lanes);
  EXPECT_EQ(count_op(g, Op::Barrier), GetParam().barriers) << print(f) << "became\n" << print(g);
  EXPECT_EQ(count_op(g, Op::Phase), 0);
}

TEST_P(Barriers, NothingElseChanges) {
  Function f = program(), g = insert_barriers(f);
  for (Op op : {Op::Load, Op::Store, Op::Atomic, Op::For, Op::While, Op::If}) EXPECT_EQ(count_op(f, op), count_op(g, op));
  EXPECT_EQ(g.threads, f.threads);
  EXPECT_EQ(g.scratch_bytes, f.scratch_bytes);
}

TEST_P(Barriers, NoThreadsRaceWithThem) {
  Function g = insert_barriers(program());
  EXPECT_EQ(races(g), 0) << print(g);
  if (GetParam().barriers > 0) {
    EXPECT_GT(races(WithoutBarrier(g, -1).run()), 0) << print(g);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Barriers, ::testing::ValuesIn(kCases), [](const auto& info) { return info.param.name; });

TEST(BarriersOfOneThread, AreNone) {
  Program p;
  p.write(p.s);
  p.read(p.s);
  Function f = p.finish();
  f.threads = 1;
  EXPECT_EQ(count_op(insert_barriers(f), Op::Barrier), 0);
}

TEST(MissingBarrier, IsSeenByTheInterpreter) {
  Program p;
  p.loop([&] { p.mark(), p.write(p.s), p.mark(), p.read(p.s); });
  Function g = insert_barriers(p.finish());
  for (int n : {0, 1}) EXPECT_GT(races(WithoutBarrier(g, n).run()), 0) << n;
}

}  // namespace
}  // namespace strider::pass
