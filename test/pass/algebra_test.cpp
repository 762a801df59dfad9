// SPDX-License-Identifier: Apache-2.0
// Each rule of pass/algebra.h: it applies, and no bit changes for any special value.
#include "pass/algebra.h"

#include <gtest/gtest.h>

#include "pass/simplify.h"
#include "support/scalar_program.h"

namespace strider {
namespace {

using namespace ir;
using support::count_pointwise;
using support::expect_same_answers;
using support::scalar_program;

using Args = std::span<const Value>;

Value number(Builder& b, Value like, double value) { return b.constant(b.type(like), value); }

struct Case {
  const char* rule;
  std::vector<DType> dtypes;  // each is tried for all arguments
  int arguments;
  int left;  // pointwise ops after simplify
  Value (*write)(Builder&, Args);
};

const std::vector<DType> kFloats = {DType::F16, DType::BF16, DType::F32, DType::F64};
const std::vector<DType> kInts = {DType::I8, DType::I32, DType::I64, DType::U8, DType::U64};
const std::vector<DType> kBool = {DType::Bool};

const Case kCases[] = {
    {"(x + 3) + 4 = x + 7", kInts, 1, 1, [](Builder& b, Args x) { return b.add(b.add(x[0], number(b, x[0], 3)), number(b, x[0], 4)); }},
    {"(3 + x) - 3 = x", kInts, 1, 0, [](Builder& b, Args x) { return b.sub(b.add(number(b, x[0], 3), x[0]), number(b, x[0], 3)); }},
    {"(x * 3) * 5 = x * 15", kInts, 1, 1, [](Builder& b, Args x) { return b.mul(b.mul(x[0], number(b, x[0], 3)), number(b, x[0], 5)); }},
    {"(x & 12) & 6 = x & 4", kInts, 1, 1, [](Builder& b, Args x) { return b.binary(Op::And, b.binary(Op::And, x[0], number(b, x[0], 12)), number(b, x[0], 6)); }},
    {"x < x is false", kInts, 1, 0, [](Builder& b, Args x) { return b.binary(Op::Lt, x[0], x[0]); }},
    {"x >= x is true", kInts, 1, 0, [](Builder& b, Args x) { return b.binary(Op::Ge, x[0], x[0]); }},
    {"not (x < y) = x >= y", kInts, 2, 1, [](Builder& b, Args x) { return b.unary(Op::Not, b.binary(Op::Lt, x[0], x[1])); }},
    {"not not x = x", kInts, 1, 0, [](Builder& b, Args x) { return b.unary(Op::Not, b.unary(Op::Not, x[0])); }},
    {"-(-x) = x", kInts, 1, 0, [](Builder& b, Args x) { return b.unary(Op::Neg, b.unary(Op::Neg, x[0])); }},
    {"|(-x)| = |x|", {DType::I8, DType::I32, DType::I64}, 1, 1, [](Builder& b, Args x) { return b.unary(Op::Abs, b.unary(Op::Neg, x[0])); }},

    {"x * 1 = x", kFloats, 1, 0, [](Builder& b, Args x) { return b.mul(x[0], number(b, x[0], 1)); }},
    {"1 * x = x", kFloats, 1, 0, [](Builder& b, Args x) { return b.mul(number(b, x[0], 1), x[0]); }},
    {"x / 1 = x", kFloats, 1, 0, [](Builder& b, Args x) { return b.binary(Op::Div, x[0], number(b, x[0], 1)); }},
    {"x * -1 = -x", kFloats, 1, 1, [](Builder& b, Args x) { return b.mul(x[0], number(b, x[0], -1)); }},
    {"(-x) * (-y) = x * y", kFloats, 2, 1, [](Builder& b, Args x) { return b.mul(b.unary(Op::Neg, x[0]), b.unary(Op::Neg, x[1])); }},
    {"x - 0 = x", kFloats, 1, 0, [](Builder& b, Args x) { return b.sub(x[0], number(b, x[0], 0)); }},
    {"x + -0 = x", kFloats, 1, 0, [](Builder& b, Args x) { return b.add(x[0], number(b, x[0], -0.0)); }},
    {"x + 0 stays", kFloats, 1, 1, [](Builder& b, Args x) { return b.add(x[0], number(b, x[0], 0)); }},
    {"x * 0 stays", kFloats, 1, 1, [](Builder& b, Args x) { return b.mul(x[0], number(b, x[0], 0)); }},
    {"x - x stays", kFloats, 1, 1, [](Builder& b, Args x) { return b.sub(x[0], x[0]); }},
    {"x == x stays", kFloats, 1, 1, [](Builder& b, Args x) { return b.binary(Op::Eq, x[0], x[0]); }},
    {"x / 4 = x * 0.25", kFloats, 1, 1, [](Builder& b, Args x) { return b.binary(Op::Div, x[0], number(b, x[0], 4)); }},
    {"x / 3 stays", kFloats, 1, 1, [](Builder& b, Args x) { return b.binary(Op::Div, x[0], number(b, x[0], 3)); }},
    {"x / 2^-14", kFloats, 1, 1, [](Builder& b, Args x) { return b.binary(Op::Div, x[0], number(b, x[0], 0x1p-14)); }},
    {"x + (-y) = x - y", kFloats, 2, 1, [](Builder& b, Args x) { return b.add(x[0], b.unary(Op::Neg, x[1])); }},
    {"(-x) + y = y - x", kFloats, 2, 1, [](Builder& b, Args x) { return b.add(b.unary(Op::Neg, x[0]), x[1]); }},
    {"x - (-y) = x + y", kFloats, 2, 1, [](Builder& b, Args x) { return b.sub(x[0], b.unary(Op::Neg, x[1])); }},
    {"min(x, x) = x", kFloats, 1, 0, [](Builder& b, Args x) { return b.binary(Op::Minimum, x[0], x[0]); }},
    {"not (x == y) = x != y", kFloats, 2, 1, [](Builder& b, Args x) { return b.unary(Op::Not, b.binary(Op::Eq, x[0], x[1])); }},
    {"not (x < y) stays: order is partial", kFloats, 2, 2, [](Builder& b, Args x) { return b.unary(Op::Not, b.binary(Op::Lt, x[0], x[1])); }},
    {"||x|| = |x|", kFloats, 1, 1, [](Builder& b, Args x) { return b.unary(Op::Abs, b.unary(Op::Abs, x[0])); }},

    {"where(x, true, false) = x", kBool, 1, 0, [](Builder& b, Args x) { return b.where(x[0], b.boolean(true), b.boolean(false)); }},
    {"where(x, false, true) = not x", kBool, 1, 1, [](Builder& b, Args x) { return b.where(x[0], b.boolean(false), b.boolean(true)); }},
    {"where(not x, y, z) = where(x, z, y)", kBool, 3, 1, [](Builder& b, Args x) { return b.where(b.unary(Op::Not, x[0]), x[1], x[2]); }},
    {"where(x, where(x, y, z), y) = y", kBool, 3, 0, [](Builder& b, Args x) { return b.where(x[0], b.where(x[0], x[1], x[2]), x[1]); }},
    {"where(x, y, where(x, y, z)) = where(x, y, z)", kBool, 3, 1, [](Builder& b, Args x) { return b.where(x[0], x[1], b.where(x[0], x[1], x[2])); }},
};

TEST(Algebra, RulesApplyAndKeepEveryBit) {
  for (const Case& c : kCases)
    for (DType dtype : c.dtypes) {
      SCOPED_TRACE(std::string(c.rule) + " on " + std::string(name_of(dtype)));
      std::vector<DType> arguments(static_cast<size_t>(c.arguments), dtype);
      Function program = scalar_program(arguments, c.write);
      Function simple = pass::simplify(program);
      EXPECT_EQ(count_pointwise(simple), c.left);
      expect_same_answers(program, simple, arguments);
    }
}

TEST(Algebra, DivisionByAPowerWhoseReciprocalIsSubnormalStays) {
  for (double c : {0x1p-127, 0x1p127}) {
    Function program = scalar_program({DType::F32}, [c](Builder& b, Args x) { return b.binary(Op::Div, x[0], number(b, x[0], c)); });
    Function simple = pass::simplify(program);
    EXPECT_EQ(support::count_op(simple, Op::Div), c > 1 ? 1 : 0);
    expect_same_answers(program, simple, {DType::F32});
  }
}

TEST(Algebra, ConversionsThroughAnyTwoTypesKeepTheirMeaning) {
  for (int a = 0; a < kDTypeCount; ++a)
    for (int middle = 0; middle < kDTypeCount; ++middle)
      for (int last = 0; last < kDTypeCount; ++last) {
        SCOPED_TRACE(std::string(name_of(dtype_at(a))) + " to " + std::string(name_of(dtype_at(middle))) + " to " + std::string(name_of(dtype_at(last))));
        Function program = scalar_program({dtype_at(a)}, [&](Builder& b, Args x) { return b.cast(b.cast(x[0], dtype_at(middle)), dtype_at(last)); });
        expect_same_answers(program, pass::simplify(program), {dtype_at(a)});
        if (HasFailure()) return;
      }
}

TEST(Algebra, WideningConversionsAreDropped) {
  auto left = [](DType a, DType middle, DType last) {
    return count_pointwise(pass::simplify(
        scalar_program({a}, [&](Builder& b, Args x) { return b.cast(b.cast(x[0], middle), last); })));
  };
  EXPECT_EQ(left(DType::F16, DType::F32, DType::F16), 0);
  EXPECT_EQ(left(DType::I32, DType::I64, DType::I32), 0);
  EXPECT_EQ(left(DType::U8, DType::I32, DType::I64), 1);
  EXPECT_EQ(left(DType::F32, DType::F64, DType::BF16), 1);
  EXPECT_EQ(left(DType::F32, DType::F16, DType::F32), 2);
  EXPECT_EQ(left(DType::I32, DType::F64, DType::U8), 2);
}

// --- shapes: programs of one tile, looked at without running them

Function tile_program(const std::function<void(Builder&, Value pointer, Value scalar)>& write) {
  Builder b("shapes");
  Value pointer = b.param(Type::pointer(DType::F32), {.name = "p"});
  Value scalar = b.param(Type::scalar(DType::F32), {.name = "s"});
  write(b, pointer, scalar);
  return pass::simplify(b.finish());
}

void store_tile(Builder& b, Value pointer, Value tile) {
  Shape shape = b.type(tile).shape;
  Value offsets = b.reshape(b.arange(DType::I32, 0, shape.elements()), shape);
  b.store(b.ptr_add(b.broadcast(pointer, shape), offsets), tile);
}

TEST(Algebra, ArithmeticOnBroadcastsIsDoneOnTheSmallShape) {
  Function f = tile_program([](Builder& b, Value p, Value s) {
    Value t = b.broadcast(s, {8, 4});
    store_tile(b, p, b.mul(b.add(t, b.constant(b.type(t), 1.5)), t));
  });
  for (Value v : f.body().body) EXPECT_TRUE(f[v].op != Op::Add || f.type(v).is_scalar());
  EXPECT_EQ(support::count_op(f, Op::Mul), 1);
}

TEST(Algebra, TransposesCompose) {
  auto transposes = [](std::initializer_list<int> first, std::initializer_list<int> second) {
    Function f = tile_program([&](Builder& b, Value p, Value) {
      Value t = b.reshape(b.arange(DType::I32, 0, 24), {2, 3, 4});
      Value loaded = b.load(b.ptr_add(b.broadcast(p, {2, 3, 4}), t));
      store_tile(b, p, b.trans(b.trans(loaded, {first.begin(), 3}), {second.begin(), 3}));
    });
    return support::count_op(f, Op::Trans);
  };
  EXPECT_EQ(transposes({1, 0, 2}, {1, 0, 2}), 0);
  EXPECT_EQ(transposes({1, 2, 0}, {2, 0, 1}), 0);
  EXPECT_EQ(transposes({1, 2, 0}, {1, 2, 0}), 1);
}

TEST(Algebra, ReshapesAndBroadcastsCompose) {
  Function f = tile_program([](Builder& b, Value p, Value s) {
    Value t = b.broadcast(b.expand_dims(b.broadcast(s, {4}), 1), {4, 3});
    store_tile(b, p, b.reshape(b.trans(t, std::array{1, 0}), {12}));
  });
  EXPECT_EQ(support::count_op(f, Op::Trans) + support::count_op(f, Op::ExpandDims), 0);
}

}  // namespace
}  // namespace strider
