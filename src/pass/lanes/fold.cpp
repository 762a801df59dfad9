// SPDX-License-Identifier: Apache-2.0
// Reductions and scans in the lanes pass.
//
// A reduction folds halves: the axis, padded to a power of two, is folded from its highest bit down; the lower half takes
// in the upper one where that is present. In the canonical layout the bits of an index are, from the top: slot bits (folded
// in the owner's array), thread bits across warps (through scratch, all at once), thread bits inside a warp (exchange), lane
// bits (shuffles). The tree is the same for any number of threads and lanes. From the thread bits down every thread gets the
// result, so a scalar result is uniform.
#include <algorithm>

#include "base/error.h"
#include "ir/fold.h"
#include "pass/index_map.h"
#include "pass/lanes/program.h"

namespace strider::pass {

using namespace ir;

/// The axis of the squeezed space that `v` runs along, or -1 for an axis of size 1.
int LaneProgram::squeezed_axis(Value v) const {
  const Shape& shape = f_.type(f_.operand(v, 0)).shape;
  int axis = static_cast<int>(f_[v].imm);
  if (shape[axis] == 1) return -1;
  int squeezed = 0;
  for (int k = 0; k < axis; ++k) squeezed += shape[k] != 1;
  return squeezed;
}

/// True if the combine function is one commutative op of both parameters: then which is the lower one does not matter.
bool LaneProgram::commutes(Value owner) const {
  const Region& region = f_.region(owner, 0);
  if (region.params.size() != 2 || region.body.size() != 2) return false;
  Value op = region.body[0];
  if (!has(f_[op].op, Commutes) || f_.operand(region.body[1], 0) != op) return false;
  auto operands = f_.operands(op);
  return std::is_permutation(operands.begin(), operands.end(), region.params.begin());
}

void LaneProgram::prepare_fold(Value v) {
  bool is_scan = f_[v].op == Op::Scan;
  Fold& fold = fold_[v.id] = {};
  fold.is_grouped = !is_scan && pass_->group > 1 && squeezed_axis(v) == pass_->group_axis;
  for (Value o : f_.operands(v))
    fold.storages.push_back(allocate(fold.is_grouped ? pass_->grouped : pass_->layout, f_.type(o).dtype, is_scan ? kKeepShared : kKeepPrivate));
  if (is_scan) return;
  for (Value r : results_[v.id])
    if (!f_.type(r).is_scalar()) storage_[r.id] = allocate(layout_of(f_.type(r).shape), f_.type(r).dtype, kKeepShared);
}

void LaneProgram::gather_fold(Value v, const Slot& slot) {
  auto operands = f_.operands(v);
  Fold& fold = fold_[v.id];
  std::vector<LaneValue> values;
  for (Value o : operands) values.push_back(eval_here(o));
  if (fold.is_grouped) pass_->gathered[v.id] = values;
  else
    for (size_t k = 0; k < operands.size(); ++k) keep(fold.storages[k], slot, values[k]);
}

// --- the first levels, while the nest is walked

/// Groups as many slots as there are along the axis of the nest's first reduction, a few at most. Their number must be a
/// power of two: only then are all groups alike.
void LaneProgram::choose_group(Value nest) {
  constexpr int64_t kMostSlots = 8;
  constexpr int64_t kMostStatements = 96;  // written out
  const auto& body = f_.region(nest, 0).body;
  auto first = std::find_if(body.begin(), body.end(), [&](Value s) { return f_[s].op == Op::Reduce; });
  if (first == body.end() || squeezed_axis(*first) < 0) return;
  int axis = squeezed_axis(*first);
  int64_t slots = pass_->layout.slots[axis];
  if (round_up_to_power(slots) != slots) return;
  int64_t group = std::min(slots, kMostSlots);
  while (group > 1 && group * static_cast<int64_t>(body.size()) > kMostStatements) group /= 2;
  pass_->group_axis = axis;
  pass_->group = group;
  pass_->grouped = pass_->layout;
  pass_->grouped.slots[axis] = slots / group;
}

/// Visits the slots of a group and folds what its reductions gather.
void LaneProgram::visit_group(Value nest, const Slot& first) {
  std::vector<Value> folds;
  for (Value s : f_.region(nest, 0).body)
    if (f_[s].op == Op::Reduce && fold_[s.id].is_grouped) folds.push_back(s);
  auto folded = fold_group(nest, folds, first, 0, pass_->group);
  pass_->slot = &first;
  for (size_t k = 0; k < folds.size(); ++k)
    for (size_t o = 0; o < folded[k].size(); ++o) store(own_address(fold_[folds[k].id].storages[o], first.number), folded[k][o], {});
}

/// Slots begin, begin + count, ... of the group: the lower half of them folded with the upper one. Walked depth first, so that few
/// values wait at a time.
std::vector<std::vector<LaneValue>> LaneProgram::fold_group(Value nest, std::span<const Value> folds, const Slot& first, int64_t begin,
                                                            int64_t count) {
  int64_t stride = pass_->group / count;  // from one slot of this subset to the next
  int axis = pass_->group_axis;
  if (count == 1) {
    std::vector<Value> position = first.position;
    position[axis] = b_.add(position[axis], b_.i32(begin * pass_->grouped.slots[axis]));
    Slot slot = make_slot(pass_->layout, position);
    visit_slot(nest, slot);
    std::vector<std::vector<LaneValue>> values;
    for (Value v : folds) values.push_back(pass_->gathered[v.id]);
    return values;
  }
  auto low = fold_group(nest, folds, first, begin, count / 2);
  auto high = fold_group(nest, folds, first, begin + stride, count / 2);
  LaneMath m = math(pass_->layout);
  LaneValue present;
  bool may_be_absent = pass_->layout.is_ragged(axis) && begin + stride == pass_->group - 1;  // it may be the last slot
  if (may_be_absent) {
    LaneValue ahead = m.constant(DType::I32, (begin + stride) * pass_->grouped.slots[axis] * pass_->layout.unit[axis]);
    present = m.less(m.add(first.index[axis], ahead), pass_->layout.space[axis]);
  }
  std::vector<std::vector<LaneValue>> folded;
  for (size_t k = 0; k < folds.size(); ++k) folded.push_back(fold_pair(folds[k], low[k], high[k], present));
  return folded;
}

void LaneProgram::finish_fold(Value v) {
  int axis = squeezed_axis(v);
  if (f_[v].op == Op::Scan) finish_scan(v, axis);
  else finish_reduce(v, axis);
}

std::vector<LaneValue> LaneProgram::read_all(std::span<const Storage> storages, Value slot_number) {
  std::vector<LaneValue> values;
  for (const Storage& s : storages) values.push_back(read_own(s, slot_number));
  return values;
}

/// combine(low, high) where the high element is present, else low.
std::vector<LaneValue> LaneProgram::fold_pair(Value v, std::span<const LaneValue> low, std::span<const LaneValue> high,
                                              const LaneValue& present) {
  std::vector<LaneValue> operands(low.begin(), low.end());
  operands.insert(operands.end(), high.begin(), high.end());
  std::vector<LaneValue> result = combine(v, operands);
  if (is_always(present)) return result;
  LaneMath m = math(pass_->layout);
  for (size_t k = 0; k < result.size(); ++k) {
    LaneValue choice[] = {present, result[k], low[k]};
    result[k] = m.apply(Op::Where, m.dtype(low[k]), choice);
  }
  return result;
}

// --- reduction

/// The slots that hold what a reduction has gathered.
const Layout& LaneProgram::gathered_layout(Value v) const { return fold_.at(v.id).is_grouped ? pass_->grouped : pass_->layout; }

void LaneProgram::finish_reduce(Value v, int axis) {
  const Layout& layout = gathered_layout(v);
  std::vector<int64_t> counts(layout.slots.begin(), layout.slots.begin() + layout.rank());
  std::vector<Storage> buffers;
  if (axis >= 0) {
    fold_slots(v, axis);
    counts[axis] = 1;
    if (warps_to_fold(axis) > 1) {
      int64_t others = layout.slot_count() / layout.slots[axis];
      for (const Storage& s : fold_[v.id].storages) {
        Storage buffer{layout, s.dtype, b_.alloc(Space::Shared, s.dtype, others * threads_ * layout.lanes), {}, {}};
        buffers.push_back(buffer);
      }
      phase();
      write_across_warps(v, axis, buffers);
      phase();
    }
  }
  each_slot_between(layout, counts, [&](const Slot& slot) {
    pass_->slot = &slot;
    pass_->forget();
    std::vector<LaneValue> values =
        buffers.empty() ? read_all(fold_[v.id].storages, slot.number) : fold_across_warps(v, axis, slot, buffers);
    if (axis >= 0) fold_threads_and_lanes(v, axis, values);
    emit_results(v, axis, slot, values);
  });
}

void LaneProgram::fold_slots(Value v, int axis) {
  const Layout& layout = gathered_layout(v);
  LaneMath m = math(layout);
  bool may_lack_elements = layout.is_ragged(axis) && !fold_[v.id].is_grouped;
  int64_t slot_stride = 1;
  for (int d = axis + 1; d < layout.rank(); ++d) slot_stride *= layout.slots[d];
  int64_t live = layout.slots[axis];
  for (int64_t half = round_up_to_power(live) / 2; half >= 1; half /= 2) {
    std::vector<int64_t> counts(layout.slots.begin(), layout.slots.begin() + layout.rank());
    counts[axis] = std::min(half, live - half);
    each_slot_between(layout, counts, [&](const Slot& low) {
      pass_->slot = &low;
      Value high_number = b_.add(low.number, b_.i32(half * slot_stride));
      LaneValue present;
      int64_t position;
      bool known = constant_int(b_.function(), low.position[axis], &position);
      bool may_be_last = !known || position + half == layout.slots[axis] - 1;
      if (may_lack_elements && may_be_last)
        present = m.less(m.add(low.index[axis], m.constant(DType::I32, half * layout.unit[axis])), layout.space[axis]);
      auto folded = fold_pair(v, read_all(fold_[v.id].storages, low.number), read_all(fold_[v.id].storages, high_number), present);
      for (size_t k = 0; k < folded.size(); ++k) store(own_address(fold_[v.id].storages[k], low.number), folded[k], {});
    });
    live = std::min(live, half);
  }
}

/// Lanes whose partner, `distance` further along the axis, exists; counted from the part of the index below `low_bits`.
LaneValue LaneProgram::partner_present(int axis, int64_t distance, int64_t low_bits) {
  const Layout& layout = pass_->layout;
  if (layout.space[axis] >= distance + low_bits) return {};
  LaneMath m = math(layout);
  LaneValue index = thread_part(layout, axis);
  LaneValue low = m.apply(Op::And, {index, m.constant(DType::I32, low_bits - 1)});
  return m.less(low, layout.space[axis] - distance);
}

/// The number of a slot among those that remain when the slots along `axis` are folded.
Value LaneProgram::across_number(int axis, const Slot& slot) {
  Value number = b_.i32(0);
  for (int d = 0; d < pass_->layout.rank(); ++d)
    if (d != axis) number = b_.add(b_.mul(number, b_.i32(pass_->layout.slots[d])), slot.position[d]);
  return number;
}

/// The least distance between threads of different warps that hold different elements along the axis.
int64_t LaneProgram::nearest_outside_warp(int axis) const {
  const Layout& layout = pass_->layout;
  return std::max<int64_t>({1, target_.warp, layout.stride[axis] / layout.lanes});
}

/// How many warps hold elements that a reduction along the axis brings together.
int64_t LaneProgram::warps_to_fold(int axis) const {
  const Layout& layout = pass_->layout;
  int64_t reach = layout.unit[axis] * layout.stride[axis] / layout.lanes;  // threads that the axis and those inside it span
  return std::max<int64_t>(1, reach / nearest_outside_warp(axis));
}

void LaneProgram::write_across_warps(Value v, int axis, std::span<const Storage> buffers) {
  const Layout& layout = gathered_layout(v);
  std::vector<int64_t> counts(layout.slots.begin(), layout.slots.begin() + layout.rank());
  counts[axis] = 1;
  each_slot_between(layout, counts, [&](const Slot& slot) {
    pass_->slot = &slot;
    auto values = read_all(fold_[v.id].storages, slot.number);
    Value place = b_.add(b_.mul(across_number(axis, slot), b_.i32(threads_)), b_.thread_id());
    for (size_t k = 0; k < values.size(); ++k) store(own_address(buffers[k], place), values[k], {});
  });
}

/// Reads what the threads of other warps hold along the axis, and folds it by halves.
std::vector<LaneValue> LaneProgram::fold_across_warps(Value v, int axis, const Slot& slot, std::span<const Storage> buffers) {
  const Layout& layout = pass_->layout;
  int64_t partners = warps_to_fold(axis);
  int64_t nearest = nearest_outside_warp(axis);
  int64_t step = nearest * layout.lanes / layout.stride[axis];  // along the axis, from one partner to the next
  Value row = b_.mul(across_number(axis, slot), b_.i32(threads_));
  Value base = b_.binary(Op::And, b_.thread_id(), b_.i32(~((partners - 1) * nearest)));
  std::vector<std::vector<LaneValue>> held;
  for (int64_t c = 0; c < partners; ++c)
    held.push_back(read_all(buffers, b_.add(row, b_.add(base, b_.i32(c * nearest)))));
  for (int64_t half = partners / 2; half >= 1; half /= 2)
    for (int64_t c = 0; c < half; ++c)
      held[c] = fold_pair(v, held[c], held[c + half], partner_present(axis, (c + half) * step, step));
  return held[0];
}

void LaneProgram::fold_threads_and_lanes(Value v, int axis, std::vector<LaneValue>& values) {
  const Layout& layout = pass_->layout;
  LaneMath m = math(layout);
  for (int64_t distance = layout.unit[axis] / 2; distance >= 1; distance /= 2) {
    int64_t in_lanes = distance * layout.stride[axis];
    int64_t in_threads = in_lanes / layout.lanes;
    if (in_threads >= target_.warp && in_threads >= 1) continue;  // done across warps
    std::vector<LaneValue> low = values, high = values;
    if (in_threads >= 1) {
      LaneValue is_high = m.uniform(b_.binary(Op::Ne, b_.binary(Op::And, b_.thread_id(), b_.i32(in_threads)), b_.i32(0)));
      bool either_order = commutes(v) && !partner_present(axis, distance, distance).base.valid();
      for (size_t k = 0; k < values.size(); ++k) {
        LaneValue mine = values[k], theirs = m.vector(b_.exchange(m.materialize(mine), in_threads));
        LaneValue lower[] = {is_high, theirs, mine}, upper[] = {is_high, mine, theirs};
        low[k] = either_order ? mine : m.apply(Op::Where, m.dtype(mine), lower);
        high[k] = either_order ? theirs : m.apply(Op::Where, m.dtype(mine), upper);
      }
    } else {
      std::vector<int64_t> low_lanes, high_lanes;
      for (int64_t lane = 0; lane < layout.lanes; ++lane) {
        low_lanes.push_back(lane & ~in_lanes);
        high_lanes.push_back(lane | in_lanes);
      }
      for (size_t k = 0; k < values.size(); ++k) {
        Value all = m.materialize(values[k]);
        low[k] = m.vector(b_.shuffle(all, all, low_lanes));
        high[k] = m.vector(b_.shuffle(all, all, high_lanes));
      }
    }
    values = fold_pair(v, low, high, partner_present(axis, distance, distance));
  }
}

/// A scalar result is known to all threads; those of a tile are written to scratch by the threads and lanes at index 0.
void LaneProgram::emit_results(Value v, int axis, const Slot& slot, std::span<const LaneValue> values) {
  const Layout& layout = pass_->layout;
  LaneMath m = math(layout);
  std::vector<LaneValue> index;
  LaneValue mask, first = axis >= 0 ? thread_part(layout, axis) : LaneValue{};
  for (int d = 0; d < layout.rank(); ++d) {
    if (d == axis) continue;
    index.push_back(slot.index[d]);
    if (layout.is_ragged(d)) mask = m.both(mask, m.less(slot.index[d], layout.space[d]));
  }
  if (axis >= 0) {
    LaneValue zero[] = {first, m.constant(DType::I32, 0)};
    mask = m.both(mask, m.apply(Op::Eq, DType::Bool, zero));
  }
  if (is_always(mask)) mask = {};
  for (Value r : results_[v.id]) {
    const LaneValue& value = values[f_[r].imm];
    if (f_.type(r).is_scalar()) {
      map_[r.id] = m.first_lane(value);
      continue;
    }
    by_owner(layout, [&] {
      LaneValue address = shared_address(storage_[r.id], index);
      if (!address.is_uniform() || !value.is_vector) return store(address, value, mask);
      // All lanes go to one element: lane 0 has it.
      b_.store(address.base, m.first_lane(value), mask.base.valid() ? m.first_lane(mask) : Value{});
    });
  }
}

// --- scan

void LaneProgram::finish_scan(Value v, int axis) {
  const Layout& layout = pass_->layout;
  LaneMath m = math(layout);
  std::vector<Storage> from = fold_[v.id].storages, to;
  int64_t length = axis >= 0 ? layout.space[axis] : 1;
  if (length > 1)
    for (const Storage& s : from) to.push_back(allocate(layout, s.dtype, kKeepShared));
  for (int64_t distance = 1; distance < length; distance *= 2) {
    phase();
    each_slot(layout, [&](const Slot& slot) {
      pass_->slot = &slot;
      std::vector<LaneValue> earlier_index = slot.index;
      earlier_index[axis] = m.add(slot.index[axis], m.constant(DType::I32, -distance));
      LaneValue bounds[] = {slot.index[axis], m.constant(DType::I32, distance)};
      LaneValue has_earlier = m.apply(Op::Ge, DType::Bool, bounds);
      std::vector<LaneValue> own, earlier;
      for (const Storage& s : from) {
        own.push_back(read_shared(s, slot.index, slot.present));
        earlier.push_back(read_shared(s, earlier_index, m.both(slot.present, has_earlier)));
      }
      std::vector<LaneValue> operands = earlier;
      operands.insert(operands.end(), own.begin(), own.end());
      std::vector<LaneValue> combined = combine(v, operands);
      for (size_t k = 0; k < combined.size(); ++k) {
        LaneValue choice[] = {has_earlier, combined[k], own[k]};
        keep(to[k], slot, m.apply(Op::Where, to[k].dtype, choice));
      }
    });
    std::swap(from, to);
  }
  for (Value r : results_[v.id]) storage_[r.id] = from[f_[r].imm];
}

}  // namespace strider::pass
