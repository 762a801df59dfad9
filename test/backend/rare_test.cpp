// SPDX-License-Identifier: Apache-2.0
// What the emitter puts behind a branch when a choice is kLikely. That values stay the same is the lowering suite's to show.
#include "backend/backend.h"
#include "codegen/llvm/rare.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/llvm/codegen.h"
#include "ir/builder.h"

namespace strider {
namespace {

using namespace ir;

bool contains(const std::vector<Value>& list, Value v) { return std::find(list.begin(), list.end(), v) != list.end(); }

/// A program on four lanes of f32: x is loaded, and what `write` gives is stored.
struct Program {
  Builder b{"program"};
  Value pointer = b.param(Type::pointer(DType::F32), {.name = "p"});
  Value x = b.load_block(pointer, DType::F32, 4, 4);

  Value number(double value) { return b.constant(b.type(x), value); }
  Value common() { return b.binary(Op::Lt, b.unary(Op::Abs, x), number(100)); }
  Value choose(Value condition, Value usual, Value rare) {
    Value chosen = b.where(condition, usual, rare);
    b.set_flags(chosen, kLikely);
    return chosen;
  }
  Function finish(Value result) {
    b.store_block(pointer, result, 4);
    Function f = b.finish();
    f.threads = 1;
    return f;
  }
};

TEST(RareCode, IsWhatOnlyTheSecondChoiceNeeds) {
  Program p;
  Value condition = p.common();
  Value shared = p.b.mul(p.x, p.number(3)), alone = p.b.add(shared, p.number(1)), last = p.b.mul(alone, alone);
  Value usual = p.b.unary(Op::Neg, p.x);
  Value chosen = p.choose(condition, usual, last);
  codegen::RarePlan plan = codegen::plan_rare_code(p.finish(p.b.add(chosen, shared)));
  ASSERT_EQ(plan.codes.size(), 1u);
  EXPECT_EQ(plan.code_of[chosen.id], 0);
  auto is_slow = [&](Value v) { return contains(plan.codes[0].slow, v); };
  EXPECT_TRUE(is_slow(alone) && is_slow(last));
  EXPECT_FALSE(is_slow(shared)) << "the sum needs it as well";
  EXPECT_FALSE(is_slow(usual) || is_slow(condition) || is_slow(p.x));
}

TEST(RareCode, ChoicesByOneConditionShareABranch) {
  Program p;
  Value condition = p.common(), slow = p.b.unary(Op::Sqrt, p.x);
  Value first = p.choose(condition, p.x, p.b.add(slow, p.number(1)));
  Value between = p.b.mul(first, first);
  Value usual = p.b.mul(p.x, p.number(2));  // stands after the first choice, but can be computed before
  Value second = p.choose(condition, usual, p.b.mul(slow, p.number(5)));
  codegen::RarePlan plan = codegen::plan_rare_code(p.finish(p.b.add(between, second)));
  ASSERT_EQ(plan.codes.size(), 1u);
  EXPECT_EQ(plan.codes[0].choices, (std::vector<Value>{first, second}));
  EXPECT_TRUE(contains(plan.codes[0].before, usual));
  EXPECT_FALSE(contains(plan.codes[0].before, between));
}

TEST(RareCode, AChoiceThatNeedsAnotherHasItsOwnBranch) {
  Program p;
  Value condition = p.common();
  Value first = p.choose(condition, p.x, p.b.unary(Op::Sqrt, p.x));
  Value second = p.choose(condition, p.b.mul(first, first), p.b.unary(Op::Floor, p.x));
  codegen::RarePlan plan = codegen::plan_rare_code(p.finish(second));
  ASSERT_EQ(plan.codes.size(), 2u);
  EXPECT_EQ(plan.codes[1].choices, std::vector<Value>{second});
}

TEST(RareCode, PlainChoicesAndEmptySidesStay) {
  Program p;
  Value plain = p.b.where(p.common(), p.x, p.b.unary(Op::Sqrt, p.x));
  Value empty = p.choose(p.common(), plain, p.x);
  EXPECT_TRUE(codegen::plan_rare_code(p.finish(empty)).codes.empty());
}

/// Long enough that LLVM does not compute it always.
TEST(RareCode, CompilesToABranchOnEveryTarget) {
  for (const char* target : {"cpu:x86-64", "cpu:x86-64-v3", "cpu:x86-64-v4", "cuda:sm_80"}) {
    Program p;
    Value rare = p.x;
    for (int k = 1; k < 7; ++k) rare = p.b.binary(Op::Div, p.number(k), p.b.add(rare, p.number(1)));
    Function f = p.finish(p.choose(p.common(), p.x, rare));
    Target t = target_named(target);
    f.threads = t.warp;
    EXPECT_NE(compiler_for(t).text(f, t, "llvm").find("rare"), std::string::npos) << target;
  }
}

}  // namespace
}  // namespace strider
