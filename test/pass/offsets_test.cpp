// SPDX-License-Identifier: Apache-2.0
// What take_offsets_out does with tiles that loops move, and that the program's meaning stays.
#include "pass/offsets.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "pass/run_program.h"
#include "pass/simplify.h"

namespace strider::pass {
namespace {

using namespace ir;

/// A kernel in which a loop over [lo, hi) by step carries 16 pointers into x and 16 numbers; `body` says how they go on
/// (%p2, %k2) from %p, %k and the loop's index %i. Every round adds to y.
std::string loop_text(const std::string& body) {
  return R"(kernel walk(%x: *i32, %y: *i32, %lo: i32, %hi: i32, %step: i32, %by: i32) {
  %a = arange begin=0 : i32[16]
  %xs = broadcast %x : *i32[16]
  %ys = broadcast %y : *i32[16]
  %p0 = ptr_add %xs, %a : *i32[16]
  %q = ptr_add %ys, %a : *i32[16]
  %end, %k_end = for %lo, %hi, %step, %p0, %a : *i32[16], i32[16] (%i: i32, %p: *i32[16], %k: i32[16]) {
    %v = load %p : i32[16]
    %old = load %q : i32[16]
    %s = add %old, %v : i32[16]
    %t = add %s, %k : i32[16]
    store %q, %t
)" + body + R"(
    yield %p2, %k2
  }
  %last = load %end : i32[16]
  %ends = add %last, %k_end : i32[16]
  %q1 = ptr_add %q, %c16 : *i32[16]
  store %q1, %ends
}
)";
}

Function loop_program(const std::string& body) {
  std::string text = loop_text(body);
  std::string constant = "  %c16 = const 16 : i32[16]\n";
  return parse(text.insert(text.find("  %a ="), constant));
}

struct Walk {
  const char* name;
  const char* body;
  std::vector<DType> carried;  // what the loop carries afterwards
  bool tiles = false;          // some of it tiles
};

void PrintTo(const Walk& w, std::ostream* out) { *out << w.name; }

const Walk kWalks[] = {
    {"ByAConstant", "    %p2 = ptr_add %p, %c16 : *i32[16]\n    %k2 = add %k, %c16 : i32[16]", {}},
    {"ByAnArgument",
     "    %b = broadcast %by : i32[16]\n    %p2 = ptr_add %p, %b : *i32[16]\n    %k2 = add %b, %k : i32[16]",
     {}},
    {"TwiceEachRound",
     "    %b = broadcast %by : i32[16]\n    %p1 = ptr_add %p, %b : *i32[16]\n    %p2 = ptr_add %p1, %c16 : *i32[16]\n"
     "    %k1 = add %k, %b : i32[16]\n    %k2 = add %k1, %c16 : i32[16]",
     {}},
    {"ByTheLoopIndex",
     "    %three = const 3 : i32\n    %small = and %i, %three : i32\n    %b = broadcast %small : i32[16]\n"
     "    %p2 = ptr_add %p, %b : *i32[16]\n    %k2 = add %k, %b : i32[16]",
     {DType::I64, DType::I32}},
    {"ByALoadedScalar",
     "    %m = load %x : i32\n    %three = const 3 : i32\n    %small = and %m, %three : i32\n"
     "    %b = broadcast %small : i32[16]\n"
     "    %p2 = ptr_add %p, %b : *i32[16]\n    %k2 = add %k, %b : i32[16]",
     {DType::I64, DType::I32}},
    {"ByATile", "    %p2 = ptr_add %p, %a : *i32[16]\n    %k2 = add %k, %a : i32[16]", {DType::I64, DType::I32}, true},
    {"NotAtAll", "    %z = const 0 : i32[16]\n    %p2 = ptr_add %p, %z : *i32[16]\n    %k2 = add %z, %k : i32[16]", {}},
    {"NumbersThatAreMultiplied",
     "    %p2 = ptr_add %p, %c16 : *i32[16]\n    %k2 = mul %k, %c16 : i32[16]",
     {DType::I32},
     true},
};

