// SPDX-License-Identifier: Apache-2.0
// Where shared allocations lie: what lives together lies apart, what is dead makes room.
#include "pass/scratch.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "ir/builder.h"
#include "ir/print.h"

namespace strider::pass {
namespace {

using namespace ir;
using Params = std::span<const Value>;
using Values = Builder::Values;

struct Program {
  Builder b{"program"};
  Value n = b.param(Type::scalar(DType::I32), {.name = "n"});

  Value shared(int64_t count, DType dtype = DType::I32) { return b.alloc(Space::Shared, dtype, count); }
  void use(Value alloc) { b.store(b.ptr_add(alloc, n), b.constant_int(Type::scalar(b.type(alloc).dtype), 1)); }
  void loop(const std::function<void()>& body) {
    b.for_loop(b.i32(0), n, b.i32(1), {}, [&](Params) { return body(), Values{}; });
  }
  Function assigned(int64_t limit = 1 << 20) {
    Function f = b.finish();
    f.threads = 32;
    Target target;
    target.name = "small";
    target.scratch_limit = limit;
    assign_scratch(f, target);
    return f;
  }
};

struct Bytes {
  int64_t begin, end;
};

Bytes bytes_of(const Function& f, Value alloc) {
  return {f[alloc].aux, f[alloc].aux + f[alloc].imm * size_of(f.type(alloc).dtype)};
}

bool share(const Function& f, Value a, Value b) {
  Bytes x = bytes_of(f, a), y = bytes_of(f, b);
  return x.begin < y.end && y.begin < x.end;
}

TEST(Scratch, AllocationsOfOnePhaseLieApart) {
  Program p;
  Value a = p.shared(100), b = p.shared(7), c = p.shared(33);
  p.b.phase();
  for (Value v : {a, b, c}) p.use(v);
  Function f = p.assigned();
  EXPECT_FALSE(share(f, a, b) || share(f, b, c) || share(f, a, c));
  EXPECT_GE(f.scratch_bytes, 140 * 4);
}

TEST(Scratch, DeadOnesMakeRoom) {
  Program p;
  Value a = p.shared(100);
  p.use(a);
  p.b.phase();
  Value b = p.shared(100);
  p.use(b);
  Function f = p.assigned();
  EXPECT_EQ(f[a].aux, f[b].aux);
  EXPECT_EQ(f.scratch_bytes, 448);
}

TEST(Scratch, WithoutAPhaseInBetweenNothingIsDead) {
  Program p;
  Value a = p.shared(100);
  p.use(a);
  Value b = p.shared(100);
  p.use(b);
  Function f = p.assigned();
  EXPECT_FALSE(share(f, a, b));
}

TEST(Scratch, UsedInThePhaseOfAnothersFirstUseIsNotDead) {
  Program p;
  Value a = p.shared(100);
  p.b.phase();
  Value b = p.shared(100);
  p.use(b);
  p.use(a);
  Function f = p.assigned();
  EXPECT_FALSE(share(f, a, b));
}

TEST(Scratch, WhatALoopUsesLivesThroughAllOfIt) {
  Program p;
  Value a = p.shared(100), b;
  p.use(a);
  p.loop([&] {
    p.b.phase();
    p.use(a);
    p.b.phase();
    b = p.shared(100);
    p.use(b);
    p.b.phase();
  });
  Function f = p.assigned();
  EXPECT_FALSE(share(f, a, b));
}

TEST(Scratch, AnInnerLoopCountsForTheOuterOne) {
  Program p;
  Value a = p.shared(100), b;
  p.loop([&] {
    p.loop([&] { p.use(a); });
    p.b.phase();
    b = p.shared(100);
    p.use(b);
    p.b.phase();
  });
  Function f = p.assigned();
  EXPECT_FALSE(share(f, a, b));
}

TEST(Scratch, AllocationsOfOneIterationMakeRoom) {
  Program p;
  Value a, b;
  p.loop([&] {
    p.b.phase();
    a = p.shared(64);
    p.use(a);
    p.b.phase();
    b = p.shared(64);
    p.use(b);
  });
  Function f = p.assigned();
  EXPECT_EQ(f[a].aux, f[b].aux);
}

TEST(Scratch, AfterTheLoopThereIsRoomAgain) {
  Program p;
  Value a = p.shared(64);
  p.loop([&] {
    p.b.phase();
    p.use(a);
  });
  p.b.phase();
  Value b = p.shared(64);
  p.use(b);
  Function f = p.assigned();
  EXPECT_EQ(f[a].aux, f[b].aux);
}

TEST(Scratch, GapsAreFilled) {
  Program p;
  Value a = p.shared(64), b = p.shared(64);
  p.use(a), p.use(b);
  p.b.phase();
  Value small = p.shared(16);
  p.use(b), p.use(small);
  Function f = p.assigned();
  EXPECT_EQ(f[small].aux, f[a].aux);
  EXPECT_EQ(f.scratch_bytes, 512);
}

TEST(Scratch, PlacesAreAligned) {
  Program p;
  Value a = p.shared(3, DType::I8), b = p.shared(5, DType::F64), c = p.shared(1, DType::F16);
  for (Value v : {a, b, c}) p.use(v);
  Function f = p.assigned();
  for (Value v : {a, b, c}) EXPECT_EQ(f[v].aux % 64, 0u);
}

TEST(Scratch, LocalMemoryTakesNone) {
  Program p;
  p.use(p.b.alloc(Space::Local, DType::I32, 64));
  EXPECT_EQ(p.assigned().scratch_bytes, 0);
}

TEST(Scratch, MoreThanTheTargetHasIsAnErrorThatNamesBoth) {
  Program p;
  p.use(p.shared(1024));
  try {
    p.assigned(4095);
    FAIL() << "no error";
  } catch (const Error& e) {
    std::string text = e.what();
    for (const char* word : {"program", "4096", "4095", "small"}) EXPECT_NE(text.find(word), std::string::npos) << text;
  }
  Program q;
  q.use(q.shared(1024));
  EXPECT_EQ(q.assigned(4096).scratch_bytes, 4096);
}

/// A straight program of random allocations and uses, and when each lives.
struct RandomProgram : Program {
  struct Life {
    Value alloc;
    int first, last;
  };
  std::vector<Life> lives;

  explicit RandomProgram(uint32_t seed) {
    std::mt19937 random(seed);
    for (int phase = 0; phase < 12; ++phase) {
      for (size_t k = random() % 3; k > 0; --k) lives.push_back({shared(1 + random() % 200), phase, phase});
      for (Life& life : lives)
        if (random() % 3 == 0) use(life.alloc), life.last = phase;
      b.phase();
    }
  }
};

TEST(Scratch, WhatLivesTogetherNeverShares) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    RandomProgram p(seed);
    Function f = p.assigned();
    for (const auto& a : p.lives) {
      EXPECT_LE(bytes_of(f, a.alloc).end, f.scratch_bytes);
      for (const auto& b : p.lives) {
        bool meet = !(a.alloc == b.alloc) && a.first <= b.last && b.first <= a.last;
        if (meet) {
          ASSERT_FALSE(share(f, a.alloc, b.alloc)) << "seed " << seed << "\n" << print(f);
        }
      }
    }
  }
}

}  // namespace
}  // namespace strider::pass
