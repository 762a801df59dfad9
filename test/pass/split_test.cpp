// SPDX-License-Identifier: Apache-2.0
// Which masks split tells apart, where it doubles code, and that masks are dropped only where they hold.
#include "pass/split.h"

#include <gtest/gtest.h>

#include <functional>

#include "ir/builder.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "pass/run_program.h"
#include "pass/simplify.h"

namespace strider::pass {
namespace {

using namespace ir;
using Params = std::span<const Value>;
using Values = Builder::Values;

Function split_and_checked(const Function& f) {
  Function g = split(f);
  verify(g, Form::Tile);
  return simplify(g);
}

/// Loads and stores of a region, nested ones included, that have a mask.
int masked(const Function& f, RegionId region) {
  int count = 0;
  for (Value v : find_all(f, Op::Load, region)) count += f[v].operand_count > 1;
  for (Value v : find_all(f, Op::Store, region)) count += f[v].operand_count > 2;
  return count;
}

// --- whole programs

/// What is compared with the bound: made from a scalar argument and the numbers of 16 lanes, both of dtype `from`.
struct IndexCase {
  const char* name;
  DType from, to;
  Value (*index)(Builder& b, Value start, Value lanes);
  bool splits = true;
  const char* why = "";
};

void PrintTo(const IndexCase& c, std::ostream* out) { *out << c.name; }

Value splat(Builder& b, Value like, int64_t value) { return b.constant_int(b.type(like), value); }
Value sum(Builder& b, Value start, Value lanes) { return b.add(b.broadcast(start, {16}), lanes); }

const IndexCase kIndices[] = {
    {"Sum", DType::I32, DType::I32, sum},
    {"Unsigned", DType::U32, DType::U32, sum},
    {"Bytes", DType::I8, DType::I8, sum},
    {"UnsignedBytes", DType::U8, DType::U8, sum},
    {"Long", DType::I64, DType::I64, sum},
    {"UnsignedLong", DType::U64, DType::U64, sum},
    {"Widened", DType::I32, DType::I64, [](Builder& b, Value s, Value l) { return b.cast(sum(b, s, l), DType::I64); }},
    {"WidenedToUnsigned", DType::I8, DType::U32,
     [](Builder& b, Value s, Value l) { return b.cast(sum(b, s, l), DType::U32); }},
    {"ReadAsUnsigned", DType::I32, DType::U32,
     [](Builder& b, Value s, Value l) { return b.cast(sum(b, s, l), DType::U32); }},
    {"ReadAsSigned", DType::U32, DType::I32,
     [](Builder& b, Value s, Value l) { return b.cast(sum(b, s, l), DType::I32); }},
    {"WidenedAfterAScalarSum", DType::I32, DType::I64,
     [](Builder& b, Value s, Value l) { return sum(b, b.cast(s, DType::I64), b.cast(l, DType::I64)); }},
    {"Multiple", DType::I32, DType::I32,
     [](Builder& b, Value s, Value l) { return b.mul(sum(b, s, l), splat(b, l, 3)); }},
    {"MultipleThatFillsTheDtype", DType::I8, DType::I32,
     [](Builder& b, Value s, Value l) { return b.cast(b.mul(sum(b, s, l), splat(b, l, 7)), DType::I32); }},
    {"Difference", DType::I32, DType::I32, [](Builder& b, Value s, Value l) { return b.sub(l, b.broadcast(s, {16})); }},
    {"MultipleThatWraps", DType::I8, DType::U32,
     [](Builder& b, Value s, Value l) { return b.cast(b.mul(sum(b, s, l), splat(b, l, 19)), DType::U32); }, false,
     "lanes wrap"},
    {"FallingDifference", DType::I32, DType::I32,
     [](Builder& b, Value s, Value l) { return b.sub(b.broadcast(s, {16}), l); }, false,
     "the first lane is not the least"},
    {"NegativeMultiple", DType::I32, DType::I32,
     [](Builder& b, Value s, Value l) { return b.mul(sum(b, s, l), splat(b, l, -2)); }, false,
     "the first lane is not the least"},
    {"Narrowed", DType::I64, DType::I8, [](Builder& b, Value s, Value l) { return b.cast(sum(b, s, l), DType::I8); },
     false, "lanes wrap"},
    {"Remainder", DType::I32, DType::I32,
     [](Builder& b, Value s, Value l) { return b.binary(Op::Rem, sum(b, s, l), splat(b, l, 10)); }, false,
     "not rising"},
};

/// y[lane] = x[lane] where index < bound, or <=; the operands of the comparison in either order.
Function masked_copy(const IndexCase& c, Op op) {
  Builder b("copy");
  Value x = b.param(Type::pointer(DType::I32), {.name = "x"}), y = b.param(Type::pointer(DType::I32), {.name = "y"});
  Value start = b.param(Type::scalar(c.from), {.name = "start"}), n = b.param(Type::scalar(c.to), {.name = "n"});
  Value index = c.index(b, start, b.arange(c.from, 0, 16)), bound = b.broadcast(n, {16});
  bool index_first = op == Op::Lt || op == Op::Le;
  Value mask = index_first ? b.binary(op, index, bound) : b.binary(op, bound, index);
  Value lanes = b.arange(DType::I32, 0, 16);
  Value loaded = b.load(b.ptr_add(b.broadcast(x, {16}), lanes), mask);
  b.store(b.ptr_add(b.broadcast(y, {16}), lanes), loaded, mask);
  return b.finish();
}

class SplitIndex : public ::testing::TestWithParam<IndexCase> {};

TEST_P(SplitIndex, GivesTheFullProgramABodyWithoutMasks) {
  for (Op op : {Op::Lt, Op::Le, Op::Gt, Op::Ge}) {
    Function g = split_and_checked(masked_copy(GetParam(), op));
    auto ifs = find_all(g, Op::If);
    ASSERT_EQ(ifs.size(), GetParam().splits ? 1u : 0u) << GetParam().why << "\n" << print(g);
    if (ifs.empty()) continue;
    EXPECT_EQ(masked(g, g.region_of(ifs[0], 0)), 0);
    EXPECT_EQ(masked(g, g.region_of(ifs[0], 1)), 2);
  }
}

TEST_P(SplitIndex, DropsNoMaskThatIsFalseInALane) {
  constexpr int64_t kStarts[] = {INT64_MIN, INT32_MIN,      -128,           -16,      -1, 0, 5, 100, 120,
                                 250,       INT32_MAX - 15, INT64_MAX - 15, INT64_MAX};
  constexpr int64_t kBounds[] = {INT64_MIN, INT32_MIN, -100, 0, 5, 16, 20, 116, 127, 300, INT32_MAX, INT64_MAX};
  for (Op op : {Op::Lt, Op::Le, Op::Gt, Op::Ge}) {
    Function f = masked_copy(GetParam(), op), g = split(f);
    for (int64_t start : kStarts)
      for (int64_t bound : kBounds) expect_same_memory(f, g, {.scalars = {start, bound}, .elements = 16});
  }
}

INSTANTIATE_TEST_SUITE_P(Indices, SplitIndex, ::testing::ValuesIn(kIndices), [](const auto& info) { return info.param.name; });

constexpr const char* kSquare = R"(kernel square(%x: *f32, %y: *f32, %rows: i32, %columns: i32) {
  %id = program_id axis=0 : i32
  %c16 = const 16 : i32
  %first = mul %id, %c16 : i32
  %a = arange begin=0 : i32[16]
  %fs = broadcast %first : i32[16]
  %r0 = add %fs, %a : i32[16]
  %r1 = expand_dims %r0 axis=1 : i32[16, 1]
  %r = broadcast %r1 : i32[16, 16]
  %k1 = expand_dims %a axis=0 : i32[1, 16]
  %k = broadcast %k1 : i32[16, 16]
  %rs = broadcast %rows : i32[16, 16]
  %ks = broadcast %columns : i32[16, 16]
  %mr = lt %r, %rs : bool[16, 16]
  %mk = gt %ks, %k : bool[16, 16]
  %m = and %mr, %mk : bool[16, 16]
  %w = mul %r, %ks : i32[16, 16]
  %o = add %w, %k : i32[16, 16]
  %xs = broadcast %x : *f32[16, 16]
  %p = ptr_add %xs, %o : *f32[16, 16]
  %ys = broadcast %y : *f32[16, 16]
  %q = ptr_add %ys, %o : *f32[16, 16]
  %v = load %p, %m : f32[16, 16]
  %t = add %v, %v : f32[16, 16]
  store %q, %t, %m
}
)";

