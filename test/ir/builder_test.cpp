// SPDX-License-Identifier: Apache-2.0
// What Builder merges and folds, and what it must not.
#include "ir/builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/semantics.h"

namespace strider::ir {
namespace {

class BuilderTest : public ::testing::Test {
 protected:
  Builder b{"test"};
  Value param(DType t) { return b.param(Type::scalar(t), {.name = "p"}); }
  bool is_constant(Value v, uint64_t bits) const {
    const Function& f = b.function();
    return f.is_constant(v) && static_cast<uint64_t>(f[v].imm) == bits;
  }
};

using BuilderFolding = BuilderTest;
using BuilderNumbering = BuilderTest;

TEST_F(BuilderFolding, KeepsFloatOpsThatMayChangeBits) {
  for (DType t : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    Value x = param(t);
    Value zero = b.constant(b.type(x), 0.0), minus_zero = b.constant(b.type(x), -0.0), one = b.constant(b.type(x), 1.0);
    EXPECT_NE(zero, minus_zero);
    for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div})
      for (Value c : {zero, minus_zero, one}) EXPECT_EQ(b.function()[b.binary(op, x, c)].op, op) << name_of(op);
    EXPECT_EQ(b.function()[b.sub(x, x)].op, Op::Sub);
    EXPECT_EQ(b.function()[b.binary(Op::Eq, x, x)].op, Op::Eq);
  }
}

TEST_F(BuilderFolding, ConstantsFoldToTheirExactBits) {
  Type f32 = Type::scalar(DType::F32);
  Value minus_zero = b.constant(f32, -0.0);
  EXPECT_TRUE(is_constant(b.add(minus_zero, minus_zero), bits_of_double(DType::F32, -0.0)));
  EXPECT_TRUE(is_constant(b.add(minus_zero, b.constant(f32, 0.0)), 0));
  EXPECT_TRUE(is_constant(b.unary(Op::Neg, b.constant_bits(f32, 0x7f800001)), 0xff800001));
  EXPECT_TRUE(is_constant(b.where(b.boolean(false), b.constant(f32, 1), b.constant_bits(f32, 0x7f800001)), 0x7f800001));
  EXPECT_TRUE(is_constant(b.cast(b.constant(f32, NAN), DType::I32), 0x80000000));
  EXPECT_TRUE(is_constant(b.binary(Op::Lt, b.i32(-1), b.i32(1)), 1));
  EXPECT_TRUE(is_constant(b.binary(Op::Div, b.i32(INT32_MIN), b.i32(-1)), 0x80000000));
  EXPECT_EQ(b.function()[b.unary(Op::Exp, b.constant(f32, 1))].op, Op::Exp) << "functions are left to their expansions";
}

/// An identity must give, for every bit pattern, what the op itself gives.
TEST_F(BuilderFolding, IdentitiesAgreeWithSemanticsOnEveryByte) {
  static constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem,     Op::And,
                                   Op::Or,  Op::Xor, Op::Shl, Op::Shr, Op::Minimum, Op::Maximum};
  for (DType t : {DType::I8, DType::U8, DType::Bool}) {
    Value x = param(t);
    for (Op op : kBinary)
      for (uint64_t c : {0, 1, 2, 8, 255})
        for (bool swapped : {false, true}) {
          bool logic = op == Op::And || op == Op::Or || op == Op::Xor || op == Op::Minimum || op == Op::Maximum;
          if (t == DType::Bool && (c > 1 || !logic)) continue;
          Value k = b.constant_bits(b.type(x), c);
          Value v = swapped ? b.binary(op, k, x) : b.binary(op, x, k);
          if (v != x && !b.function().is_constant(v)) continue;
          for (uint64_t bits = 0; bits < (t == DType::Bool ? 2u : 256u); ++bits) {
            uint64_t args[] = {swapped ? c : bits, swapped ? bits : c};
            uint64_t folded = v == x ? bits : static_cast<uint64_t>(b.function()[v].imm);
            ASSERT_EQ(evaluate(op, t, t, args), folded) << name_of(op) << " " << name_of(t) << " " << c << " " << bits;
          }
        }
  }
}

