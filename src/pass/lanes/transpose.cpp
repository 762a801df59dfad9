// SPDX-License-Identifier: Apache-2.0
// Staged loads on one thread: blocks of lanes x lanes elements are transposed in registers on their way into scratch.
//
// Plain blocking would write scratch one element at a time, and rows a power of two apart share cache sets. Here each row of
// a block is one load, each column one store, and the exchange takes log2(lanes) rounds of two-vector shuffles.
#include "pass/lanes/program.h"

namespace strider::pass {

using namespace ir;

/// True for a nest that only loads a tile which others read along its first axis, in whole blocks.
bool LaneProgram::is_block_transpose(Value nest) const {
  const Layout layout = layout_of(f_[nest].type.shape);
  if (threads_ > 1 || layout.lanes < 2 || layout.rank() != 2) return false;
  if (layout.space[0] % layout.lanes != 0 || layout.space[1] % layout.lanes != 0) return false;
  int placed = 0;
  Value load;
  for (Value v : f_.region(nest, 0).body) {
    if (f_[v].flags & kInline) continue;
    load = v;
    ++placed;
  }
  bool is_staged = placed == 1 && f_[load].op == Op::Load && (f_[load].flags & kStaged);
  return is_staged && !(f_[load].flags & kKeepPrivate) && (f_[load].flags & kKeepShared);
}

/// Swaps the blocks off the diagonal, from the largest to single elements.
void LaneProgram::transpose_block(std::vector<Value>& rows) {
  int64_t lanes = static_cast<int64_t>(rows.size());
  for (int64_t distance = lanes / 2; distance >= 1; distance /= 2) {
    std::vector<int64_t> upper, lower;
    for (int64_t k = 0; k < lanes; ++k) {
      bool is_left = (k & distance) == 0;
      upper.push_back(is_left ? k : lanes + k - distance);
      lower.push_back(is_left ? k + distance : lanes + k);
    }
    for (int64_t r = 0; r < lanes; ++r) {
      if (r & distance) continue;
      Value a = rows[r], b = rows[r + distance];
      rows[r] = b_.shuffle(a, b, upper);
      rows[r + distance] = b_.shuffle(a, b, lower);
    }
  }
}

void LaneProgram::lower_block_transpose(Value nest) {
  Value load;
  for (Value v : f_.region(nest, 0).body)
    if (!(f_[v].flags & kInline)) load = v;
  Pass pass(layout_of(f_[nest].type.shape));
  pass_ = &pass;
  const Layout& layout = pass.layout;
  Storage storage = allocate(layout, f_[load].type.dtype, kKeepShared);
  storage.shared_stride = {1, layout.space[0]};
  storage_[load.id] = storage;
  auto block = [&](Value block_row, Value block_column) {
    std::vector<Value> rows;
    Value first_row = b_.mul(block_row, b_.i32(layout.lanes));
    for (int64_t r = 0; r < layout.lanes; ++r) {
      Value position[] = {b_.add(first_row, b_.i32(r)), block_column};
      Slot slot = make_slot(layout, position);
      pass.slot = &slot;
      pass.forget();
      rows.push_back(math(layout).materialize(lower_load(load)));
    }
    transpose_block(rows);
    Value first_column = b_.mul(block_column, b_.i32(layout.lanes));
    for (int64_t c = 0; c < layout.lanes; ++c) {
      Value column = b_.add(first_column, b_.i32(c));
      Value start = b_.ptr_add(storage.shared, b_.add(b_.mul(column, b_.i32(layout.space[0])), first_row));
      b_.store_block(start, rows[c], log2_of(facts_.alignment(start)));
    }
  };
  auto loop = [&](int64_t count, const std::function<void(Value)>& body) {
    b_.for_loop(b_.i32(0), b_.i32(count), b_.i32(1), {}, [&](std::span<const Value> p) {
      body(p[0]);
      return Values{};
    });
  };
  // Along the rows, which are contiguous in memory: few of them at a time, each as long as the tile allows.
  loop(layout.space[0] / layout.lanes,
       [&](Value row) { loop(layout.space[1] / layout.lanes, [&](Value column) { block(row, column); }); });
  pass_ = nullptr;
}

}  // namespace strider::pass