TEST(Split, ConjunctionsOfMasksGoTogether) {
  Function f = parse(kSquare), g = split_and_checked(f);
  auto ifs = find_all(g, Op::If);
  ASSERT_EQ(ifs.size(), 1u) << print(g);
  EXPECT_EQ(masked(g, g.region_of(ifs[0], 0)), 0) << print(g);
  for (int64_t rows : {0, 1, 15, 16, 17, 40, 48})
    for (int64_t columns : {0, 1, 15, 16}) expect_same_memory(f, g, {.grid = {3, 1, 1}, .scalars = {rows, columns}});
}

TEST(Split, LeavesProgramsWithoutBoundMasks) {
  Function f = parse(R"(kernel flags(%x: *f32, %on: *bool) {
  %a = arange begin=0 : i32[16]
  %os = broadcast %on : *bool[16]
  %o = ptr_add %os, %a : *bool[16]
  %m = load %o : bool[16]
  %xs = broadcast %x : *f32[16]
  %p = ptr_add %xs, %a : *f32[16]
  %v = load %p, %m : f32[16]
  %t = add %v, %v : f32[16]
  store %p, %t, %m
}
)");
  Function g = split_and_checked(f);
  EXPECT_EQ(find_all(g, Op::If).size(), 0u);
  EXPECT_EQ(masked(g, 0), 2);
}

