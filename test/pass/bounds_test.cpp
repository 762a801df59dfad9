// SPDX-License-Identifier: Apache-2.0
// Loops of masked nests end at the bound: the same memory as in the tile interpreter for bounds of all kinds, and no more
// visits than there are elements for.
#include <gtest/gtest.h>

#include <climits>
#include <cstring>

#include "backend/interp/lane.h"
#include "backend/interp/tile.h"
#include "ir/builder.h"
#include "ir/print.h"
#include "ir/semantics.h"
#include "pass/lanes/lanes.h"
#include "pass/run_program.h"
#include "pass/schedule.h"
#include "pass/scratch.h"

namespace strider::pass {
namespace {

using namespace ir;

/// One thread whose vectors have any number of lanes; loops are never written out.
Target plain_target() {
  Target t = host_target();
  t.unroll_slots = 1;
  return t;
}

Function lower(const Function& tile, int lanes) {
  Function program = lower_to_lanes(schedule(tile), plain_target(), 1, lanes);
  assign_scratch(program, plain_target());
  return program;
}

constexpr int64_t kElements = 256;

/// What a program leaves in its one buffer of i32, which is its first argument; the others are numbers.
template <class Interpret>
std::vector<int32_t> memory_after(const Function& f, std::span<const int64_t> numbers, Interpret interpret) {
  std::vector<int32_t> buffer(kElements, -1);
  std::vector<uint64_t> args{reinterpret_cast<uint64_t>(buffer.data())};
  for (size_t k = 0; k < numbers.size(); ++k) args.push_back(bits_of_int(f.type(f.params()[k + 1]).dtype, numbers[k]));
  EXPECT_EQ(interp::to_string(interpret(f, Grid{1, 1, 1}, args)), "") << print(f);
  return buffer;
}

/// Both forms leave the same for these numbers.
void expect_same(const Function& tile, std::initializer_list<int64_t> numbers) {
  std::vector<int64_t> list(numbers);
  auto by_tiles = memory_after(tile, list, [](const auto&... a) { return interp::interpret_tiles(a...); });
  for (int lanes : {1, 4, 16}) {
    Function program = lower(tile, lanes);
    auto by_lanes = memory_after(program, list, [](const auto&... a) { return interp::interpret_lanes(a...); });
    ASSERT_EQ(by_lanes, by_tiles) << lanes << " lanes, numbers " << ::testing::PrintToString(list) << "\n" << print(program);
  }
}

/// Every `for` of the lane program ends at a number known only at run time.
int limited_loops(const Function& lanes) {
  int count = 0;
  for (Value v : find_all(lanes, Op::For)) count += !lanes.is_constant(lanes.operand(v, 1));
  return count;
}

enum class Form { Lt, Le, Gt, Ge };
struct Row {
  DType dtype;
  Form form;
  int64_t factor;
};

/// y[i] = i where start + factor * i < bound (or the form's comparison), over 64 lanes.
Function row_program(const Row& row) {
  Builder b("row");
  Value y = b.param(Type::pointer(DType::I32), {.name = "y"});
  Value start = b.param(Type::scalar(row.dtype), {.name = "start"}), bound = b.param(Type::scalar(row.dtype), {.name = "bound"});
  Value lanes = b.arange(row.dtype, 0, 64);
  Value scaled = row.factor == 1 ? lanes : b.mul(lanes, b.constant_int(Type::tile(row.dtype, {64}), row.factor));
  Value index = b.add(b.broadcast(start, {64}), scaled), limit = b.broadcast(bound, {64});
  Value mask = row.form == Form::Lt   ? b.binary(Op::Lt, index, limit)
               : row.form == Form::Le ? b.binary(Op::Le, index, limit)
               : row.form == Form::Gt ? b.binary(Op::Gt, limit, index)
                                      : b.binary(Op::Ge, limit, index);
  Value i = b.arange(DType::I32, 0, 64);
  b.store(b.ptr_add(b.broadcast(y, {64}), i), i, mask);
  return b.finish();
}

TEST(Bounds, RowsOfEveryKind) {
  for (DType dtype : {DType::I32, DType::I64})
    for (Form form : {Form::Lt, Form::Le, Form::Gt, Form::Ge})
      for (int64_t factor : {1, 3}) {
        Function tile = row_program({dtype, form, factor});
        EXPECT_EQ(limited_loops(lower(tile, 4)), 1);
        int64_t low = dtype == DType::I32 ? INT32_MIN : INT64_MIN, high = dtype == DType::I32 ? INT32_MAX : INT64_MAX;
        for (int64_t start : {int64_t{0}, int64_t{5}, int64_t{-70}, low, low + 1, high, high - 10, high - 200})
          for (int64_t more : {0, 1, 2, 4, 15, 16, 17, 63, 64, 65, 192, 300})
            if (start <= high - more) expect_same(tile, {start, start + more});
        for (int64_t bound : {low, int64_t{-1}, int64_t{0}, high}) expect_same(tile, {0, bound});
        for (int64_t start : {high, high - 10, low}) expect_same(tile, {start, low + 20});  // the index wraps
      }
}

/// Narrow and unsigned indices have loops over all.
TEST(Bounds, OtherIndicesAreLeftAlone) {
  for (DType dtype : {DType::I8, DType::I16, DType::U32, DType::U64}) {
    Function tile = row_program({dtype, Form::Lt, 1});
    EXPECT_EQ(limited_loops(lower(tile, 4)), 0);
    for (int64_t bound : {0, 1, 20, 63, 64, 100, -1}) expect_same(tile, {0, bound});
    expect_same(tile, {-3, 20});
  }
}

/// y[i, j] = 16 i + j where i < rows and j < columns, over 16 x 16 lanes.
Function matrix_program() {
  Builder b("matrix");
  Value y = b.param(Type::pointer(DType::I32), {.name = "y"});
  Value rows = b.param(Type::scalar(DType::I32), {.name = "rows"});
  Value columns = b.param(Type::scalar(DType::I32), {.name = "columns"});
  Value i = b.arange(DType::I32, 0, 16), j = b.arange(DType::I32, 0, 16);
  Value in_rows = b.expand_dims(b.binary(Op::Lt, i, b.broadcast(rows, {16})), 1);
  Value in_columns = b.expand_dims(b.binary(Op::Lt, j, b.broadcast(columns, {16})), 0);
  Value mask = b.binary(Op::And, b.broadcast(in_rows, {16, 16}), b.broadcast(in_columns, {16, 16}));
  Value first = b.mul(b.expand_dims(i, 1), b.constant_int(Type::tile(DType::I32, {16, 1}), 16));
  Value offset = b.add(b.broadcast(first, {16, 16}), b.broadcast(b.expand_dims(j, 0), {16, 16}));
  b.store(b.ptr_add(b.broadcast(y, {16, 16}), offset), offset, mask);
  return b.finish();
}

TEST(Bounds, BothAxesOfAMatrix) {
  Function tile = matrix_program();
  EXPECT_EQ(limited_loops(lower(tile, 4)), 2);
  for (int64_t rows : {-1, 0, 1, 7, 15, 16, 20})
    for (int64_t columns : {-5, 0, 1, 3, 4, 5, 16, 17}) expect_same(tile, {rows, columns});
}

/// Two stores, of which the second has a bound of its own: only the common one can end the loop.
TEST(Bounds, OnlyWhatAllStoresShare) {
  Builder b("two");
  Value y = b.param(Type::pointer(DType::I32), {.name = "y", .no_alias = true});
  Value n = b.param(Type::scalar(DType::I32), {.name = "n"}), m = b.param(Type::scalar(DType::I32), {.name = "m"});
  Value i = b.arange(DType::I32, 0, 64), p = b.ptr_add(b.broadcast(y, {64}), i);
  Value below_n = b.binary(Op::Lt, i, b.broadcast(n, {64})), below_m = b.binary(Op::Lt, i, b.broadcast(m, {64}));
  b.store(p, i, below_n);
  b.store(b.ptr_add(b.broadcast(b.ptr_add(y, b.i32(64)), {64}), i), i, b.binary(Op::And, below_n, below_m));
  Function tile = b.finish();
  for (int64_t x : {0, 3, 30, 64})
    for (int64_t z : {0, 5, 64}) expect_same(tile, {x, z});
}

/// A store without a mask needs every lane.
TEST(Bounds, StoresWithoutABound) {
  Builder b("free");
  Value y = b.param(Type::pointer(DType::I32), {.name = "y"}), n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Value i = b.arange(DType::I32, 0, 64), mask = b.binary(Op::Lt, i, b.broadcast(n, {64}));
  b.store(b.ptr_add(b.broadcast(y, {64}), i), i);
  b.store(b.ptr_add(b.broadcast(b.ptr_add(y, b.i32(64)), {64}), i), i, mask);
  Function tile = b.finish();
  for (int64_t x : {0, 3, 64}) expect_same(tile, {x});
}

/// What a masked load gives outside counts in a sum.
TEST(Bounds, ReductionsSeeEveryLane) {
  Builder b("sum");
  Value y = b.param(Type::pointer(DType::I32), {.name = "y"}), n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Value i = b.arange(DType::I32, 0, 64), mask = b.binary(Op::Lt, i, b.broadcast(n, {64}));
  Value seven = b.constant_int(Type::tile(DType::I32, {64}), 7);
  Value loaded = b.load(b.ptr_add(b.broadcast(y, {64}), i), mask, seven);
  b.store(y, b.reduce(loaded, 0, Op::Add));
  Function tile = b.finish();
  for (int64_t x : {0, 3, 64}) expect_same(tile, {x});
}

/// A tile that a later nest needs is complete.
TEST(Bounds, KeptTilesAreComplete) {
  Builder b("kept");
  Value y = b.param(Type::pointer(DType::I32), {.name = "y"}), n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Value i = b.arange(DType::I32, 0, 64), mask = b.binary(Op::Lt, i, b.broadcast(n, {64}));
  Value p = b.ptr_add(b.broadcast(y, {64}), i);
  Value loaded = b.load(p);
  b.store(p, b.add(loaded, i), mask);
  Value last = b.sub(b.constant_int(Type::tile(DType::I32, {64}), 127), i);
  b.store(b.ptr_add(b.broadcast(y, {64}), last), loaded);
  Function tile = b.finish();
  for (int64_t x : {0, 3, 64}) expect_same(tile, {x});
}

}  // namespace
}  // namespace strider::pass
