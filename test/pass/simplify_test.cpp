// SPDX-License-Identifier: Apache-2.0
// What simplify removes and what it must leave.
#include "pass/simplify.h"

#include <gtest/gtest.h>

#include "support/scalar_program.h"

namespace strider {
namespace {

using namespace ir;
using support::count_op;

using Params = std::span<const Value>;

/// A program over a pointer to f32, one to i32, and a run-time i32 n.
struct Program {
  Builder b{"program"};
  Value p = b.param(Type::pointer(DType::F32), {.name = "p"});
  Value q = b.param(Type::pointer(DType::I32), {.name = "q"});
  Value n = b.param(Type::scalar(DType::I32), {.name = "n"});

  Value x() { return b.load(p); }
  Function simplified() { return pass::simplify(b.finish()); }
};

/// Operands of the outermost node with this op.
int operands_of(const Function& f, Op op) {
  for (Value v : f.body().body)
    if (f[v].op == op) return f[v].operand_count;
  return -1;
}

TEST(Simplify, DropsValuesAndLoadsThatNoEffectNeeds) {
  Program t;
  t.b.unary(Op::Exp, t.x());
  t.b.store(t.p, t.b.add(t.x(), t.x()));
  Function f = t.simplified();
  EXPECT_EQ(count_op(f, Op::Load), 2);
  EXPECT_EQ(count_op(f, Op::Exp), 0);
}

TEST(Simplify, KeepsStoresAndAtomicsAndTheirOrder) {
  Program t;
  t.b.atomic_add(t.q, t.n);
  t.b.store(t.q, t.n);
  t.b.atomic_add(t.q, t.b.i32(0));
  Function f = t.simplified();
  std::vector<Op> effects;
  for (Value v : f.body().body)
    if (has(f[v].op, Writes)) effects.push_back(f[v].op);
  EXPECT_EQ(effects, (std::vector{Op::Atomic, Op::Store, Op::Atomic}));
}

TEST(Simplify, MergesEqualValuesButNotLoads) {
  Program t;
  t.b.set_literal(true);
  Value a = t.b.add(t.n, t.n), c = t.b.add(t.n, t.n);
  t.b.store(t.q, t.b.mul(a, c));
  t.b.store(t.p, t.b.add(t.x(), t.x()));
  t.b.set_literal(false);
  Function f = t.simplified();
  EXPECT_EQ(count_op(f, Op::Add), 2);
  EXPECT_EQ(count_op(f, Op::Load), 2);
}

TEST(Simplify, IfOnAConstantBecomesItsBranch) {
  for (bool taken : {true, false}) {
    Program t;
    auto branch = [&](double value) {
      return [&, value](Params) { return Builder::Values{t.b.constant(Type::scalar(DType::F32), value)}; };
    };
    Value v = t.b.if_else(t.b.boolean(taken), branch(1), branch(2))[0];
    t.b.store(t.p, v);
    Function f = t.simplified();
    EXPECT_EQ(count_op(f, Op::If), 0);
    EXPECT_EQ(support::stored_bits(f, std::vector<uint64_t>{0, 0}), taken ? 0x3f800000u : 0x40000000u);
  }
}

TEST(Simplify, ValuesThatBothBranchesShareComeFromOutside) {
  Program t;
  Value x = t.x();
  auto values = t.b.if_else(
      t.b.binary(Op::Lt, t.n, t.b.i32(3)), [&](Params) { return Builder::Values{x, t.n}; },
      [&](Params) { return Builder::Values{x, t.b.i32(1)}; });
  t.b.store(t.p, values[0]);
  Function f = t.simplified();
  EXPECT_EQ(count_op(f, Op::If), 0);
}

TEST(Simplify, IfWithAnEffectInOneBranchStays) {
  Program t;
  t.b.if_else(
      t.b.binary(Op::Lt, t.n, t.b.i32(3)), [&](Params) { return t.b.store(t.q, t.n), Builder::Values{}; },
      [&](Params) { return Builder::Values{}; });
  Function f = t.simplified();
  EXPECT_EQ(count_op(f, Op::If), 1);
  EXPECT_EQ(count_op(f, Op::Store), 1);
}

TEST(Simplify, UnusedCarriedValuesAreDropped) {
  Program t;
  Value zero = t.b.i32(0), one = t.b.i32(1), x = t.x();
  auto sums = t.b.for_loop(zero, t.n, one, {{zero, x, x}}, [&](Params p) {
    return Builder::Values{t.b.add(p[1], p[0]), t.b.unary(Op::Exp, p[2]), t.b.unary(Op::Neg, p[3])};
  });
  t.b.store(t.q, sums[0]);
  Function f = t.simplified();
  EXPECT_EQ(count_op(f, Op::For), 1);
  EXPECT_EQ(count_op(f, Op::Exp) + count_op(f, Op::Neg), 0);
  EXPECT_EQ(operands_of(f, Op::For), 4);
}

TEST(Simplify, CarriedValuesThatFeedOthersStay) {
  Program t;
  Value zero = t.b.i32(0), one = t.b.i32(1);
  auto pair = t.b.for_loop(zero, t.n, one, {{zero, one}}, [&](Params p) {
    return Builder::Values{p[2], t.b.add(p[1], p[2])};
  });
  t.b.store(t.q, pair[0]);
  Function f = t.simplified();
  EXPECT_EQ(operands_of(f, Op::For), 5);
}

TEST(Simplify, ValuesThatALoopCarriesUnchangedComeFromOutside) {
  Program t;
  Value zero = t.b.i32(0), one = t.b.i32(1);
  auto carried = t.b.for_loop(zero, t.n, one, {{zero, t.n}}, [&](Params p) {
    return Builder::Values{t.b.add(p[1], p[2]), p[2]};
  });
  t.b.store(t.q, t.b.add(carried[0], carried[1]));
  Function f = t.simplified();
  EXPECT_EQ(operands_of(f, Op::For), 4);
}

TEST(Simplify, LoopWithoutEffectsOrUsedResultsIsDropped) {
  Program t;
  Value zero = t.b.i32(0);
  t.b.for_loop(zero, t.n, t.b.i32(1), {{zero}}, [&](Params p) { return Builder::Values{t.b.add(p[0], p[1])}; });
  t.b.while_loop({{t.n}}, [&](Params p) { return Builder::Values{t.b.binary(Op::Gt, p[0], zero)}; },
                 [&](Params p) { return Builder::Values{t.b.sub(p[0], t.b.i32(1))}; });
  t.b.store(t.q, t.n);
  Function f = t.simplified();
  EXPECT_EQ(count_op(f, Op::For) + count_op(f, Op::While), 0);
}

TEST(Simplify, WhileKeepsWhatItsConditionNeeds) {
  Program t;
  Value zero = t.b.i32(0), one = t.b.i32(1);
  auto carried = t.b.while_loop({{t.n, zero, zero}}, [&](Params p) { return Builder::Values{t.b.binary(Op::Gt, p[0], zero)}; },
                                [&](Params p) {
                                  return Builder::Values{t.b.sub(p[0], one), t.b.add(p[1], p[0]), t.b.add(p[2], one)};
                                });
  t.b.store(t.q, carried[1]);
  Function f = t.simplified();
  EXPECT_EQ(operands_of(f, Op::While), 2);
}

struct Trips {
  int64_t lo, hi, step;
  int loops;  // left
  uint64_t stored;
};

TEST(Simplify, LoopsOfNoneOrOneIterationAreWrittenOut) {
  for (Trips c : {Trips{3, 3, 1, 0, 100}, Trips{5, 3, 1, 0, 100}, Trips{3, 4, 1, 0, 103}, Trips{3, 7, 4, 0, 103}, Trips{3, 8, 4, 1, 0}}) {
    Program t;
    Value sum = t.b.for_loop(t.b.i32(c.lo), t.b.i32(c.hi), t.b.i32(c.step), {{t.b.i32(100)}}, [&](Params p) {
      return Builder::Values{t.b.add(p[1], p[0])};
    })[0];
    t.b.store(t.q, sum);
    Function f = t.simplified();
    EXPECT_EQ(count_op(f, Op::For), c.loops);
    if (c.loops > 0) continue;
    EXPECT_EQ(support::stored_bits(f, std::vector<uint64_t>{0, 0}), c.stored);
  }
}

TEST(Simplify, UnusedOperandsOfReductionsAreDropped) {
  Program t;
  Value tile = t.b.load(t.b.ptr_add(t.b.broadcast(t.p, {8}), t.b.arange(DType::I32, 0, 8)));
  auto sums = t.b.reduce({{tile, t.b.unary(Op::Neg, tile)}}, 0, [&](Params p) {
    return Builder::Values{t.b.add(p[0], p[2]), t.b.mul(p[1], p[3])};
  });
  t.b.store(t.p, sums[0]);
  Function f = t.simplified();
  EXPECT_EQ(count_op(f, Op::Mul) + count_op(f, Op::Neg), 0);
  EXPECT_EQ(count_op(f, Op::Reduce), 1);
}

TEST(Simplify, ConstantMasksDisappear) {
  Program t;
  Value yes = t.b.boolean(true), no = t.b.boolean(false), x = t.x();
  t.b.store(t.p, t.b.load(t.p, yes, x), yes);
  t.b.store(t.p, t.b.load(t.p, no, x));
  t.b.store(t.p, t.b.load(t.p, no));
  t.b.store(t.p, x, no);
  Function f = t.simplified();
  EXPECT_EQ(count_op(f, Op::Load), 2);
  std::vector<Value> stores;
  for (Value v : f.body().body)
    if (f[v].op == Op::Store) stores.push_back(v);
  ASSERT_EQ(stores.size(), 3u);
  EXPECT_EQ(f[stores[0]].operand_count, 2);
  EXPECT_EQ(f[f.operand(stores[1], 1)].op, Op::Load);
  EXPECT_TRUE(f.is_constant(f.operand(stores[2], 1)));
}

TEST(Simplify, EffectsInsideLoopsKeepTheLoopAndItsBounds) {
  Program t;
  t.b.for_loop(t.b.i32(0), t.n, t.b.i32(2), {}, [&](Params p) {
    t.b.store(t.b.ptr_add(t.q, p[0]), p[0]);
    return Builder::Values{};
  });
  Function f = t.simplified();
  EXPECT_EQ(count_op(f, Op::For), 1);
  EXPECT_EQ(count_op(f, Op::Store), 1);
}

}  // namespace
}  // namespace strider
