// SPDX-License-Identifier: Apache-2.0
// The suite can fail: programs that race on purpose are reported by both interpreters, and so is lane form that has lost
// its barriers. What may look like a race and is none is not reported.
#include <gtest/gtest.h>

#include "ir/rewrite.h"
#include "lowering/runner.h"
#include "pass/pipeline.h"
#include "pass/simplify.h"
#include "support/scalar_program.h"

namespace strider::lowering {
namespace {

using interp::ReportKind;

int count(const Outcome& outcome, ReportKind kind) {
  int n = 0;
  for (const interp::Report& r : outcome.reports) n += r.kind == kind;
  return n;
}

Outcome run_lowered(const Kernel& k, int threads) { return run_lanes(k, pass::lower(pass::prepare(k.program, lane_target()), lane_target(), threads)); }

void expect_race(const Kernel& k) {
  SCOPED_TRACE(k.name);
  Outcome tiles = run_tiles(k, k.program);
  EXPECT_GT(count(tiles, ReportKind::Race), 0) << interp::to_string(tiles.reports);
  for (int threads : {1, 4, 32, 128}) {
    Outcome lanes = run_lowered(k, threads);
    EXPECT_GT(count(lanes, ReportKind::Race), 0) << threads << " threads\n" << interp::to_string(lanes.reports);
  }
}

TEST(Races, ProgramsThatStoreToOnePlace) {
  expect_race(kernel("store_store", {2, 1, 1}, {output<int>(1)}, [](tl::Ptr<int> x) { tl::store(x, tl::program_id(0)); }));
}

TEST(Races, AProgramThatLoadsWhatAnotherStores) {
  expect_race(kernel("store_load", {4, 1, 1}, {mixed<int>(4), output<int>(4)}, [](tl::Ptr<int> x, tl::Ptr<int> y) {
    auto p = tl::program_id(0);
    tl::store(x + p, p);
    tl::store(y + p, tl::load(x + (p + 1) % 4));
  }));
}

TEST(Races, OverlappingTilesOfPrograms) {
  expect_race(kernel("overlap", {3, 1, 1}, {output<float>(100)}, [](tl::Ptr<float> x) {
    auto p = tl::program_id(0);
    tl::store(x + p * 20 + tl::arange(0, 32), p.to<float>());
  }));
}

TEST(Races, AtomicsBesideAPlainLoad) {
  expect_race(kernel("atomic_load", {2, 1, 1}, {zeroed<int>(1), output<int>(2)}, [](tl::Ptr<int> counter, tl::Ptr<int> y) {
    tl::atomic_add(counter, 1);
    tl::store(y + tl::program_id(0), tl::load(counter));
  }));
}

TEST(Races, LanesOfOneStoreThatDisagree) {
  Kernel k = kernel("lanes", {1, 1, 1}, {output<int>(32)}, [](tl::Ptr<int> x) {
    auto i = tl::arange(0, 64);
    tl::store(x + tl::div(i, 2), i);
  });
  EXPECT_GT(count(run_tiles(k, k.program), ReportKind::Race), 0);
}

TEST(Races, AtomicsOfAllProgramsAreNone) {
  Kernel k = kernel("atomics", {8, 1, 1}, {zeroed<int>(4)}, [](tl::Ptr<int> x) { tl::atomic_add(x + tl::arange(0, 64) % 4, 1); });
  EXPECT_TRUE(run_tiles(k, k.program).reports.empty());
  for (int threads : {1, 4, 32, 128}) EXPECT_EQ(interp::to_string(run_lowered(k, threads).reports), "");
}

TEST(Races, AtomicsOfAnyKindRaceWithOtherAccessesOnly) {
  Kernel k = kernel("kinds", {8, 1, 1}, {zeroed<int>(4)}, [](tl::Ptr<int> x) {
    auto p = x + tl::arange(0, 64) % 4;
    tl::atomic_max(p, tl::program_id(0));
    tl::atomic_xchg(p, 5);
    tl::atomic_cas(p, 5, 6);
    tl::atomic_or(x, 1);
  });
  EXPECT_EQ(interp::to_string(run_tiles(k, k.program).reports), "");
  for (int threads : {1, 32}) EXPECT_EQ(interp::to_string(run_lowered(k, threads).reports), "");
  Kernel racing = kernel("racing", {8, 1, 1}, {zeroed<int>(4), output<int>(8)}, [](tl::Ptr<int> x, tl::Ptr<int> y) {
    tl::atomic_min(x, tl::program_id(0));
    tl::store(y + tl::program_id(0), tl::load(x));
  });
  EXPECT_GT(count(run_tiles(racing, racing.program), ReportKind::Race), 0);
}

TEST(Races, LanesThatStoreOneValueAreNone) {
  Kernel k = kernel("one_value", {1, 1, 1}, {output<int>(1)}, [](tl::Ptr<int> x) { tl::store(x + tl::arange(0, 64) * 0, 7); });
  EXPECT_TRUE(run_tiles(k, k.program).reports.empty());
  for (int threads : {1, 4, 32, 128}) EXPECT_EQ(interp::to_string(run_lowered(k, threads).reports), "");
}

TEST(Bounds, AccessesOutsideOfABufferAreReported) {
  Kernel k = kernel("outside", {1, 1, 1}, {mixed<int>(60), output<int>(64)}, [](tl::Ptr<int> x, tl::Ptr<int> y) {
    auto i = tl::arange(0, 64);
    tl::store(y + i, tl::load(x + i));
  });
  EXPECT_GT(count(run_tiles(k, k.program), ReportKind::OutOfBounds), 0);
  for (int threads : {1, 32}) EXPECT_GT(count(run_lowered(k, threads), ReportKind::OutOfBounds), 0);
}

// --- the comparison

Kernel negation() {
  return kernel("negation", {1, 1, 1}, {plain<float>(20), output<float>(20)}, [](tl::Ptr<float> x, tl::Ptr<float> y) {
    auto i = tl::arange(0, 20);
    tl::store(y + i, -tl::load(x + i));
  });
}

TEST(Comparison, SeesElementsThatDiffer) {
  Kernel k = negation();
  std::vector<Image> wanted = run_tiles(k, k.program).images, found = wanted;
  EXPECT_EQ(differences(k, wanted, found), "");
  found[1].bytes[static_cast<size_t>(found[1].offset) + 4 * 7] ^= 1;
  EXPECT_NE(differences(k, wanted, found).find("argument 1[7]"), std::string::npos);
  EXPECT_NE(differences(k, wanted, initial_images(k)).find("and 12 more"), std::string::npos);
}

TEST(Comparison, SeesBytesOutsideOfABuffer) {
  Kernel k = negation();
  std::vector<Image> wanted = run_tiles(k, k.program).images, found = wanted;
  found[0].bytes[static_cast<size_t>(found[0].offset) - 3] = 0;
  found[1].bytes[static_cast<size_t>(found[1].offset) + 80] = 0;
  std::string said = differences(k, wanted, found);
  EXPECT_NE(said.find("argument 0: byte 3 before the buffer"), std::string::npos) << said;
  EXPECT_NE(said.find("argument 1: byte 0 after the buffer"), std::string::npos) << said;
}

TEST(Comparison, HoldsKernelsToTheirReference) {
  Kernel k = negation();
  k.reference = [](Reference& r) {
    for (int i = 0; i < 20; ++i) r.set(1, i, i == 4 ? 9 : -r.in(0, i));
  };
  std::string said = differences_from_reference(k, run_tiles(k, k.program).images);
  EXPECT_NE(said.find("argument 1[4]"), std::string::npos) << said;
  EXPECT_EQ(said.find("argument 1[5]"), std::string::npos) << said;
}

// --- lane form without its barriers

class WithoutBarriers : public ir::Rewriter {
 public:
  using Rewriter::Rewriter;

