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
  auto same = std::ranges::find_if(entries_, [&](const Entry& e) { return e.kind == kind && e.statement == statement; });
  if (same == entries_.end()) return static_cast<int64_t>(entries_.size()) < limit_;
  ++same->repeats;
  return false;
}

namespace {
/// The multi-index of a linear one; the last axis is the fastest unless `first_fastest`.
std::string index_text(const Shape& shape, int64_t linear, bool first_fastest) {
  std::vector<int64_t> index(shape.rank());
  for (int k = 0; k < shape.rank(); ++k) {
    const int axis = first_fastest ? k : shape.rank() - 1 - k;
    index[axis] = linear % shape[axis];
    linear /= shape[axis];
  }
  return fmt::format("({})", fmt::join(index, ", "));
}
}  // namespace

std::string Reports::program_text(int64_t linear) const {
  return "program " + index_text({grid_[0], grid_[1], grid_[2]}, linear, true);
}

std::string Reports::actor_text(Value statement, Actor actor) const {
  std::string text = program_text(program_);
  if (function_.threads > 0 && actor.thread >= 0) text += fmt::format(", thread {}", actor.thread);
  if (actor.lane < 0) return text;
  const Shape shape = accessed_type(function_, statement).shape;
  return shape.rank() == 0 ? text : text + fmt::format(", lane {}", index_text(shape, actor.lane, false));
}

void Reports::tell(ReportKind kind, Value statement, Actor actor, const std::string& what) {
  std::string text = fmt::format("kernel {}: {}: {}; {}", function_.name, statement_text(function_, statement), what,
                                 actor_text(statement, actor));
  entries_.push_back({kind, statement, std::move(text)});
}

void Reports::add_argument(const std::string& text) {
  if (static_cast<int64_t>(entries_.size()) < limit_)
    entries_.push_back({ReportKind::Misuse, Value{}, fmt::format("kernel {}: {}", function_.name, text)});
}

std::vector<Report> Reports::take() {
  std::vector<Report> reports;
  for (Entry& e : entries_) {
    if (e.repeats > 0) e.text += fmt::format("; {} more like it", e.repeats);
    reports.push_back({e.kind, std::move(e.text)});
  }
  entries_.clear();
  return reports;
}

}  // namespace strider::interp
