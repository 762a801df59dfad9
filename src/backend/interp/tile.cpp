// SPDX-License-Identifier: Apache-2.0
#include "backend/interp/tile.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "backend/interp/machine.h"
#include "base/error.h"
#include "ir/print.h"
#include "ir/semantics.h"

namespace strider::interp {

using ir::Op;
using ir::Shape;
using ir::Type;
using ir::Value;

namespace {

/// The operands of a reduce or scan with the folded axis first: row i holds element i of every line.
class Fold {
 public:
  Fold(Machine& m, Value v) : m_(m), v_(v), region_(m.function.region_of(v, 0)) {
    const Shape& shape = m.function.type(m.function.operand(v, 0)).shape;
    const int axis = static_cast<int>(m.function[v].imm);
    for (int k = 0; k < axis; ++k) outer_ *= shape[k];
    for (int k = axis + 1; k < shape.rank(); ++k) inner_ *= shape[k];
    length_ = shape[axis];
    row_ = outer_ * inner_;
    for (Value tile : m.function.operands(v)) rows_.push_back(take_rows(m.in(tile)));
  }

  int64_t length() const { return length_; }

  /// Row right + i becomes combine(row left + i, row right + i) written at row into + i, for i < count, all at once.
  void combine(int64_t left, int64_t right, int64_t into, int64_t count) {
    if (count <= 0) return;
    const auto& params = m_.function.region(region_).params;
    const size_t tiles = rows_.size();
    for (size_t k = 0; k < tiles; ++k) {
      m_.values.point(params[k], rows_[k].data() + left * row_);
      m_.values.point(params[tiles + k], rows_[k].data() + right * row_);
    }
    const int64_t width = count * row_;
    const Context outside = m_.context;
    m_.context = {.id = v_.id, .width = width, .live = width};
    m_.run(region_);
    collect(into, width);
    m_.context = outside;
  }

  /// Row 0 of each operand, as the results of a reduction.
  void give_first() const {
    for (size_t k = 0; k < results().size(); ++k)
      if (results()[k].valid()) std::copy_n(rows_[k].data(), row_, m_.out(results()[k]));
  }

  /// All rows, in the operand's own order.
  void give_all() const {
    for (size_t k = 0; k < results().size(); ++k) {
      if (!results()[k].valid()) continue;
      uint64_t* out = m_.out(results()[k]);
      each_line([&](int64_t own, int64_t rowwise) { std::copy_n(rows_[k].data() + rowwise, inner_, out + own); });
    }
  }

 private:
  std::span<const Value> results() const { return m_.values.results(v_); }

  /// Calls `visit` with the places of every run of `inner_` elements: in the tile and in the rows.
  template <class Visit>
  void each_line(Visit&& visit) const {
    for (int64_t o = 0; o < outer_; ++o)
      for (int64_t i = 0; i < length_; ++i) visit((o * length_ + i) * inner_, i * row_ + o * inner_);
  }

  std::vector<uint64_t> take_rows(Slots tile) const {
    std::vector<uint64_t> rows(static_cast<size_t>(length_ * row_));
    if (tile.step == 0) std::ranges::fill(rows, *tile.data);
    else each_line([&](int64_t own, int64_t rowwise) { std::copy_n(tile.data + own, inner_, rows.data() + rowwise); });
    return rows;
  }

  /// Yielded values may be parameters, which are rows themselves: all are read before any is written.
  void collect(int64_t into, int64_t width) {
    const std::span<const Value> yields = m_.yields(region_);
    staged_.resize(yields.size() * static_cast<size_t>(width));
    for (size_t k = 0; k < yields.size(); ++k) {
      const Slots value = m_.in(yields[k]);
      for (int64_t i = 0; i < width; ++i) staged_[k * width + i] = value.at(i);
    }
    for (size_t k = 0; k < yields.size(); ++k) std::copy_n(staged_.data() + k * width, width, rows_[k].data() + into * row_);
  }

  Machine& m_;
  Value v_;
  ir::RegionId region_;
  int64_t outer_ = 1, inner_ = 1, length_ = 1, row_ = 1;
  std::vector<std::vector<uint64_t>> rows_;
  std::vector<uint64_t> staged_;
};

void run_reduce(Machine& m, Value v) {
  Fold fold(m, v);
  int64_t present = fold.length();
  const int64_t padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(present)));
  for (int64_t half = padded / 2; half >= 1; half /= 2) {
    fold.combine(0, half, 0, present - half);
    present = half;
  }
  fold.give_first();
}

void run_scan(Machine& m, Value v) {
  Fold fold(m, v);
  for (int64_t step = 1; step < fold.length(); step *= 2) fold.combine(0, step, step, fold.length() - step);
  fold.give_all();
}

std::vector<uint64_t> converted(Machine& m, Value tile, DType dtype) {
  const ir::Type& type = m.function.type(tile);
  const Slots slots = m.in(tile);
  std::vector<uint64_t> result(static_cast<size_t>(type.elements()));
  const uint64_t* args[] = {slots.data};
  const int steps[] = {slots.step};
  ir::evaluate_lanes(Op::Cast, type.dtype, dtype, args, steps, result.data(), result.size());
  return result;
}