TEST(Split, ABoundFromMemoryStaysAMask) {
  Function f = parse(R"(kernel bound(%x: *i32, %n: *i32) {
  %m0 = load %n : i32
  %a = arange begin=0 : i32[16]
  %b = broadcast %m0 : i32[16]
  %m = lt %a, %b : bool[16]
  %xs = broadcast %x : *i32[16]
  %p = ptr_add %xs, %a : *i32[16]
  store %p, %a, %m
}
)");
  Function g = split_and_checked(f);
  EXPECT_EQ(find_all(g, Op::If).size(), 0u);
  EXPECT_EQ(masked(g, 0), 1);
}

TEST(Split, DoesNotDoubleLongPrograms) {
  Builder b("long");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x"}), n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Value i = b.arange(DType::I32, 0, 16), mask = b.binary(Op::Lt, i, b.broadcast(n, {16}));
  Value p = b.ptr_add(b.broadcast(x, {16}), i), v = b.load(p, mask);
  for (int k = 0; k < 4100; ++k) v = b.binary(k % 2 ? Op::Mul : Op::Add, v, v);
  b.store(p, v, mask);
  EXPECT_EQ(find_all(split(b.finish()), Op::If).size(), 0u);
}

// --- loops

/// y[lane] += x[index] for index = i * factor + lane + start, where it is below n, over i in [lo, hi).
Function loop_program(DType dtype, int64_t factor, const std::function<Value(Builder&, Value)>& change = {}) {
  Builder b("loop");
  Value x = b.param(Type::pointer(DType::I32), {.name = "x"}), y = b.param(Type::pointer(DType::I32), {.name = "y"});
  Values s;
  for (const char* name : {"lo", "hi", "step", "start", "n"}) s.push_back(b.param(Type::scalar(dtype), {.name = name}));
  Value lanes = b.arange(DType::I32, 0, 16), zero = b.constant_int(Type::tile(DType::I32, {16}), 0);
  Values sums = b.for_loop(s[0], s[1], s[2], {{zero}}, [&](Params p) {
    Value first = b.add(b.mul(p[0], b.constant_int(Type::scalar(dtype), factor)), s[3]);
    Value index = sum(b, first, b.arange(dtype, 0, 16));
    if (change) index = change(b, index);
    Value bound = b.broadcast(b.cast(s[4], b.type(index).dtype), {16});
    Value inside = b.binary(Op::And, b.cast(index, DType::I32), splat(b, zero, 511));
    Value v = b.load(b.ptr_add(b.broadcast(x, {16}), inside), b.binary(Op::Lt, index, bound));
    return Values{b.add(b.add(p[1], p[1]), v)};
  });
  b.store(b.ptr_add(b.broadcast(y, {16}), lanes), sums[0]);
  return b.finish();
}

