// SPDX-License-Identifier: Apache-2.0
// Which rows are read again for each row of a tile, and that the results stay.
#include "pass/reread.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "pass/run_program.h"

namespace strider::pass {
namespace {

using namespace ir;

/// y[8, 16] = x[16] + 1, written so that `way` decides how the row becomes the tile.
constexpr int kTurned[] = {1, 0};
enum class Way { Broadcast, Converted, UsedTwice, Scattered, TurnedAfter };

Function program(Way way) {
  Builder b("p");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x"}), y = b.param(Type::pointer(DType::F32), {.name = "y"});
  const Shape shape{8, 16};
  Value j = b.arange(DType::I32, 0, 16);
  if (way == Way::Scattered) j = b.mul(j, b.constant_int(b.type(j), 3));
  Value row = b.load(b.ptr_add(b.broadcast(x, Shape{16}), j));
  if (way == Way::Converted) row = b.unary(Op::Neg, row);
  Value i = b.expand_dims(b.mul(b.arange(DType::I32, 0, 8), b.constant_int(Type::tile(DType::I32, Shape{8}), 16)), 1);
  Value places = b.add(b.broadcast(i, shape), b.broadcast(b.expand_dims(b.arange(DType::I32, 0, 16), 0), shape));
  Value target = b.ptr_add(b.broadcast(y, shape), places);
  auto spread = [&] { return b.broadcast(b.expand_dims(row, 0), shape); };
  auto store = [&](Value tile) { b.store(target, b.add(tile, b.constant(b.type(tile), 1.0))); };
  switch (way) {
    case Way::UsedTwice: store(b.mul(spread(), b.broadcast(b.expand_dims(b.unary(Op::Abs, row), 0), shape))); break;
    case Way::TurnedAfter: b.store(b.trans(target, kTurned), b.trans(spread(), kTurned)); break;
    default: store(spread());
  }
  return b.finish();
}

/// Loads of a whole tile in the text.
bool reads_tile(const Function& f) {
  for (uint32_t id = 0; id < f.size(); ++id)
    if (f[Value{id}].op == Op::Load && f.type(Value{id}).shape.rank() == 2) return true;
  return false;
}

TEST(Reread, ARowThatIsOnlySpreadIsReadForEveryRow) {
  Function after = reread(program(Way::Broadcast));
  verify(after, Form::Tile);
  EXPECT_TRUE(reads_tile(after)) << print(after);
}

TEST(Reread, OthersAreKept) {
  for (Way way : {Way::Converted, Way::UsedTwice, Way::Scattered, Way::TurnedAfter}) {
    Function after = reread(program(way));
    verify(after, Form::Tile);
    EXPECT_FALSE(reads_tile(after)) << print(after);
  }
}

TEST(Reread, LeavesTheSameMemory) {
  for (Way way : {Way::Broadcast, Way::Converted, Way::UsedTwice, Way::Scattered, Way::TurnedAfter})
    expect_same_memory(program(way), reread(program(way)), {});
}

TEST(Reread, ARowReadBeforeALoopIsNotReadInIt) {
  Builder b("p");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x"}), y = b.param(Type::pointer(DType::F32), {.name = "y"});
  const Shape shape{8, 16};
  Value row = b.load(b.ptr_add(b.broadcast(x, Shape{16}), b.arange(DType::I32, 0, 16)));
  Value zero = b.constant(Type::tile(DType::F32, shape), 0.0);
  Value lo = b.constant_int(Type::scalar(DType::I32), 0), hi = b.constant_int(Type::scalar(DType::I32), 4);
  Value one = b.constant_int(Type::scalar(DType::I32), 1);
  const Value carried[] = {zero};
  auto sums = b.for_loop(lo, hi, one, carried, [&](std::span<const Value> p) {
    return Builder::Values{b.add(p[1], b.broadcast(b.expand_dims(row, 0), shape))};
  });
  b.store(b.broadcast(y, shape), sums[0]);
  Function after = reread(b.finish());
  verify(after, Form::Tile);
  EXPECT_FALSE(reads_tile(after)) << print(after);
}

}  // namespace
}  // namespace strider::pass
