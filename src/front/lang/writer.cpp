// SPDX-License-Identifier: Apache-2.0
#include "front/lang/writer.h"

#include <cstdio>

#include "ir/promote.h"

namespace strider::front {

const Dialect kTileDialect{ir::promote_tile, DType::I32, DType::F32, true};

Dialect operator_dialect(DType computed) {
  bool is_double = computed == DType::F64;
  return {ir::promote_operator, is_int(computed) ? computed : DType::I64, is_double ? DType::F64 : DType::F32};
}

DType dtype_of(const Literal& literal, const Dialect& dialect) {
  switch (literal.kind) {
    case Literal::Bool: return DType::Bool;
    case Literal::Float: return dialect.literal_float;
    case Literal::Int: return literal.fits(dialect.literal_int) ? dialect.literal_int : DType::I64;
    case Literal::Unsigned: return DType::U64;
  }
  internal_error("no kind of literal {}", static_cast<int>(literal.kind));
}

Writer::Writer(std::string what, std::string name, const Dialect& dialect)
    : b(name, ir::kMostWritten), what_(std::move(what)), name_(std::move(name)), dialect_(dialect) {}

// --- terms

ir::Value Writer::known(const Term& term) const {
  if (term.is_empty()) user_error("a value that was never given one is used");
  return term.node();
}

ir::Value Writer::node(const Term& term, DType dtype) {
  return term.is_literal() ? constant(term.literal(), dtype) : b.cast(known(term), dtype);
}

ir::Value Writer::constant(const Literal& literal, DType dtype) {
  if (!literal.fits(dtype)) user_error("the literal {} does not fit {}", to_string(literal), name_of(dtype));
  return b.constant_bits(ir::Type::scalar(dtype), literal.bits_in(dtype));
}

ir::Value Writer::node_for(const Term& term, const ir::Type& wanted) {
  ir::Value v = node_for(term, wanted.dtype);
  const ir::Type found = type(v);
  return found.is_scalar() && !found.is_pointer() ? b.broadcast(v, wanted.shape) : v;
}

// --- places

void Writer::set_place(const Span& place) {
  if (place.line == 0) return;
  place_ = place;
  b.set_span(place);
}

void Writer::fail(const Error& error, const Span& place) const {
  std::string text = place.line > 0 ? fmt::format(" ({})", to_string(place)) : "";
  throw Error(error.kind(), fmt::format("{} {}{}: {}", what_, name_, text, error.what()), true);
}

// --- bodies

void Writer::enter() {
  if (open_.size() > kMostNested)
    user_error("bodies (of if_, range, while_, reduce) and return_if nest more than {} deep: turn the outer ones into a loop",
               kMostNested);
  open_.push_back(++last_body_);
  outer_places_.push_back(place_);
  placed_ = false;
}

void Writer::leave() {
  open_.pop_back();
  set_place(outer_places_.back());
  outer_places_.pop_back();
  placed_ = true;
}

void Writer::rollback(const Mark& mark) {
  b.rollback(mark.program);
  effects = mark.effects;
  open_.resize(mark.bodies);
  outer_places_.resize(mark.outer_places);
  place_ = mark.place;
  operations_ = mark.operations;
  placed_ = true;
}

void Writer::say(std::string line) {
  effects.lines.push_back(std::move(line));
  if (is_at_kernel_level()) say_all();
}

void Writer::say_all() {
  for (const std::string& line : effects.lines) fmt::print("{}\n", line);
  if (!effects.lines.empty()) std::fflush(stdout);
  effects.lines.clear();
}

void Writer::return_if(ir::Value condition, const std::function<void()>& last) {
  if (!is_at_kernel_level())
    user_error("return_if stands inside a body: it can end the program only at the level of the kernel");
  if (open_.size() > kMostNested) user_error("there are more than {} return_if: join their conditions with |", kMostNested);
  ir::Value owner = b.open(ir::Op::If, {{condition}}, 0, ir::Type::none(), 2);
  b.begin_region(owner, 0, {});
  if (last) last();
  b.yield({});
  b.end_region();
  b.begin_region(owner, 1, {});
  open_.push_back(++last_body_);
  ++returns_;
}

ir::Function Writer::finish() {
  say_all();
  for (; returns_ > 0; --returns_) {
    b.yield({});
    b.end_region();
    open_.pop_back();
  }
  return b.finish();
}

}  // namespace strider::front
