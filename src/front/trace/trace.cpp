// SPDX-License-Identifier: Apache-2.0
#include "front/trace/trace.h"

#include <algorithm>
#include <atomic>

namespace strider::front {
namespace {

thread_local Trace* current_trace = nullptr;
std::atomic<uint64_t> last_serial{0};

using Handle = detail::Handle;
// Each by the kind of the other.
constexpr Literal::Kind kLiterals[] = {{}, {}, Literal::Bool, Literal::Int, Literal::Unsigned, Literal::Float};
constexpr Handle::Kind kHandles[] = {Handle::Bool, Handle::Int, Handle::Unsigned, Handle::Float};

Literal literal_of(const Handle& h) { return {kLiterals[h.kind], h.bits}; }
Handle handle_of(const Literal& literal) { return {kHandles[literal.kind], 0, literal.bits, 0}; }

}  // namespace

DType literal_dtype(const detail::Handle& literal) { return dtype_of(literal_of(literal), Trace::current_dialect()); }

Trace::Trace(std::string what, std::string name, const Dialect& dialect)
    : Writer(std::move(what), std::move(name), dialect), serial_(++last_serial), outer_(current_trace) {
  current_trace = this;
}

/// A function of the user's that calls itself for ever writes operations for ever, deeper and deeper.
void Trace::check_sound() const {
  if (is_deep_stack_short())
    user_error("the stack is nearly used up: a function of the body calls itself without end; C++'s if cannot stop it by a run-time "
               "value: loop with tl::range or tl::while_, or count down a tl::Constexpr");
  if (is_torn_)
    user_error("an exception came out of a body (of if_, range, while_, reduce) and was caught: it must leave the kernel, since what it "
               "broke off cannot be taken up again");
}

ir::Function Trace::finish() {
  if (is_torn_) Writer::at(place(), [&] { check_sound(); });
  return Writer::finish();
}

Trace::~Trace() { current_trace = outer_; }

Trace& Trace::current() {
  if (!current_trace) user_error("a value can be used only while its kernel or operator is traced");
  return *current_trace;
}

const Dialect& Trace::current_dialect() { return current_trace ? current_trace->dialect() : kTileDialect; }

Value Trace::wrap(const Term& term) {
  if (term.is_literal()) return Value(handle_of(term.literal()));
  ir::Value v = term.node();
  if (may_wrap_ && ir::is_pointwise(b.function()[v].op) && !type(v).is_pointer() && is_int(type(v).dtype))
    b.set_flags(v, b.function()[v].flags | ir::kMayWrap);
  return Value(detail::Handle{detail::Handle::Node, v.id, serial_, open_bodies().back()});
}

Term Trace::term(const Value& v) const {
  if (v.is_empty()) return {};
  if (v.is_literal()) return literal_of(v.handle());
  if (v.handle().bits != serial_) user_error("a value of another kernel or operator is used");
  if (std::find(open_bodies().begin(), open_bodies().end(), v.handle().body) == open_bodies().end())
    user_error("a value is used outside of the body (of if_, range, while_, reduce) that made it: return it from the body, or assign it to one that is declared outside");
  return ir::Value{v.handle().node};
}

ir::Shape shape_of(const Dims& dims) { return ir::Shape(std::span(dims.data(), static_cast<size_t>(dims.rank()))); }

}  // namespace strider::front

namespace strider {
inline namespace v0 {
namespace detail {

Wrapping::Wrapping() : trace_(&front::Trace::current()), before_(static_cast<front::Trace*>(trace_)->set_may_wrap(true)) {}
Wrapping::~Wrapping() { static_cast<front::Trace*>(trace_)->set_may_wrap(before_); }

}  // namespace detail
}  // namespace v0
}  // namespace strider