void expect_same_loops(const Function& f) {
  Function g = split(f);
  struct Range {
    int64_t lo, hi, step;
  };
  constexpr Range kRanges[] = {{0, 6, 1},    {0, 100, 16}, {5, 5, 1},    {9, 2, 1},
                               {-20, 30, 9}, {0, 127, 16}, {100, 127, 7}};
  for (const Range& r : kRanges)
    for (int64_t start : {0, -3, 40})
      for (int64_t n : {-1, 15, 16, 17, 90})
        expect_same_memory(f, g, {.scalars = {r.lo, r.hi, r.step, start, n}, .elements = 512});
}

TEST(SplitLoop, BecomesTheFullIterationsAndTheRest) {
  Function g = split_and_checked(loop_program(DType::I32, 1));
  auto loops = find_all(g, Op::For);
  ASSERT_EQ(loops.size(), 2u) << print(g);
  EXPECT_EQ(masked(g, g.region_of(loops[0], 0)), 0);
  EXPECT_EQ(masked(g, g.region_of(loops[1], 0)), 1);
  EXPECT_EQ(g.operand(loops[0], 1), g.operand(loops[1], 0));
}

TEST(SplitLoop, FallingIndicesStayOneLoop) {
  EXPECT_EQ(find_all(split_and_checked(loop_program(DType::I32, -1)), Op::For).size(), 1u);
}

TEST(SplitLoop, LeavesTheSameMemory) {
  for (DType dtype : {DType::I32, DType::I64, DType::U32}) expect_same_loops(loop_program(dtype, 3));
}

TEST(SplitLoop, LeavesTheSameMemoryWhereBytesWrap) { expect_same_loops(loop_program(DType::I8, 2)); }

TEST(SplitLoop, LeavesTheSameMemoryWhereBytesWrapBeforeTheyAreWidened) {
  for (DType wide : {DType::I32, DType::U32, DType::I64})
    expect_same_loops(loop_program(DType::I8, 2, [&](Builder& b, Value index) { return b.cast(index, wide); }));
}

TEST(SplitLoop, LeavesTheSameMemoryWhereUnsignedNumbersGoBelowZero) {
  Function f = parse(R"(kernel below(%x: *i32, %y: *i32, %n: i64, %d: u32) {
  %lo = const 0 : u32
  %hi = const 10 : u32
  %one = const 1 : u32
  %zero = const 0 : i32[16]
  %a = arange begin=0 : u32[16]
  %ds = broadcast %d : u32[16]
  %wide = cast %ds : i64[16]
  %ns = broadcast %n : i64[16]
  %xs = broadcast %x : *i32[16]
  %p = ptr_add %xs, %a : *i32[16]
  %sum = for %lo, %hi, %one, %zero : i32[16] (%i: u32, %s: i32[16]) {
    %b = broadcast %i : u32[16]
    %k = add %a, %b : u32[16]
    %low = sub %k, %ds : u32[16]
    %low_wide = cast %low : i64[16]
    %index = add %low_wide, %wide : i64[16]
    %m = lt %index, %ns : bool[16]
    %v = load %p, %m : i32[16]
    %t = add %s, %v : i32[16]
    yield %t
  }
  %ys = broadcast %y : *i32[16]
  %q = ptr_add %ys, %a : *i32[16]
  store %q, %sum
}
)");
  Function g = split(f);
  for (int64_t n : {0, 5, 20, 100})
    for (int64_t d : {0, 5}) expect_same_memory(f, g, {.scalars = {n, d}});
}

