// SPDX-License-Identifier: Apache-2.0
// Plans in words, of calls that never run.
#include "planner/describe.h"

#include <gtest/gtest.h>

#include "backend/backend.h"
#include "ops/builtins.h"
#include "call/inspect.h"
#include "testing/operand_text.h"

#include <strider/error.h>
#include <strider/ops.h>

namespace strider::planner {
namespace {

/// The plan of x + y, for operands in words.
std::string plan_of(std::string_view x, std::string_view y) {
  std::vector<TensorView> views;
  for (std::string_view text : {x, y})
    views.push_back(OperandText(text).in(reinterpret_cast<void*>((views.size() + 1) << 40), device_named("cpu")));
  const Argument arguments[] = {views[0], views[1]};
  const std::string names[] = {"out", "x", "y"};
  return describe(inspect(ops::add.get().untyped(), arguments, target_named("cpu:x86-64-v3")).plan, names);
}

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* w : words) EXPECT_NE(text.find(w), std::string::npos) << w << " is not in\n" << text;
}

TEST(Describe, NamesBroadcastAxes) {
  expect_words(plan_of("f32(1,128)", "f32(64,128)"),
               {"layout    rows", "M = 64, N = 128", "x: f32, strides M 0, N 1; contiguous along N; broadcast along M",
                "y: f32, strides M 128, N 1; contiguous along N\n", "offsets   32 bits", "stores    ordinary"});
}

TEST(Describe, NamesWhatRunsAcross) {
  expect_words(plan_of("f32(64,128)", "f32(128,64):t"), {"layout    tiled", "y: f32, strides M 1, N 64; contiguous along M"});
}

TEST(Describe, MergesAxesThatLieAlike) {
  expect_words(plan_of("f32(4,5,6)", "f32(4,5,6)"), {"layout    flat", "axes      N = 120", "1 program"});
}

TEST(Describe, TellsWideOffsets) {
  expect_words(plan_of("f32(2,3):strides(4000000000,1)", "f32(2,3)"), {"offsets   64 bits"});
}

TEST(Describe, SaysWhenNothingRuns) { expect_words(plan_of("f32(0,3)", "f32(3)"), {"nothing runs"}); }

TEST(Inspect, ErrorsAreThoseOfTheCall) {
  try {
    plan_of("f32(3)", "f32(4)");
    FAIL() << "shapes that do not broadcast were accepted";
  } catch (const Error& error) {
    expect_words(error.what(), {"operator add", "does not broadcast"});
  }
}

TEST(Inspect, EveryBuiltinOperatorHasAPlan) {
  for (const ops::Builtin& b : ops::builtins()) {
    if (b.kind != "operator") continue;
    for (const std::string& layout : ops::variants(b)) EXPECT_FALSE(b.inspect(host_target(), layout).plan.empty) << b.name;
  }
}

}  // namespace
}  // namespace strider::planner