TEST_F(BuilderFolding, IdentitiesOfIntegersApply) {
  Value x = param(DType::I32);
  Value zero = b.i32(0), one = b.i32(1), ones = b.i32(-1);
  EXPECT_EQ(b.add(x, zero), x);
  EXPECT_EQ(b.mul(one, x), x);
  EXPECT_EQ(b.binary(Op::And, x, ones), x);
  EXPECT_EQ(b.mul(x, zero), zero);
  EXPECT_EQ(b.sub(x, x), zero);
  EXPECT_EQ(b.binary(Op::Div, x, one), x);
  EXPECT_EQ(b.cast(x, DType::I32), x);
  EXPECT_NE(b.cast(b.cast(x, DType::I8), DType::I32), x);
}

TEST_F(BuilderFolding, LiteralModeCopies) {
  b.set_literal(true);
  Value one = b.i32(1);
  EXPECT_NE(b.i32(1), one);
  EXPECT_EQ(b.function()[b.add(one, one)].op, Op::Add);
}

TEST_F(BuilderNumbering, EqualPureValuesAreOne) {
  Value x = param(DType::F32), y = param(DType::F32);
  EXPECT_EQ(b.add(x, y), b.add(x, y));
  EXPECT_EQ(b.add(x, y), b.add(y, x));
  EXPECT_NE(b.sub(x, y), b.sub(y, x));
  EXPECT_EQ(b.constant(b.type(x), 0.5), b.constant(b.type(x), 0.5));
  EXPECT_NE(b.arange(DType::I32, 0, 8), b.arange(DType::I32, 1, 9));
  EXPECT_NE(b.cast(x, DType::I32), b.cast(x, DType::I64));
}

TEST_F(BuilderNumbering, EffectsAreNeverMerged) {
  Value p = b.param(Type::pointer(DType::F32), {.name = "p"});
  EXPECT_NE(b.load(p), b.load(p));
  Value one = b.constant(Type::scalar(DType::F32), 1);
  EXPECT_NE(b.atomic_add(p, one), b.atomic_add(p, one));
}

TEST_F(BuilderNumbering, RegionsSeeOuterValuesButSiblingsDoNotSeeEachOther) {
  Value x = param(DType::F32), c = param(DType::Bool);
  Value outer = b.add(x, x), then, otherwise;
  b.if_else(
      c,
      [&](auto) {
        EXPECT_EQ(b.add(x, x), outer);
        then = b.mul(x, x);
        return Builder::Values{};
      },
      [&](auto) {
        otherwise = b.mul(x, x);
        return Builder::Values{};
      });
  EXPECT_NE(then, otherwise);
  EXPECT_NE(b.mul(x, x), then);
  EXPECT_NE(b.mul(x, x), otherwise);
}

TEST_F(BuilderNumbering, NestedRegionsForgetWhatTheyWrote) {
  Value x = param(DType::F32), c = param(DType::Bool);
  auto none = [](auto) { return Builder::Values{}; };
  Value inner;
  b.if_else(
      c,
      [&](auto) {
        b.if_else(c, [&](auto) { inner = b.mul(x, x); return Builder::Values{}; }, none);
        EXPECT_NE(b.mul(x, x), inner);
        return Builder::Values{};
      },
      none);
}

TEST_F(BuilderNumbering, ALoopBodyDoesNotLeakItsValues) {
  Value x = param(DType::I32);
  Value zero = b.i32(0), one = b.i32(1), inside;
  b.for_loop(zero, x, one, {}, [&](auto p) {
    inside = b.mul(x, x);
    EXPECT_EQ(b.function()[b.add(p[0], x)].op, Op::Add);
    return Builder::Values{};
  });
  EXPECT_NE(b.mul(x, x), inside);
}

}  // namespace
}  // namespace strider::ir
