// SPDX-License-Identifier: Apache-2.0
// If, for and while over threads that may go different ways.
#include <algorithm>

#include <fmt/format.h>

#include "backend/interp/machine.h"
#include "ir/semantics.h"

namespace strider::interp {

using ir::Value;

void run_if(Machine& m, Value v) {
  const Slots condition = m.in(m.function.operand(v, 0));
  for (int branch = 0; branch < 2; ++branch) {
    Narrowed threads(m);
    if (!threads.keep([&](int64_t t) { return (condition.at(t) != 0) == (branch == 0); })) continue;
    const ir::RegionId region = m.function.region_of(v, branch);
    m.run(region);
    const std::span<const Value> results = m.values.results(v);
    m.assign(results, m.yields(region).first(results.size()));
  }
}

namespace {

/// How often a thread's loop runs, from exact arithmetic: bounds near the end of the type do not wrap.
int64_t trip_count(Wide lo, Wide hi, Wide step) {
  if (hi <= lo || step < 1) return 0;
  return static_cast<int64_t>(std::min<Wide>((hi - lo + step - 1) / step, INT64_MAX));
}

struct Bounds {
  Slots lo, step;
  DType dtype;
  std::vector<int64_t> trips;  // by thread
  uint64_t index(int64_t thread, int64_t trip) const {
    return ir::bits_of_int(dtype, static_cast<int64_t>(lo.at(thread) + static_cast<uint64_t>(trip) * step.at(thread)));
  }
};

Bounds bounds_of(Machine& m, Value v) {
  const auto operand = [&](int k) { return m.in(m.function.operand(v, k)); };
  Bounds b{operand(0), operand(2), m.function.type(m.function.operand(v, 0)).dtype, std::vector<int64_t>(m.context.width)};
  const Slots hi = operand(1);
  for (int64_t t = 0; t < m.context.width; ++t) {
    if (!m.context.is_active(t)) continue;
    const Wide step = wide_of_bits(b.dtype, b.step.at(t));
    b.trips[t] = trip_count(wide_of_bits(b.dtype, b.lo.at(t)), wide_of_bits(b.dtype, hi.at(t)), step);
    if (step < 1)
      m.reports.add(ReportKind::Misuse, v, {.thread = t},
                    [&] { return fmt::format("the step is {}, it must be above 0", static_cast<int64_t>(step)); });
  }
  return b;
}

}  // namespace

void run_for(Machine& m, Value v) {
  const Machine::InLoop here(m, v);
  const ir::RegionId body = m.function.region_of(v, 0);
  const Bounds bounds = bounds_of(m, v);
  const std::span<const Value> params = m.function.region(body).params;
  const std::span<const Value> carried = params.subspan(1);
  m.assign(carried, m.function.operands(v).subspan(3));
  Narrowed threads(m);
  uint64_t* index = m.out(params[0]);
  for (int64_t trip = 0; threads.keep([&](int64_t t) { return trip < bounds.trips[t]; }); ++trip) {
    for (int64_t t = 0; t < m.context.width; ++t) index[t] = bounds.index(t, trip);
    m.run(body);
    m.assign(carried, m.yields(body));
  }
}

void run_while(Machine& m, Value v) {
  const Machine::InLoop here(m, v);
  const ir::RegionId test = m.function.region_of(v, 0), body = m.function.region_of(v, 1);
  const std::span<const Value> carried = m.function.region(body).params;
  m.assign(carried, m.function.operands(v));
  Narrowed threads(m);
  while (true) {
    m.run(test);
    const Slots go_on = m.in(m.yields(test)[0]);
    if (!threads.keep([&](int64_t t) { return go_on.at(t) != 0; })) return;
    m.run(body);
    m.assign(carried, m.yields(body));
  }
}

}  // namespace strider::interp
