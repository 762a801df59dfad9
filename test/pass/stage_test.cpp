// SPDX-License-Identifier: Apache-2.0
// Which accesses stage turns to walk in the order of their addresses.
#include "pass/stage.h"

#include <gtest/gtest.h>

#include <array>

#include "ir/builder.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "pass/run_program.h"

namespace strider::pass {
namespace {

using namespace ir;

using Steps = std::array<int64_t, 3>;  // how far apart neighbours along each axis lie

/// The offsets sum(index[axis] * step[axis]) + start over the shape.
Value offsets(Builder& b, const Shape& shape, const Steps& steps, int64_t start) {
  Value sum = b.constant_int(Type::tile(DType::I32, shape), start);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    Value index = b.arange(DType::I32, 0, shape[axis]);
    index = b.mul(index, b.constant_int(b.type(index), steps[static_cast<size_t>(axis)]));
    for (int d = 0; d < shape.rank(); ++d)
      if (d != axis) index = b.expand_dims(index, d);
    sum = b.add(sum, b.broadcast(index, shape));
  }
  return sum;
}

/// y[offsets by `to`] = x[offsets by `from`], with a mask on both sides, and `other` on the loads.
Function copy_program(const Shape& shape, const Steps& from, const Steps& to, int64_t start = 0) {
  Builder b("copy");
  Value x = b.param(Type::pointer(DType::I32), {.name = "x"}), y = b.param(Type::pointer(DType::I32), {.name = "y"});
  Value n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Value i = offsets(b, shape, from, start), k = offsets(b, shape, to, start), bound = b.broadcast(n, shape);
  Value v = b.load(b.ptr_add(b.broadcast(x, shape), i), b.binary(Op::Lt, i, bound), k);
  b.store(b.ptr_add(b.broadcast(y, shape), k), b.add(v, v), b.binary(Op::Lt, k, bound));
  return b.finish();
}

struct Case {
  const char* name;
  Shape shape;
  Steps from, to;
  bool load, store;  // is turned
  int64_t start = 0;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Case kCases[] = {
    {"Rows", {16, 16}, {16, 1}, {16, 1}, false, false},
    {"ReadColumns", {16, 16}, {1, 16}, {16, 1}, true, false},
    {"WriteColumns", {16, 16}, {16, 1}, {1, 16}, false, true},
    {"ReadAndWriteColumns", {8, 32}, {1, 8}, {1, 8}, true, true},
    {"Ragged", {9, 17}, {1, 9}, {17, 1}, true, false},
    {"FewRows", {4, 16}, {1, 4}, {16, 1}, false, false},
    {"FewColumns", {16, 4}, {1, 16}, {4, 1}, false, false},
    {"OneAxis", {64}, {3}, {1}, false, false},
    {"BackwardRows", {8, 8}, {8, -1}, {8, 1}, false, false, 7},
    {"NoAxisInOrder", {8, 8}, {2, 16}, {8, 1}, false, false},
    {"RepeatedRow", {8, 8}, {1, 0}, {8, 1}, false, false},
    {"FirstOfThree", {8, 2, 16}, {1, 8, 16}, {32, 16, 1}, true, false},
    {"MiddleOfThree", {2, 8, 16}, {128, 1, 8}, {128, 16, 1}, true, false},
    {"WriteMiddleOfThree", {2, 8, 16}, {128, 16, 1}, {128, 1, 8}, false, true},
};

class Stage : public ::testing::TestWithParam<Case> {
 protected:
  Function program() const { return copy_program(GetParam().shape, GetParam().from, GetParam().to, GetParam().start); }
};

/// The axis that has changed places with the last one, or -1.
int turned_axis(const Function& g, Value access, const Shape& shape) {
  Value pointer = g.operand(access, 0);
  if (g[pointer].op != Op::Trans) return -1;
  for (int axis = 0; axis < shape.rank() - 1; ++axis)
    if ((g[pointer].imm >> (4 * axis) & 15) == shape.rank() - 1) return axis;
  return -1;
}

TEST_P(Stage, TurnsAccessesWhoseAddressesRunAlongAnotherAxis) {
  Function g = stage(program());
  verify(g, Form::Tile);
  Value load = find_all(g, Op::Load).at(0), store = find_all(g, Op::Store).at(0);
  EXPECT_EQ(turned_axis(g, load, GetParam().shape) >= 0, GetParam().load) << print(g);
  EXPECT_EQ(turned_axis(g, store, GetParam().shape) >= 0, GetParam().store) << print(g);
}

TEST_P(Stage, TurnsToTheAxisWhoseNeighboursAreOneApart) {
  Function g = stage(program());
  if (int axis = turned_axis(g, find_all(g, Op::Load).at(0), GetParam().shape); axis >= 0) {
    EXPECT_EQ(GetParam().from[static_cast<size_t>(axis)], 1);
  }
  if (int axis = turned_axis(g, find_all(g, Op::Store).at(0), GetParam().shape); axis >= 0) {
    EXPECT_EQ(GetParam().to[static_cast<size_t>(axis)], 1);
  }
}

TEST_P(Stage, MarksTurnedLoadsOnly) {
  Function g = stage(program());
  for (uint32_t id = 0; id < g.size(); ++id) {
    bool expected = g[Value{id}].op == Op::Load && GetParam().load;
    EXPECT_EQ((g[Value{id}].flags & kStaged) != 0, expected) << print_statement(g, Value{id});
  }
}

TEST_P(Stage, LeavesTheSameMemory) {
  Function f = program(), g = stage(f);
  for (int64_t n : {0, 1, 50, 63, 200, 1000}) expect_same_memory(f, g, {.scalars = {n}});
}

INSTANTIATE_TEST_SUITE_P(Accesses, Stage, ::testing::ValuesIn(kCases), [](const auto& info) { return info.param.name; });

TEST(StageTwice, ChangesNothingMore) {
  Function once = stage(copy_program({16, 16}, {1, 16}, {16, 1}));
  EXPECT_EQ(find_all(stage(once), Op::Trans).size(), find_all(once, Op::Trans).size()) << print(once);
}

}  // namespace
}  // namespace strider::pass
