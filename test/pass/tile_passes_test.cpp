// SPDX-License-Identifier: Apache-2.0
// Each pass from tile form to tile or scheduled form alone, on every kernel of the proof suite and on random ones: the tile
// interpreter leaves the same memory after it as before.
#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "lowering/random_program.h"
#include "lowering/runner.h"
#include "pass/offsets.h"
#include "pass/pipeline.h"
#include "pass/schedule.h"
#include "pass/simplify.h"
#include "pass/split.h"
#include "pass/stage.h"

namespace strider::pass {
namespace {

using ir::Form;
using ir::Function;
using lowering::Kernel;

struct Pass {
  const char* name;
  Function (*apply)(const Function&);
  Form result;
};

const Pass kPasses[] = {
    {"simplify", simplify, Form::Tile},
    {"take_offsets_out", take_offsets_out, Form::Tile},
    {"split", split, Form::Tile},
    {"stage", stage, Form::Tile},
    {"schedule", [](const Function& f) { return schedule(take_offsets_out(f)); }, Form::Scheduled},
};

void check(const Kernel& k) {
  lowering::Expected expected = lowering::expect(k);
  for (const Pass& pass : kPasses) {
    SCOPED_TRACE(pass.name);
    Function g = pass.apply(expected.prepared);
    verify(g, pass.result);
    lowering::Outcome outcome = lowering::run_tiles(k, g);
    EXPECT_EQ(interp::to_string(outcome.reports), "");
    EXPECT_EQ(lowering::differences(k, expected.outcome.images, outcome.images), "")
        << print(expected.prepared) << "became\n" << print(g);
  }
}

/// Small enough for a test of a fraction of a second: the interpreter visits every lane of every statement.
bool is_small(const Kernel& k) {
  constexpr int64_t kMostLanes = 100000;
  int64_t lanes = 0;
  for (uint32_t id = 0; id < k.program.size(); ++id)
    if (const ir::Type& t = k.program.type(ir::Value{id}); !t.is_void) lanes += t.elements();
  return lanes * k.grid[0] * k.grid[1] * k.grid[2] <= kMostLanes;
}

std::vector<size_t> small_kernels() {
  std::vector<size_t> small;
  for (size_t k = 0; k < lowering::kernels().size(); ++k)
    if (is_small(lowering::kernels()[k])) small.push_back(k);
  return small;
}

class TilePasses : public ::testing::TestWithParam<size_t> {};

TEST_P(TilePasses, LeaveTheSameMemory) { check(lowering::kernels()[GetParam()]); }

INSTANTIATE_TEST_SUITE_P(Suite, TilePasses, ::testing::ValuesIn(small_kernels()),
                         [](const auto& info) { return lowering::kernels()[info.param].name; });

class TilePassesOnRandomKernels : public ::testing::TestWithParam<uint64_t> {};

TEST_P(TilePassesOnRandomKernels, LeaveTheSameMemory) {
  Kernel k = lowering::random_kernel(GetParam());
  if (!is_small(k)) GTEST_SKIP() << "too large";
  try {
    check(k);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what() << "\n" << print(k.program);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TilePassesOnRandomKernels, ::testing::Range(uint64_t{1}, uint64_t{31}));

}  // namespace
}  // namespace strider::pass
