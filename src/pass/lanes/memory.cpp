// SPDX-License-Identifier: Apache-2.0
// Memory in the lanes pass: from the structure of an address comes the kind of access; and kept values.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "pass/index_map.h"
#include "pass/lanes/program.h"

namespace strider::pass {

using namespace ir;

namespace {

/// How the lanes of an address follow each other.
enum class Run { Same, Up, Down, EverySecond, Other };

Run run_of(const LaneValue& pointer) {
  if (!pointer.is_affine()) return Run::Other;
  if (pointer.offsets.empty()) return Run::Same;
  for (size_t k = 1; k < pointer.offsets.size(); ++k)
    if (pointer.offsets[k] - pointer.offsets[k - 1] != pointer.offsets[1] - pointer.offsets[0]) return Run::Other;
  int64_t step = pointer.offsets[1] - pointer.offsets[0];
  return step == 1 ? Run::Up : step == -1 ? Run::Down : step == 2 ? Run::EverySecond : Run::Other;
}

std::vector<int64_t> reversed_lanes(int64_t lanes) {
  std::vector<int64_t> order;
  for (int64_t k = lanes; k-- > 0;) order.push_back(k);
  return order;
}

}  // namespace

LaneValue LaneProgram::load(const LaneValue& pointer, const LaneValue& mask, const LaneValue& other, int64_t access) {
  LaneMath m = math(pass_->layout);
  bool masked = !is_always(mask);
  Run run = run_of(pointer);
  bool scalar_mask = !masked || mask.is_uniform();
  bool scalar_other = !masked || !other.base.valid() || other.is_uniform();
  if (run == Run::Same && scalar_mask && scalar_other)
    return m.uniform(b_.load(pointer.base, masked ? mask.base : Value{}, masked ? other.base : Value{}, access));
  if (run == Run::EverySecond && !masked && target_.deinterleaves) return load_every_second(pointer);
  Value mask_vector = masked ? m.materialize(mask) : Value{};
  Value other_vector = masked && other.base.valid() ? m.materialize(other) : Value{};
  if (run != Run::Up && run != Run::Down) return m.vector(b_.load(m.materialize(pointer), mask_vector, other_vector, access));

  int64_t lowest = run == Run::Up ? pointer.offsets.front() : pointer.offsets.back();
  Value base = b_.ptr_add(pointer.base, b_.i64(lowest));
  auto order = reversed_lanes(m.lanes());
  auto flip = [&](Value v) { return run == Run::Down && v.valid() ? b_.shuffle(v, v, order) : v; };
  DType dtype = b_.type(pointer.base).dtype;
  Value block = b_.load_block(base, dtype, m.lanes(), log2_of(facts_.alignment(base)), flip(mask_vector), flip(other_vector));
  return m.vector(flip(block));
}

/// Two blocks that end with the last element that is wanted, and what is even of the first and odd of the second.
LaneValue LaneProgram::load_every_second(const LaneValue& pointer) {
  LaneMath m = math(pass_->layout);
  int64_t lanes = m.lanes();
  DType dtype = b_.type(pointer.base).dtype;
  auto block = [&](int64_t first) {
    Value base = b_.ptr_add(pointer.base, b_.i64(first));
    return b_.load_block(base, dtype, lanes, log2_of(facts_.alignment(base)), {}, {});
  };
  std::vector<int64_t> order;
  for (int64_t k = 0; k < lanes; ++k) order.push_back(2 * k < lanes ? 2 * k : 2 * k + 1);
  return m.vector(b_.shuffle(block(0), block(lanes - 1), order));
}

void LaneProgram::store(const LaneValue& pointer, const LaneValue& value, const LaneValue& mask, int64_t access) {
  LaneMath m = math(pass_->layout);
  Run run = run_of(pointer);
  Value stored = m.materialize(value);
  Value mask_vector = is_always(mask) ? Value{} : m.materialize(mask);
  if (run != Run::Up && run != Run::Down) return b_.store(m.materialize(pointer), stored, mask_vector, access);
  int64_t lowest = run == Run::Up ? pointer.offsets.front() : pointer.offsets.back();
  Value base = b_.ptr_add(pointer.base, b_.i64(lowest));
  auto order = reversed_lanes(m.lanes());
  auto flip = [&](Value v) { return run == Run::Down && v.valid() ? b_.shuffle(v, v, order) : v; };
  b_.store_block(base, flip(stored), log2_of(facts_.alignment(base)), flip(mask_vector), access);
}

/// The atomic `v` on `operands`, in the lanes that are present.
LaneValue LaneProgram::atomic(Value v, std::span<const LaneValue> operands, const LaneValue& present) {
  LaneMath m = math(pass_->layout);
  const Node& n = f_[v];
  auto mask_at = static_cast<size_t>(mask_operand(n.op, n.imm));
  Values lowered;
  for (size_t k = 0; k < mask_at; ++k) lowered.push_back(m.materialize(operands[k]));
  LaneValue mask = m.both(mask_at < operands.size() ? operands[mask_at] : LaneValue{}, present);
  if (!is_always(mask)) lowered.push_back(m.materialize(mask));
  return m.vector(b_.emit(n.op, lowered, n.imm));
}

// --- kept values

/// An array of each thread. A CPU's stack holds only short ones.
Value LaneProgram::allocate_private(DType dtype, int64_t elements) {
  bool is_long = elements > static_cast<int64_t>(target_.unroll_slots) * lanes_;
  bool in_scratch = threads_ == 1 && target_.local_in_scratch && is_long;
  return b_.alloc(in_scratch ? Space::Shared : Space::Local, dtype, elements);
}

Storage LaneProgram::allocate(const Layout& layout, DType dtype, uint8_t keep) {
  Storage s{layout, dtype, {}, {}, {}};
  if (keep & kKeepPrivate) s.own = allocate_private(dtype, layout.kept_elements());
  if (!(keep & kKeepShared)) return s;
  // Rows are a whole number of vectors; on a GPU one more, so that the rows of a column lie in different banks.
  int64_t elements = 1;
  s.shared_stride.resize(layout.rank());
  for (int d = layout.rank() - 1; d >= 0; --d) {
    s.shared_stride[d] = elements;
    bool is_row = d == layout.rank() - 1;
    int64_t size = is_row ? (layout.space[d] + lanes_ - 1) / lanes_ * lanes_ : layout.space[d];
    if (is_row && threads_ > 1 && layout.rank() > 1) size += lanes_;
    elements *= size;
  }
  s.shared = b_.alloc(Space::Shared, dtype, elements);
  return s;
}

void LaneProgram::clear(const Storage& storage) {
  Pass pass(storage.layout);
  Pass* outer = std::exchange(pass_, &pass);
  phase();
  each_slot(storage.layout, [&](const Slot& slot) {
    pass.slot = &slot;
    keep(storage, slot, math(storage.layout).constant(storage.dtype, 0));
  });
  pass_ = outer;
}

LaneValue LaneProgram::own_address(const Storage& storage, Value slot_number) {
  LaneMath m = math(storage.layout);
  std::vector<int64_t> lanes;
  for (int64_t k = 0; k < storage.layout.lanes; ++k) lanes.push_back(k);
  Value first = b_.mul(slot_number, b_.i32(storage.layout.lanes));
  return m.affine(b_.ptr_add(storage.own, first), lanes);
}

LaneValue LaneProgram::shared_address(const Storage& storage, const Index& squeezed) {
  LaneMath m = math(pass_->layout);
  LaneValue flat = m.constant(DType::I32, 0);
  for (size_t d = 0; d < squeezed.size(); ++d) flat = m.add(flat, m.mul(m.cast(squeezed[d], DType::I32), storage.shared_stride[d]));
  return m.apply(Op::PtrAdd, storage.dtype, {{m.uniform(storage.shared), flat}});
}

void LaneProgram::keep(const Storage& storage, const Slot& slot, const LaneValue& value) {
  if (storage.own.valid()) store(own_address(storage, slot.number), value, {});
  if (storage.shared.valid())
    by_owner(storage.layout, [&] { store(shared_address(storage, slot.index), value, slot.present); });
}

LaneValue LaneProgram::read_own(const Storage& storage, Value slot_number) { return load(own_address(storage, slot_number), {}, {}); }

LaneValue LaneProgram::read_shared(const Storage& storage, const Index& squeezed, const LaneValue& present) {
  return load(shared_address(storage, squeezed), present, {});
}

/// What the lanes of the current slot see of a kept tile. An element that all of them see is read if the first lane is present:
/// its indices are the lowest of the slot, so no other one is present without it.
LaneValue LaneProgram::read_elsewhere(const Storage& storage, const Index& squeezed) {
  LaneMath m = math(pass_->layout);
  LaneValue address = shared_address(storage, squeezed), present = pass_->slot->present;
  bool is_one = address.is_uniform() && !is_always(present) && !present.is_uniform();
  return load(address, is_one ? m.uniform(m.first_lane(present)) : present, {});
}

}  // namespace strider::pass
