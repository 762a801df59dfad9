// SPDX-License-Identifier: Apache-2.0
// The schedule's decisions: how many nests, which loads share one with a store, what is kept and how; and that scheduled
// form means what tile form meant.
#include "pass/schedule.h"

#include <gtest/gtest.h>

#include <functional>

#include "ir/builder.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "pass/run_program.h"

namespace strider::pass {
namespace {

using namespace ir;
using Params = std::span<const Value>;
using Values = Builder::Values;

constexpr int64_t kSize = 16;

/// Writes a program over rows of 16 numbers; x and y may alias, `alone` may not.
struct Program {
  Builder b{"program"};
  Value x = b.param(Type::pointer(DType::I32), {.name = "x"});
  Value y = b.param(Type::pointer(DType::I32), {.name = "y"});
  Value alone = b.param(Type::pointer(DType::I32), {.name = "alone", .no_alias = true});
  Value n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Value i = b.arange(DType::I32, 0, kSize);

  Value splat(int64_t value) { return b.constant_int(b.type(i), value); }
  Value row(Value base, int64_t number = 0) { return at(base, b.add(i, splat(number * kSize))); }
  Value reversed(Value base) { return at(base, b.sub(splat(kSize - 1), i)); }
  Value at(Value base, Value offsets) { return b.ptr_add(b.broadcast(base, b.type(offsets).shape), offsets); }
  Value spread(Value scalar) { return b.broadcast(scalar, {kSize}); }
  Value total(Value tile) { return b.reduce(tile, 0, Op::Add); }
  Value square(Value tile) { return b.broadcast(b.expand_dims(tile, 0), {kSize, kSize}); }
};

std::vector<Value> nests(const Function& f) { return find_all(f, Op::Nest); }

/// The number of the nest in which the k-th node with this op stands; -1: in none.
int nest_of(const Function& f, Op op, int k = 0) {
  Value v = find_all(f, op).at(static_cast<size_t>(k));
  std::vector<Value> all = nests(f);
  for (size_t n = 0; n < all.size(); ++n)
    for (Value inside : f.region(all[n], 0).body)
      if (inside == v) return static_cast<int>(n);
  return -1;
}

uint8_t kept(const Function& f, Op op, int k = 0) {
  return f[find_all(f, op).at(static_cast<size_t>(k))].flags & (kKeepPrivate | kKeepShared);
}

struct Case {
  const char* name;
  void (*write)(Program&);
  int nests;
  void (*check)(const Function&) = nullptr;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// --- memory order and nests

const Case kMemory[] = {
    {"ACopyIsOneNest", [](Program& p) { p.b.store(p.row(p.y), p.b.load(p.row(p.alone))); }, 1,
     [](const Function& f) { EXPECT_EQ(kept(f, Op::Load), 0); }},
    {"AChainOfArithmeticIsOneNest",
     [](Program& p) {
       Value v = p.b.load(p.row(p.alone));
       for (int k = 0; k < 5; ++k) v = p.b.mul(p.b.add(v, p.i), v);
       p.b.store(p.row(p.y), v);
     },
     1},
    {"InPlaceAtTheSameAddressIsOneNest",
     [](Program& p) {
       Value a = p.row(p.x), v = p.b.load(a);
       p.b.store(a, p.b.add(v, v));
     },
     1},
    {"AStoreThatMayMeetALoadGoesToTheNextNest",
     [](Program& p) { p.b.store(p.reversed(p.x), p.b.load(p.row(p.x))); }, 2,
     [](const Function& f) {
       EXPECT_EQ(nest_of(f, Op::Load), 0);
       EXPECT_EQ(nest_of(f, Op::Store), 1);
       EXPECT_EQ(kept(f, Op::Load), kKeepPrivate);
     }},
    {"PointersThatMayAliasKeepTheirOrder",
     [](Program& p) {
       p.b.store(p.row(p.x), p.i);
       p.b.store(p.row(p.alone), p.b.load(p.row(p.y)));
     },
     2},
    {"APointerThatStandsAloneSharesTheNest",
     [](Program& p) {
       p.b.store(p.row(p.x), p.i);
       p.b.store(p.row(p.x), p.b.load(p.row(p.alone)));
     },
     1},
    {"AWaitingLoadIsPlacedBeforeAStoreThatMayMeetIt",
     [](Program& p) {
       Value a = p.b.load(p.row(p.x)), c = p.b.load(p.row(p.y));
       p.b.store(p.row(p.x), c);
       p.b.store(p.row(p.y), a);
     },
     3,
     [](const Function& f) {
       EXPECT_EQ(nest_of(f, Op::Load, 0), 0);
       EXPECT_EQ(nest_of(f, Op::Load, 1), 0);
       EXPECT_NE(nest_of(f, Op::Store, 0), 0);
     }},
    {"ALoadWaitsForItsUser",
     [](Program& p) {
       Value late = p.b.load(p.row(p.alone));
       p.b.store(p.row(p.x), p.i);
       p.b.store(p.reversed(p.x), late);
     },
     2,
     [](const Function& f) {
       EXPECT_EQ(nest_of(f, Op::Load), 1);
       EXPECT_EQ(kept(f, Op::Load), 0);
     }},
    {"LanesThatMayMeetDoNotShareANest",
     [](Program& p) {
       Value a = p.at(p.x, p.b.binary(Op::Div, p.i, p.splat(2)));
       p.b.store(a, p.splat(7));
       p.b.store(p.row(p.alone), p.b.load(a));
     },
     2},
    {"TilesOfOtherShapesHaveNestsOfTheirOwn",
     [](Program& p) {
       p.b.store(p.row(p.alone), p.i);
       Value j = p.b.arange(DType::I32, 0, 8);
       p.b.store(p.at(p.alone, p.b.add(j, p.b.constant_int(p.b.type(j), 100))), j);
     },
     2},
    {"AxesOfSizeOneMakeNoDifference",
     [](Program& p) {
       Value column = p.b.expand_dims(p.i, 1);
       p.b.store(p.at(p.x, column), p.b.expand_dims(p.b.load(p.row(p.alone)), 1));
     },
     1, [](const Function& f) { EXPECT_EQ(kept(f, Op::Load), 0); }},
    {"AtomicsAreCompleteAfterTheirNest",
     [](Program& p) {
       Value old = p.b.atomic_add(p.row(p.x), p.i);
       p.b.store(p.row(p.alone), old);
     },
     2, [](const Function& f) { EXPECT_EQ(kept(f, Op::Atomic), kKeepPrivate); }},
    {"ScalarAccessesStandOutsideNests",
     [](Program& p) {
       Value v = p.b.load(p.alone);
       p.b.store(p.x, p.b.add(v, v));
     },
     0, [](const Function& f) { EXPECT_EQ(nest_of(f, Op::Store), -1); }},
    {"ALoadIsPlacedBeforeAScalarStoreThatMayMeetIt",
     [](Program& p) {
       Value v = p.b.load(p.row(p.x));
       p.b.store(p.x, p.n);
       p.b.store(p.row(p.x, 1), v);
     },
     2,
     [](const Function& f) {
       EXPECT_EQ(nest_of(f, Op::Load), 0);
       EXPECT_EQ(nest_of(f, Op::Store, 1), 1);
     }},
};

// --- reductions, other lanes, regions

const Case kStructure[] = {
    {"AReductionEndsItsNest",
     [](Program& p) {
       Value v = p.b.load(p.row(p.alone));
       p.b.store(p.row(p.x), p.b.sub(v, p.spread(p.total(v))));
     },
     2,
     [](const Function& f) {
       EXPECT_EQ(nest_of(f, Op::Reduce), 0);
       EXPECT_EQ(kept(f, Op::Load), kKeepPrivate);
     }},
    {"TwoReductionsShareANest",
     [](Program& p) {
       Value v = p.b.load(p.row(p.alone));
       Value sum = p.total(v), squares = p.total(p.b.mul(v, v));
       p.b.store(p.x, p.b.add(sum, squares));
     },
     1, [](const Function& f) { EXPECT_EQ(kept(f, Op::Load), 0); }},
    {"AReductionOfAReductionNeedsAnotherNest",
     [](Program& p) {
       Value v = p.b.load(p.row(p.alone));
       Value mean = p.spread(p.total(v)), apart = p.b.sub(v, mean);
       p.b.store(p.row(p.x), p.b.mul(apart, p.spread(p.total(p.b.mul(apart, apart)))));
     },
     3},
    {"AScanIsReadFromScratch",
     [](Program& p) { p.b.store(p.row(p.x), p.b.scan(p.b.load(p.row(p.alone)), 0, Op::Add)); }, 2,
     [](const Function& f) { EXPECT_TRUE(kept(f, Op::Result) & kKeepShared); }},
    {"AValueReadAtAnotherLaneIsKeptForAll",
     [](Program& p) {
       Value v = p.square(p.b.load(p.row(p.alone)));
       const int axes[] = {1, 0};
       Value lanes = p.b.reshape(p.b.arange(DType::I32, 0, kSize * kSize), {kSize, kSize});
       p.b.store(p.at(p.x, lanes), p.b.add(v, p.b.trans(v, axes)));
     },
     2, [](const Function& f) { EXPECT_EQ(kept(f, Op::Load), kKeepShared); }},
    {"IndexArithmeticIsInlinedAndNotKept",
     [](Program& p) {
       Value even = p.b.mul(p.i, p.splat(2));
       p.b.store(p.at(p.x, even), p.b.add(p.b.load(p.at(p.alone, even)), p.spread(p.total(even))));
     },
     2,
     [](const Function& f) {
       for (Op op : {Op::Mul, Op::PtrAdd, Op::Broadcast, Op::Arange})
         for (Value v : find_all(f, op)) EXPECT_TRUE(f[v].flags & kInline) << print_statement(f, v);
       EXPECT_EQ(kept(f, Op::Mul), 0);
     }},
    {"ACarriedTileIsKeptByItsOwner",
     [](Program& p) {
       Value first = p.b.load(p.row(p.alone));
       Values last = p.b.for_loop(p.b.i32(0), p.n, p.b.i32(1), {{first}}, [&](Params c) { return Values{p.b.mul(c[1], c[1])}; });
       p.b.store(p.row(p.x), last[0]);
     },
     3,
     [](const Function& f) {
       EXPECT_EQ(kept(f, Op::Load), kKeepPrivate);
       EXPECT_EQ(kept(f, Op::Mul), kKeepPrivate);
     }},
    {"WhatALoopReadsIsPlacedBeforeIt",
     [](Program& p) {
       Value v = p.b.load(p.row(p.alone));
       p.b.for_loop(p.b.i32(0), p.n, p.b.i32(1), {}, [&](Params c) {
         p.b.store(p.row(p.x), p.b.add(v, p.spread(c[0])));
         return Values{};
       });
     },
     2,
     [](const Function& f) {
       EXPECT_EQ(nest_of(f, Op::Load), 0);
       EXPECT_EQ(kept(f, Op::Load), kKeepPrivate);
     }},
    {"BranchesHaveNestsOfTheirOwn",
     [](Program& p) {
       Value v = p.b.load(p.row(p.alone));
       Values chosen = p.b.if_else(
           p.b.binary(Op::Lt, p.n, p.b.i32(2)), [&](Params) { return Values{p.b.mul(v, v)}; },
           [&](Params) { return Values{p.b.add(v, v)}; });
       p.b.store(p.row(p.x), chosen[0]);
     },
     4},
    {"AStoreInALoopComesAfterLoadsThatWait",
     [](Program& p) {
       Value v = p.b.load(p.row(p.y));
       p.b.for_loop(p.b.i32(0), p.n, p.b.i32(1), {}, [&](Params c) {
         p.b.store(p.row(p.x), p.spread(c[0]));
         return Values{};
       });
       p.b.store(p.row(p.x, 1), v);
     },
     3, [](const Function& f) { EXPECT_EQ(nest_of(f, Op::Load), 0); }},
    {"DeadValuesArePlacedNowhere",
     [](Program& p) {
       p.b.mul(p.b.load(p.row(p.alone)), p.i);
       p.b.store(p.row(p.x), p.i);
     },
     1, [](const Function& f) { EXPECT_EQ(find_all(f, Op::Mul).size(), 0u); }},
};

class Schedule : public ::testing::TestWithParam<Case> {
 protected:
  Function program() const {
    Program p;
    GetParam().write(p);
    return p.b.finish();
  }
};

TEST_P(Schedule, PlacesStatements) {
  Function f = program(), g = schedule(f);
  verify(g, Form::Scheduled);
  EXPECT_EQ(static_cast<int>(nests(g).size()), GetParam().nests) << print(g);
  if (GetParam().check) GetParam().check(g);
  if (HasFailure()) ADD_FAILURE() << print(g);
}

TEST_P(Schedule, PlacesEveryEffectOnce) {
  Function f = program(), g = schedule(f);
  for (Op op : {Op::Store, Op::Atomic, Op::Reduce, Op::Scan, Op::For, Op::If})
    EXPECT_EQ(find_all(f, op).size(), find_all(g, op).size()) << name_of(op);
  EXPECT_LE(find_all(g, Op::Load).size(), find_all(f, Op::Load).size());
}

TEST_P(Schedule, LeavesTheSameMemory) {
  Function f = program(), g = schedule(f);
  for (int64_t n : {0, 1, 3}) expect_same_memory(f, g, {.scalars = {n}});
}

INSTANTIATE_TEST_SUITE_P(Memory, Schedule, ::testing::ValuesIn(kMemory), [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Structure, Schedule, ::testing::ValuesIn(kStructure), [](const auto& info) { return info.param.name; });

TEST(ScheduleOfAliases, LeavesTheSameMemoryWhenTheyAreOne) {
  Program p;
  Value a = p.b.load(p.row(p.x)), c = p.b.load(p.reversed(p.y));
  p.b.store(p.row(p.x), c);
  p.b.store(p.row(p.y, 1), a);
  p.b.store(p.reversed(p.y), p.b.add(a, p.b.load(p.row(p.x))));
  Function f = p.b.finish(), g = schedule(f);
  expect_same_memory(f, g, {.scalars = {0}, .one_buffer = true});
  expect_same_memory(f, g, {.scalars = {0}});
}

TEST(ScheduleOfStagedLoads, KeepsTheirFlag) {
  Program p;
  Value lanes = p.b.reshape(p.b.arange(DType::I32, 0, kSize * kSize), {kSize, kSize});
  const int axes[] = {1, 0};
  Value v = p.b.load(p.at(p.alone, lanes));
  p.b.set_flags(v, kStaged);
  p.b.store(p.at(p.x, lanes), p.b.trans(v, axes));
  Function g = schedule(p.b.finish());
  Value load = find_all(g, Op::Load).at(0);
  EXPECT_EQ(g[load].flags, kStaged | kKeepShared) << print(g);
  EXPECT_EQ(nests(g).size(), 2u);
}

}  // namespace
}  // namespace strider::pass
