// SPDX-License-Identifier: Apache-2.0
#include "backend/interp/lane.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/interp/machine.h"
#include "base/error.h"

namespace strider::interp {

using ir::Op;
using ir::Value;

namespace {

void run_extract(Machine& m, Value v) {
  if (m.values[v].uniform) return;  // a view of the one slot
  const Place& from = m.values[m.function.operand(v, 0)];
  uint64_t* out = m.out(v);
  for (int64_t t = 0; t < m.context.width; ++t) out[t] = from.data[t * from.lanes + m.function[v].imm];
}

void run_shuffle(Machine& m, Value v) {
  const Value a = m.function.operand(v, 0), b = m.function.operand(v, 1);
  const int64_t a_lanes = m.values[a].lanes, b_lanes = m.values[b].lanes;
  const Slots from_a = m.in(a), from_b = m.in(b);
  const auto lane_of = [&](int64_t t, int64_t lane) {
    return lane < a_lanes ? from_a.at(t * a_lanes + lane) : from_b.at(t * b_lanes + lane - a_lanes);
  };
  uint64_t* out = m.out(v);
  for (int64_t t = 0; t < m.context.width; ++t)
    for (int64_t lane : m.function.table(v)) *out++ = lane_of(t, lane);
}

/// The first thread of [begin, end) that is not active, or -1.
int64_t first_missing(const Machine& m, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t)
    if (!m.context.is_active(t)) return t;
  return -1;
}

void check_all_arrive(Machine& m, Value v) {
  if (m.context.all()) return;
  m.reports.add(ReportKind::DivergentBarrier, v, {}, [&] {
    return fmt::format("reached by {} of {} threads, thread {} is missing", m.context.live, m.context.width,
                       first_missing(m, 0, m.context.width));
  });
}

void run_barrier(Machine& m, Value v) {
  check_all_arrive(m, v);
  m.memory.barrier();
}

void check_warp_arrives(Machine& m, Value v, int64_t begin) {
  const int64_t end = std::min<int64_t>(begin + m.options.warp, m.context.width);
  const int64_t missing = first_missing(m, begin, end);
  int64_t arrived = 0;
  for (int64_t t = begin; t < end; ++t) arrived += m.context.is_active(t);
  if (missing < 0 || arrived == 0) return;
  m.reports.add(ReportKind::DivergentBarrier, v, {}, [&] {
    return fmt::format("reached by a part of the warp of threads {} to {}, thread {} is missing", begin, end - 1, missing);
  });
}

/// The thread that `thread` reads from; itself, with a report, where that would be none of its warp.
int64_t partner_of(Machine& m, Value v, int64_t thread) {
  const int64_t partner = thread ^ m.function[v].imm;
  if (partner >= 0 && partner < m.context.width && partner / m.options.warp == thread / m.options.warp) return partner;
  m.reports.add(ReportKind::Misuse, v, {.thread = thread}, [&] {
    return fmt::format("the partner, thread {}, is not in the warp; warps have {} threads", partner, m.options.warp);
  });
  return thread;
}

void run_exchange(Machine& m, Value v) {
  for (int64_t warp = 0; warp < m.context.width && !m.context.all(); warp += m.options.warp) check_warp_arrives(m, v, warp);
  const Slots from = m.in(m.function.operand(v, 0));
  const int64_t lanes = m.values[v].lanes;
  uint64_t* out = m.out(v);
  for (int64_t t = 0; t < m.context.width; ++t) {
    const int64_t partner = partner_of(m, v, t);
    for (int64_t k = 0; k < lanes; ++k) *out++ = from.at(partner * lanes + k);
  }
}

Handlers lane_handlers() {
  Handlers table = common_handlers();
  const auto set = [&](Op op, Handler handler) { table[static_cast<int>(op)] = handler; };
  for (Op op : {Op::ThreadId, Op::Alloc, Op::Vector}) set(op, run_nothing);
  set(Op::LoadBlock, run_load);
  set(Op::StoreBlock, run_store);
  set(Op::Extract, run_extract);
  set(Op::Shuffle, run_shuffle);
  set(Op::Exchange, run_exchange);
  set(Op::Phase, check_all_arrive);
  set(Op::Barrier, run_barrier);
  return table;
}

}  // namespace

std::vector<Report> interpret_lanes(const ir::Function& f, const Grid& grid, std::span<const uint64_t> args,
                                    const InterpOptions& options) {
  static const Handlers table = lane_handlers();
  if (f.threads < 1) user_error("kernel {} is in tile form, the lane interpreter takes lane form", f.name);
  return Machine(f, table, f.threads, grid, args, options).run_all();
}

}  // namespace strider::interp