 protected:
  void visit(ir::Value v) override {
    if (from[v].op != ir::Op::Barrier) copy(v);
  }
};

const Kernel& named(const std::string& name) {
  for (const Kernel& k : kernels())
    if (k.name == name) return k;
  throw std::runtime_error("no kernel is called " + name);
}

TEST(Barriers, TheLaneInterpreterMissesThem) {
  for (const char* name : {"softmax_1000", "reversal_in_place_257", "transpose_of_a_computed_tile_16x16", "store_then_load_shifted",
                           "lanes_exchanged_in_a_run_time_branch", "memory_rotated_in_a_loop", "cumsum_1000"}) {
    const Kernel& k = named(name);
    ir::Function lanes = pass::lower(pass::prepare(k.program, lane_target()), lane_target(), 128);
    EXPECT_GT(support::count_op(lanes, ir::Op::Barrier), 0) << name;
    EXPECT_FALSE(run_lanes(k, WithoutBarriers(lanes).run()).reports.empty()) << name;
  }
}

TEST(Barriers, OneThreadNeedsNone) {
  for (const char* name : {"softmax_1000", "reversal_in_place_257", "cumsum_1000"}) {
    ir::Function lanes = pass::lower(pass::prepare(named(name).program, lane_target()), lane_target(), 1);
    EXPECT_EQ(support::count_op(lanes, ir::Op::Barrier), 0) << name;
  }
}

// --- work done once

TEST(Work, SoftmaxComputesEachExponentialOnce) {
  Kernel k = kernel("softmax", {1, 1, 1}, {plain<float>(128), output<float>(128)}, [](tl::Ptr<float> x, tl::Ptr<float> y) {
    auto i = tl::arange(0, 128);
    auto v = tl::load(x + i);
    auto e = tl::exp(v - tl::max(v, 0));
    tl::store(y + i, e / tl::sum(e, 0));
  });
  for (int threads : {32, 128}) {  // a vector for each thread, or less
    ir::Function lanes = pass::lower(pass::simplify(k.program), lane_target(), threads);
    EXPECT_EQ(support::count_op(lanes, ir::Op::Exp), 1) << threads << " threads";
  }
}

TEST(Work, LoadsAndStoresOfAFlatKernelAreBlocks) {
  const Kernel& k = named("ragged_end_1024_in_blocks_of_128");
  ir::Function lanes = pass::lower(pass::prepare(k.program, lane_target()), lane_target(), 32);
  EXPECT_GT(support::count_op(lanes, ir::Op::LoadBlock), 0);
  EXPECT_GT(support::count_op(lanes, ir::Op::StoreBlock), 0);
}

}  // namespace
}  // namespace strider::lowering