void run_dot(Machine& m, Value v) {
  const Slots c = m.in(m.function.operand(v, 0));
  const ir::Type& type = m.function.type(v);
  const int64_t rows = type.shape[0], columns = type.shape[1], depth = m.function.type(m.function.operand(v, 1)).shape[1];
  const auto a = converted(m, m.function.operand(v, 1), type.dtype), b = converted(m, m.function.operand(v, 2), type.dtype);
  uint64_t* out = m.out(v);
  for (int64_t i = 0; i < rows * columns; ++i) out[i] = c.at(i);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < depth; ++k) {
      uint64_t* row = out + i * columns;
      const uint64_t* args[] = {a.data() + i * depth + k, b.data() + k * columns, row};
      const int steps[] = {0, 1, 1};
      ir::evaluate_lanes(Op::Fma, type.dtype, type.dtype, args, steps, row, static_cast<size_t>(columns));
    }
}

void run_histogram(Machine& m, Value v) {
  const Value tile = m.function.operand(v, 0);
  const Slots bins = m.in(tile);
  const int64_t count = m.function.type(v).elements();
  uint64_t* out = m.out(v);
  std::fill_n(out, count, 0);
  for (int64_t i = 0; i < m.function.type(tile).elements(); ++i)
    if (bins.at(i) < static_cast<uint64_t>(count)) ++out[bins.at(i)];  // below zero is far above
}

/// What a nest defines is visible after it, so it is its statements in order.
void run_nest(Machine& m, Value v) { m.run(m.function.region_of(v, 0)); }

// --- hints: a false one is reported

/// Calls `breaks(before, here, j)` for element j of each line along the axis and the one before it (0 for the first); gives
/// the first lane for which that is true, or -1.
template <class Breaks>
int64_t first_broken(const Machine& m, Value v, int axis, Breaks&& breaks) {
  const Shape& shape = m.function.type(v).shape;
  const Slots slots = m.in(m.function.operand(v, 0));
  int64_t inner = 1;
  for (int k = axis + 1; k < shape.rank(); ++k) inner *= shape[k];
  const int64_t length = shape.rank() > 0 ? shape[axis] : 1;
  for (int64_t i = 0; i < m.context.width * shape.elements(); ++i) {
    const int64_t j = i % shape.elements() / inner % length;
    if (breaks(j > 0 ? slots.at(i - inner) : 0, slots.at(i), j)) return i;
  }
  return -1;
}

/// The value itself is a view of the operand.
void run_hint(Machine& m, Value v) {
  const ir::HintFact fact = ir::HintFact::of(m.function[v].imm);
  const Type& type = m.function.type(v);
  const DType dtype = Machine::slot_dtype(type);
  const Slots from = m.in(m.function.operand(v, 0));
  const Wide step = type.is_pointer() ? size_of(type.dtype) : 1;
  const auto follows = [&](uint64_t before, uint64_t here) { return wide_of_bits(dtype, here) == wide_of_bits(dtype, before) + step; };
  const int64_t lane = first_broken(m, v, fact.axis, [&](uint64_t before, uint64_t here, int64_t j) {
    switch (fact.kind) {
      case ir::HintKind::MultipleOf: return !(j > 0 && follows(before, here)) && wide_of_bits(dtype, here) % fact.number != 0;
      case ir::HintKind::MaxContiguous: return j % fact.number != 0 && !follows(before, here);
      default: return j % fact.number != 0 && before != here;
    }
  });
  if (lane < 0) return;
  m.reports.add(ReportKind::Misuse, v, {0, lane}, [&] {
    const uint64_t bits = from.at(lane);
    const std::string found = type.is_pointer() ? fmt::format("address {:#x}", bits) : ir::print_element(dtype, bits);
    return fmt::format("{} breaks the promise of {} {}", found, ir::kHintNames[static_cast<int>(fact.kind)], fact.number);
  });
}

void run_assume(Machine& m, Value v) {
  const Value condition = m.function.operand(v, 0);
  const Slots slots = m.in(condition);
  for (int64_t i = 0; i < m.function.type(condition).elements(); ++i) {
    if (slots.at(i)) continue;
    const int64_t lane = m.function.type(condition).is_scalar() ? -1 : i;
    m.reports.add(ReportKind::Misuse, v, {0, lane}, [] { return std::string("what is assumed does not hold"); });
  }
}

Handlers tile_handlers() {
  Handlers table = common_handlers();
  const auto set = [&](Op op, Handler handler) { table[static_cast<int>(op)] = handler; };
  set(Op::ExpandDims, run_nothing);
  set(Op::Reshape, run_nothing);
  set(Op::Trans, run_moves);
  set(Op::Gather, run_gather);
  set(Op::Dot, run_dot);
  set(Op::Histogram, run_histogram);
  set(Op::Reduce, run_reduce);
  set(Op::Scan, run_scan);
  set(Op::Nest, run_nest);
  set(Op::Hint, run_hint);
  set(Op::Assume, run_assume);
  return table;
}

}  // namespace

std::vector<Report> interpret_tiles(const ir::Function& f, const Grid& grid, std::span<const uint64_t> args,
                                    const InterpOptions& options) {
  static const Handlers table = tile_handlers();
  if (f.threads != 0)
    user_error("kernel {} is in lane form for {} threads, the tile interpreter takes tile form", f.name, f.threads);
  return Machine(f, table, 1, grid, args, options).run_all();
}

}  // namespace strider::interp
