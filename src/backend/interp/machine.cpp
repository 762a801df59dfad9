// SPDX-License-Identifier: Apache-2.0
#include "backend/interp/machine.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "backend/interp/lints.h"
#include "base/error.h"
#include "ir/semantics.h"

namespace strider::interp {

using ir::Function;
using ir::Op;
using ir::Type;
using ir::Value;

// --- the launch

namespace {

/// Arguments as slots: the low bytes of the element.
std::vector<uint64_t> slots_of(const Function& f, std::span<const uint64_t> args) {
  if (args.size() != f.params().size())
    user_error("kernel {} takes {} arguments, got {}", f.name, f.params().size(), args.size());
  std::vector<uint64_t> slots(args.begin(), args.end());
  for (size_t k = 0; k < slots.size(); ++k) {
    const Type& type = f.type(f.params()[k]);
    if (!type.is_pointer() && type.bytes() < 8) slots[k] &= (uint64_t{1} << 8 * type.bytes()) - 1;
    if (!type.is_pointer() && type.dtype == DType::Bool) slots[k] = slots[k] != 0;
  }
  return slots;
}

const Grid& checked(const Grid& grid) {
  for (int64_t n : grid)
    if (n < 0) user_error("grid ({}, {}, {}) has a negative size", grid[0], grid[1], grid[2]);
  if (static_cast<double>(grid[0]) * static_cast<double>(grid[1]) * static_cast<double>(grid[2]) >= Conflict::kMany)
    user_error("grid ({}, {}, {}) has too many programs for an interpreter", grid[0], grid[1], grid[2]);
  return grid;
}

const Function& checked(const Function& f) {
  for (uint32_t id = 0; id < f.size(); ++id) {
    const Value v{id};
    if (f[v].op != Op::Alloc || f.type(v).space != ir::Space::Shared) continue;
    const int64_t end = f[v].aux + f[v].imm * size_of(f.type(v).dtype);
    if (end > f.scratch_bytes) user_error("alloc {} ends at byte {}, scratch has {}", value_name(f, v), end, f.scratch_bytes);
  }
  return f;
}

}  // namespace

Machine::Machine(const Function& f, const Handlers& table, int threads, const Grid& programs, std::span<const uint64_t> arguments,
                 const InterpOptions& with)
    : function(checked(f)), handlers(table), options(with), grid(checked(programs)), reports(f, grid, with),
      values(f, threads), args(slots_of(f, arguments)), memory(f, values, args, with, reports) {
  context = {.width = threads, .live = threads};
  for (const auto& helper : f.helpers) helpers.emplace_back(*helper);
  set_arguments();
  if (f.threads == 0 && with.lints.has_lints()) lints = std::make_unique<Lints>(*this);
}

Machine::~Machine() = default;

void Machine::set_arguments() {
  for (size_t k = 0; k < args.size(); ++k) {
    const Value p = function.params()[k];
    const ir::ParamInfo& info = function.param_info(static_cast<int>(k));
    values.set_splat(p, args[k]);
    if (args[k] % static_cast<uint64_t>(std::max<int64_t>(info.divisible, 1)) == 0) continue;
    const Type& type = function.type(p);
    const std::string found =
        type.is_pointer() ? fmt::format("{:#x}", args[k]) : fmt::format("{}", ir::int_of_bits(type.dtype, args[k]));
    reports.add_argument(fmt::format("argument {} is {}, not divisible by {} as declared", info.name, found, info.divisible));
  }
}

std::vector<Report> Machine::run_all() {
  const int64_t programs = grid[0] * grid[1] * grid[2];
  for (int64_t linear = 0; linear < programs; ++linear) run_program(linear);
  return reports.take();
}

void Machine::run_program(int64_t linear) {
  linear_ = linear;
  steps_left_ = options.lints.most_steps > 0 ? options.lints.most_steps : INT64_MAX;
  program = {linear % grid[0], linear / grid[0] % grid[1], linear / grid[0] / grid[1]};
  reports.set_program(linear);
  memory.begin_program(linear);
  run(0);
}

void Machine::stop_endless() const {
  std::string where;
  for (Value loop : loops_) {
    const bool has_condition = function[loop].op == Op::While;  // whose line is nearer than what stands before the loop
    const std::string place = to_string(function.span(has_condition ? function.region(function.region_of(loop, 0)).body[0] : loop));
    where += fmt::format(", in the `{}`{}", name_of(function[loop].op), place.empty() ? "" : " at " + place);
  }
  user_error("{} has run {} statements and has not ended{}; if it would, allow more by STRIDER_STEPS or Interpretation::most_steps",
             reports.program_text(linear_), options.lints.most_steps, where);
}

void Machine::run(ir::RegionId region) {
  const auto& body = function.region(region).body;
  steps_left_ -= static_cast<int64_t>(body.size());
  if (steps_left_ < 0) stop_endless();
  for (Value v : body) {
    const Op op = function[v].op;
    const Handler handler = handlers[static_cast<int>(op)];
    if (!handler)
      user_error("kernel {}: {} has no meaning in {} form", function.name, name_of(op), function.threads > 0 ? "lane" : "tile");
    if (lints) lints->before(v);
    handler(*this, v);
    if (lints) lints->after(v);
  }
}

// --- carried values

void Machine::copy_active(uint64_t* to, Slots from, int64_t lanes) const {
  for (int64_t t = 0; t < context.width; ++t) {
    if (!context.is_active(t)) continue;
    uint64_t* row = to + t * lanes;
    if (from.step == 0) std::fill_n(row, lanes, *from.data);
    else std::copy_n(from.data + t * lanes, lanes, row);
  }
}

void Machine::assign(std::span<const Value> targets, std::span<const Value> sources) {
  if (lints) lints->assign(targets, sources);
  size_t total = 0;
  for (Value v : targets) total += v.valid() ? context.width * values[v].lanes : 0;
  if (staged_.size() < total) staged_.resize(total);
  uint64_t* staged = staged_.data();
  for (size_t k = 0; k < targets.size(); ++k) {
    if (!targets[k].valid()) continue;
    const int64_t lanes = values[targets[k]].lanes;
    copy_active(staged, in(sources[k]), lanes);
    staged += context.width * lanes;
  }
  staged = staged_.data();
  for (Value v : targets) {
    if (!v.valid()) continue;
    copy_active(values[v].data, {staged, 1}, values[v].lanes);
    staged += context.width * values[v].lanes;
  }
}

// --- leaves and pointwise ops

Wide wide_of_bits(DType dtype, uint64_t bits) {
  return dtype == DType::U64 ? static_cast<Wide>(bits) : static_cast<Wide>(ir::int_of_bits(dtype, bits));
}

void run_nothing(Machine&, Value) {}

namespace {

void run_program_id(Machine& m, Value v) { *m.out(v) = static_cast<uint64_t>(m.program[m.function[v].imm]); }
void run_num_programs(Machine& m, Value v) { *m.out(v) = static_cast<uint64_t>(m.grid[m.function[v].imm]); }

/// Checks the promise that an add, sub or mul does not wrap, in the active threads.
void check_no_wrap(Machine& m, Value v) {
  const Slots a = m.in(m.function.operand(v, 0)), b = m.in(m.function.operand(v, 1)), out = m.in(v);
  const DType dtype = m.function.type(v).dtype;
  const Op op = m.function[v].op;
  const Place& place = m.values[v];
  for (int64_t i = 0; i < m.count(v); ++i) {
    const Actor at = place.uniform ? Actor{} : Actor{i / place.lanes, i % place.lanes};
    if (!place.uniform && !m.context.is_active(at.thread)) continue;
    const Wide x = wide_of_bits(dtype, a.at(i)), y = wide_of_bits(dtype, b.at(i));
    const Wide exact = op == Op::Add ? x + y : op == Op::Sub ? x - y : x * y;
    if (exact == wide_of_bits(dtype, out.at(i))) continue;
    m.reports.add(ReportKind::Misuse, v, at, [] { return std::string("wraps, though it is marked as never wrapping"); });
  }
}

/// The slots of a pointwise op's operands.
struct PointwiseArgs {
  PointwiseArgs(const Machine& m, Value v) {
    for (int k = 0; k < m.function[v].operand_count; ++k) {
      const Slots slots = m.in(m.function.operand(v, k));
      data[k] = slots.data;
      steps[k] = slots.step;
    }
  }
  const uint64_t* data[3] = {};
  int steps[3] = {};
};

void run_call(Machine& m, Value v) {
  const PointwiseArgs args(m, v);
  uint64_t* const out[] = {m.out(v)};
  m.helpers[static_cast<size_t>(m.function[v].imm)].run(args.data, args.steps, out, static_cast<size_t>(m.count(v)));
}

void run_pointwise(Machine& m, Value v) {
  const DType dtype = Machine::slot_dtype(m.function.type(m.function.operands(v).back()));
  const DType result = Machine::slot_dtype(m.function.type(v));
  const PointwiseArgs args(m, v);
  ir::evaluate_lanes(m.function[v].op, dtype, result, args.data, args.steps, m.out(v), static_cast<size_t>(m.count(v)));
  if (m.function[v].flags & ir::kNoWrap) check_no_wrap(m, v);
}

void run_ptr_add(Machine& m, Value v) {
  const Slots pointer = m.in(m.function.operand(v, 0)), offset = m.in(m.function.operand(v, 1));
  const DType dtype = m.function.type(m.function.operand(v, 1)).dtype;
  const uint64_t bytes = static_cast<uint64_t>(size_of(m.function.type(v).dtype));
  const int shift = is_signed_int(dtype) ? 64 - 8 * size_of(dtype) : 0;  // to extend the sign
  uint64_t* out = m.out(v);
  const int64_t count = m.count(v);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t elements = static_cast<int64_t>(offset.at(i) << shift) >> shift;
    out[i] = pointer.at(i) + static_cast<uint64_t>(elements) * bytes;
  }
}

}  // namespace

Handlers common_handlers() {
  Handlers table{};
  const auto set = [&](Op op, Handler handler) { table[static_cast<int>(op)] = handler; };
  for (int k = 0; k < ir::kOpCount; ++k)
    if (ir::is_pointwise(ir::op_at(k))) table[k] = run_pointwise;
  for (Op op : {Op::Constant, Op::Arange, Op::Yield, Op::Result}) set(op, run_nothing);
  set(Op::ProgramId, run_program_id);
  set(Op::NumPrograms, run_num_programs);
  set(Op::PtrAdd, run_ptr_add);
  set(Op::Call, run_call);
  set(Op::Broadcast, run_moves);
  set(Op::Load, run_load);
  set(Op::Store, run_store);
  set(Op::Atomic, run_atomic);
  set(Op::For, run_for);
  set(Op::While, run_while);
  set(Op::If, run_if);
  return table;
}

}  // namespace strider::interp