TEST(SplitLoop, LeavesTheSameMemoryAtTheLargestIndex) {
  Function f = loop_program(DType::I32, 1), g = split(f);
  for (int64_t start : {int64_t{0}, int64_t{INT32_MIN}, int64_t{-INT32_MAX}})
    for (int64_t n : {0, 7, INT32_MAX})
      expect_same_memory(f, g, {.scalars = {INT32_MAX - 40, INT32_MAX, 7, start, n}, .elements = 512});
}

TEST(SplitLoop, InnerLoopsAreSplitAndOuterOnesAreNot) {
  Builder b("nested");
  Value x = b.param(Type::pointer(DType::I32), {.name = "x"}), y = b.param(Type::pointer(DType::I32), {.name = "y"});
  Value n = b.param(Type::scalar(DType::I32), {.name = "n"}), m = b.param(Type::scalar(DType::I32), {.name = "m"});
  Value lanes = b.arange(DType::I32, 0, 8), zero = b.constant_int(Type::tile(DType::I32, {8}), 0);
  Value xs = b.broadcast(x, {8}), ys = b.broadcast(y, {8}), none = b.i32(0), one = b.i32(1), eight = b.i32(8);
  Value bound = b.broadcast(m, {8});
  b.for_loop(none, n, one, {}, [&](Params p) {
    Values sums = b.for_loop(none, m, eight, {{zero}}, [&](Params q) {
      Value index = b.add(b.broadcast(q[0], {8}), lanes);
      return Values{b.add(q[1], b.load(b.ptr_add(xs, index), b.binary(Op::Lt, index, bound)))};
    });
    b.store(b.ptr_add(ys, b.add(b.broadcast(b.mul(p[0], eight), {8}), lanes)), sums[0]);
    return Values{};
  });
  Function f = b.finish(), g = split_and_checked(f);
  EXPECT_EQ(find_all(g, Op::For).size(), 3u) << print(g);
  for (int64_t rows : {0, 1, 4})
    for (int64_t columns : {0, 7, 8, 9, 40}) expect_same_memory(f, g, {.scalars = {rows, columns}});
}

TEST(SplitLoop, MasksThatDoNotDependOnItAreDroppedAroundIt) {
  Function f = parse(R"(kernel rows(%x: *i32, %n: i32, %m: i32) {
  %lo = const 0 : i32
  %one = const 1 : i32
  %c16 = const 16 : i32
  %a = arange begin=0 : i32[16]
  %ms = broadcast %m : i32[16]
  %mask = lt %a, %ms : bool[16]
  %xs = broadcast %x : *i32[16]
  for %lo, %n, %one (%i: i32) {
    %r = mul %i, %c16 : i32
    %rs = broadcast %r : i32[16]
    %o = add %rs, %a : i32[16]
    %p = ptr_add %xs, %o : *i32[16]
    store %p, %o, %mask
    yield
  }
}
)");
  Function g = split_and_checked(f);
  auto ifs = find_all(g, Op::If);
  ASSERT_EQ(ifs.size(), 1u) << print(g);
  EXPECT_EQ(find_all(g, Op::For).size(), 2u);
  EXPECT_EQ(masked(g, g.region_of(ifs[0], 0)), 0);
  for (int64_t m : {0, 3, 16, 17}) expect_same_memory(f, g, {.scalars = {5, m}});
}

}  // namespace
}  // namespace strider::pass