bool any_pointer_tile(const Function& f, Value loop) {
  for (int k = 0; k < f[loop].region_count; ++k)
    for (Value p : f.region(loop, k).params)
      if (f.type(p).is_pointer() && !f.type(p).is_scalar()) return true;
  return false;
}

class Offsets : public ::testing::TestWithParam<Walk> {};

TEST_P(Offsets, LeaveNoPointerTileInTheLoop) {
  Function f = loop_program(GetParam().body), g = take_offsets_out(f);
  verify(g, Form::Tile);
  Value loop = find_all(g, Op::For).at(0);
  EXPECT_TRUE(any_pointer_tile(f, find_all(f, Op::For).at(0)));
  EXPECT_FALSE(any_pointer_tile(g, loop)) << print(g);
}

TEST_P(Offsets, CarryOnlyWhatChangesFromRoundToRound) {
  Function g = take_offsets_out(loop_program(GetParam().body));
  Value loop = find_all(g, Op::For).at(0);
  auto carried = g.operands(loop).subspan(3);
  ASSERT_EQ(carried.size(), GetParam().carried.size()) << print(g);
  for (size_t k = 0; k < carried.size(); ++k) {
    EXPECT_EQ(g.type(carried[k]).dtype, GetParam().carried[k]);
    EXPECT_EQ(g.type(carried[k]).is_scalar(), !GetParam().tiles);
  }
}

TEST_P(Offsets, ChangeNoMemory) {
  Function f = loop_program(GetParam().body), g = take_offsets_out(f), h = simplify(g);
  const std::vector<int64_t> ranges[] = {{0, 5, 1}, {0, 0, 1}, {5, 2, 1}, {-7, 8, 4}, {3, 17, 5}, {-4, -1, 1}, {0, 1, 100}};
  for (const auto& range : ranges)
    for (int64_t by : {0, 1, 13}) {
      Launch launch{.scalars = {range[0], range[1], range[2], by}};
      expect_same_memory(f, g, launch);
      expect_same_memory(f, h, launch);
    }
}

INSTANTIATE_TEST_SUITE_P(Walks, Offsets, ::testing::ValuesIn(kWalks), [](const auto& info) { return info.param.name; });

TEST(OffsetsOfLoops, WhoseBoundsLieFarApart) {
  Function f = loop_program(kWalks[0].body), g = take_offsets_out(f);
  expect_same_memory(f, g, {.scalars = {-2000000000, 2000000000, 1000000000, 0}});
}

TEST(OffsetsOfLoops, ThatEndAtTheLargestIndex) {
  Function f = loop_program(kWalks[0].body), g = take_offsets_out(f);
  expect_same_memory(f, g, {.scalars = {INT32_MAX - 10, INT32_MAX, 7, 0}});
}

constexpr const char* kWhile = R"(kernel search(%x: *i32, %y: *i32, %n: i32) {
  %a = arange begin=0 : i32[8]
  %c8 = const 8 : i32[8]
  %one = const 1 : i32
  %zero = const 0 : i32
  %xs = broadcast %x : *i32[8]
  %p0 = ptr_add %xs, %a : *i32[8]
  %end, %rounds = while %p0, %zero : *i32[8], i32 (%p: *i32[8], %i: i32) {
    %c = lt %i, %n : bool
    yield %c
  } do (%p: *i32[8], %i: i32) {
    %v = load %p : i32[8]
    store %p, %c8
    %p2 = ptr_add %p, %c8 : *i32[8]
    %i2 = add %i, %one : i32
    yield %p2, %i2
  }
  %v = load %end : i32[8]
  %ys = broadcast %y : *i32[8]
  %q = ptr_add %ys, %a : *i32[8]
  store %q, %v
}
)";

