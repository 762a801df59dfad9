// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics: the walk over threads and lanes, under the context and the mask.
#include <fmt/format.h>

#include "backend/interp/machine.h"

namespace strider::interp {

using ir::Function;
using ir::Op;
using ir::Value;

namespace {

constexpr uint64_t kTrue = 1, kZero = 0;

/// The lanes of one memory statement in order: threads first, then lanes.
struct Lanes {
  Machine& m;
  const Site& site;
  Slots pointer, mask;
  int64_t lanes;
  int64_t block_bytes;  // between lanes of a block access; 0: each lane has its own pointer

  Lanes(Machine& machine, Value v, int mask_operand)
      : m(machine), site(m.memory.site(v)), pointer(m.in(m.function.operand(v, 0))), mask(m.in_or(v, mask_operand, kTrue)),
        lanes(accessed_type(m.function, v).elements()), block_bytes(is_block(m.function[v].op) ? site.bytes : 0) {}

  static bool is_block(Op op) { return op == Op::LoadBlock || op == Op::StoreBlock; }
  uint64_t address(int64_t thread, int64_t lane) const {
    return block_bytes ? pointer.at(thread) + static_cast<uint64_t>(lane * block_bytes) : pointer.at(thread * lanes + lane);
  }
  /// Calls `visit(i, actor, is_on)` for the lanes of active threads, where i is the slot.
  template <class Visit>
  void each(Visit&& visit) const {
    for (int64_t t = 0; t < m.context.width; ++t) {
      if (!m.context.is_active(t)) continue;
      for (int64_t k = 0; k < lanes; ++k) {
        const int64_t i = t * lanes + k;
        visit(i, Actor{t, k}, mask.at(i) != 0);
      }
    }
  }
  /// Whether addresses of the lanes that are on rise by at least an element: no two lanes touch one byte.
  bool ascending() const {
    bool rising = true;
    uint64_t next = 0;
    each([&](int64_t, Actor at, bool on) {
      if (!on) return;
      const uint64_t here = address(at.thread, at.lane);
      rising &= here >= next;
      next = here + static_cast<uint64_t>(site.bytes);
    });
    return rising;
  }
};

/// A block's pointer must have the alignment that the statement claims, in threads with a lane that is on.
void check_alignment(const Lanes& lanes, Value v) {
  const uint64_t align = uint64_t{1} << (lanes.m.function[v].imm >> ir::kAlignShift & 255);
  if (lanes.block_bytes == 0 || align == 1) return;
  lanes.each([&](int64_t, Actor at, bool on) {
    const uint64_t pointer = lanes.pointer.at(at.thread);
    if (!on || pointer % align == 0) return;
    lanes.m.reports.add(ReportKind::Misuse, v, {at.thread, -1},
                        [&] { return fmt::format("address {:#x} is not aligned to {} bytes as claimed", pointer, align); });
  });
}

}  // namespace

void run_load(Machine& m, Value v) {
  const Lanes lanes(m, v, 1);
  const Slots other = m.in_or(v, 2, kZero);
  uint64_t* out = m.out(v);
  check_alignment(lanes, v);
  lanes.each([&](int64_t i, Actor at, bool on) {
    out[i] = on ? m.memory.load(lanes.site, at, lanes.address(at.thread, at.lane)) : other.at(i);
  });
}

void run_store(Machine& m, Value v) {
  const Lanes lanes(m, v, 2);
  const Slots value = m.in(m.function.operand(v, 1));
  check_alignment(lanes, v);
  const bool may_repeat = m.function.threads == 0 && !lanes.ascending();
  if (may_repeat) m.memory.begin_lanes();
  lanes.each([&](int64_t i, Actor at, bool on) {
    if (!on) return;
    const uint64_t address = lanes.address(at.thread, at.lane);
    if (may_repeat) m.memory.claim_lane(lanes.site, at, address, value.at(i));
    m.memory.store(lanes.site, at, address, value.at(i));
  });
}

void run_atomic(Machine& m, Value v) {
  const ir::Node& node = m.function[v];
  const Lanes lanes(m, v, ir::mask_operand(node.op, node.imm));
  const Slots value = m.in(m.function.operand(v, 1));
  const Slots compare = ir::is_compare_exchange(node.op, node.imm) ? m.in(m.function.operand(v, 2)) : value;
  uint64_t* out = m.out(v);
  lanes.each([&](int64_t i, Actor at, bool on) {
    const uint64_t address = on ? lanes.address(at.thread, at.lane) : 0;
    out[i] = on ? m.memory.atomic(ir::atomic_kind(node.imm), lanes.site, at, address, value.at(i), compare.at(i)) : 0;
  });
}

}  // namespace strider::interp
