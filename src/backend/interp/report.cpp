// SPDX-License-Identifier: Apache-2.0
#include "backend/interp/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/print.h"

namespace strider::interp {

using ir::Function;
using ir::Op;
using ir::Shape;
using ir::Type;
using ir::Value;

std::string to_string(const std::vector<Report>& reports) {
  std::string text;
  for (const Report& r : reports) text += (text.empty() ? "" : "\n") + r.text;
  return text;
}

Type accessed_type(const Function& f, Value statement) {
  const bool stores = f[statement].op == Op::Store || f[statement].op == Op::StoreBlock;
  if (f[statement].op == Op::Assume) return f.type(f.operand(statement, 0));
  return stores ? f.type(f.operand(statement, 1)) : f.type(statement);
}

std::string statement_text(const Function& f, Value statement) {
  const std::string place = to_string(f.span(statement));
  return fmt::format("`{}`{}", ir::print_statement(f, statement), place.empty() ? "" : " (" + place + ")");
}

std::string value_name(const Function& f, Value v) {
  const std::string text = ir::print_statement(f, v);
  return text.substr(0, text.find(' '));
}

bool Reports::is_new(ReportKind kind, Value statement) {
  auto same = std::ranges::find_if(entries_, [&](const Entry& e) { return e.report.kind == kind && e.statement == statement; });
  if (same == entries_.end()) return static_cast<int64_t>(entries_.size()) < limit_;
  ++same->report.repeats;
  return false;
}

namespace {

/// The multi-index of a linear one; the last axis is the fastest.
std::vector<int64_t> index_of(const Shape& shape, int64_t linear) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (int axis = shape.rank(); axis-- > 0; linear /= shape[axis]) index[static_cast<size_t>(axis)] = linear % shape[axis];
  return index;
}

/// Of a program, whose first axis is the fastest.
std::array<int64_t, 3> program_of(const Grid& grid, int64_t linear) {
  return {linear % grid[0], linear / grid[0] % grid[1], linear / grid[0] / grid[1]};
}

std::string index_text(std::span<const int64_t> index) { return fmt::format("({})", fmt::join(index, ", ")); }

}  // namespace

std::string Reports::program_text(int64_t linear) const { return "program " + index_text(program_of(grid_, linear)); }

std::string Reports::actor_text(const Report& r) const {
  std::string text = program_text(program_);
  if (r.thread >= 0) text += fmt::format(", thread {}", r.thread);
  return r.lane.empty() ? text : text + ", lane " + index_text(r.lane);
}

void Reports::tell(ReportKind kind, Value statement, Actor actor, const Found& found) {
  const Span& span = function_.span(statement);
  Report r;
  r.kind = kind;
  r.kernel = function_.name;
  r.file = span.file;
  r.line = span.line;
  r.statement = ir::print_statement(function_, statement);
  r.program = program_of(grid_, program_);
  if (function_.threads > 0) r.thread = actor.thread;
  if (actor.lane >= 0) r.lane = index_of(found.tile.rank() > 0 ? found.tile : accessed_type(function_, statement).shape, actor.lane);
  r.argument = found.argument;
  r.element = found.element;
  r.text = fmt::format("{} {}: {}: {}; {}", what_, function_.name, statement_text(function_, statement), found.what, actor_text(r));
  entries_.push_back({statement, std::move(r)});
}

void Reports::add_argument(const std::string& text) {
  if (static_cast<int64_t>(entries_.size()) >= limit_) return;
  Report r;
  r.kind = ReportKind::Misuse;
  r.kernel = function_.name;
  r.text = fmt::format("{} {}: {}", what_, function_.name, text);
  entries_.push_back({Value{}, std::move(r)});
}

std::vector<Report> Reports::take() {
  std::vector<Report> reports;
  for (Entry& e : entries_) {
    if (e.report.repeats > 0) e.report.text += fmt::format("; {} more like it", e.report.repeats);
    reports.push_back(std::move(e.report));
  }
  entries_.clear();
  return reports;
}

}  // namespace strider::interp