TEST(OffsetsOfWhile, CarryAScalar) {
  Function f = parse(kWhile), g = take_offsets_out(f);
  verify(g, Form::Tile);
  Value loop = find_all(g, Op::While).at(0);
  EXPECT_FALSE(any_pointer_tile(g, loop));
  for (Value o : g.operands(loop)) EXPECT_TRUE(g.type(o).is_scalar());
  for (int64_t n : {0, 1, 7}) expect_same_memory(f, g, {.scalars = {n}});
}

TEST(OffsetsOfNestedLoops, AreTakenOutOfBoth) {
  Function f = parse(R"(kernel nested(%x: *f32, %y: *f32, %n: i32) {
  %a = arange begin=0 : i32[8]
  %c8 = const 8 : i32[8]
  %lo = const 0 : i32
  %one = const 1 : i32
  %xs = broadcast %x : *f32[8]
  %ys = broadcast %y : *f32[8]
  %p0 = ptr_add %xs, %a : *f32[8]
  %q = ptr_add %ys, %a : *f32[8]
  %sum0 = const 0.0 : f32[8]
  %end, %sum = for %lo, %n, %one, %p0, %sum0 : *f32[8], f32[8] (%i: i32, %p: *f32[8], %s: f32[8]) {
    %p2, %s2 = for %lo, %i, %one, %p, %s : *f32[8], f32[8] (%j: i32, %r: *f32[8], %t: f32[8]) {
      %v = load %r : f32[8]
      %t2 = add %t, %v : f32[8]
      %r2 = ptr_add %r, %c8 : *f32[8]
      yield %r2, %t2
    }
    yield %p, %s2
  }
  store %q, %sum
}
)");
  Function g = take_offsets_out(f);
  verify(g, Form::Tile);
  for (Value loop : find_all(g, Op::For)) EXPECT_FALSE(any_pointer_tile(g, loop)) << print(g);
  for (int64_t n : {0, 1, 2, 9}) expect_same_memory(f, g, {.scalars = {n}});
}

TEST(OffsetsOfNarrowNumbers, WrapAsTheyDid) {
  Function f = parse(R"(kernel narrow(%x: *i32, %n: i32, %by: i8) {
  %a = arange begin=0 : i8[8]
  %b = broadcast %by : i8[8]
  %lo = const 0 : i32
  %one = const 1 : i32
  %end = for %lo, %n, %one, %a : i8[8] (%i: i32, %k: i8[8]) {
    %k2 = add %k, %b : i8[8]
    yield %k2
  }
  %xs = broadcast %x : *i32[8]
  %p = ptr_add %xs, %a : *i32[8]
  %v = cast %end : i32[8]
  store %p, %v
}
)");
  Function g = take_offsets_out(f);
  EXPECT_EQ(g.operands(find_all(g, Op::For).at(0)).size(), 3u);
  for (int64_t n : {0, 1, 5, 300})
    for (int64_t by : {1, 100, -128}) expect_same_memory(f, g, {.scalars = {n, by}});
}

TEST(OffsetsOfPointers, ThatChangePlacesAreRefusedByName) {
  Function f = parse(R"(kernel swap(%x: *f32, %y: *f32, %n: i32) {
  %a = arange begin=0 : i32[8]
  %lo = const 0 : i32
  %one = const 1 : i32
  %xs = broadcast %x : *f32[8]
  %ys = broadcast %y : *f32[8]
  %p0 = ptr_add %xs, %a : *f32[8]
  %q0 = ptr_add %ys, %a : *f32[8]
  %pe, %qe = for %lo, %n, %one, %p0, %q0 : *f32[8], *f32[8] (%i: i32, %p: *f32[8], %q: *f32[8]) {
    %v = load %p : f32[8]
    store %q, %v
    yield %q, %p
  }
}
)");
  try {
    take_offsets_out(f);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("pointers"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace strider::pass
