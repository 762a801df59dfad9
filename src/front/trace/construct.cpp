// SPDX-License-Identifier: Apache-2.0
#include "front/trace/construct.h"

#include <algorithm>
#include <atomic>

namespace strider {
inline namespace v0 {
namespace detail {

/// What only constructs see of a Value.
struct ValueState {
  static Handle& handle(Value& v) { return v.handle_; }
  static uint64_t born(const Value& v) { return v.born_; }
  static void set_assigned(Value& v) { v.assigned_ = true; }
};

}  // namespace detail
}  // namespace v0

namespace front {

using detail::Handle;
using detail::Values;
using detail::ValueState;
using ir::Builder;

namespace {

thread_local Construct* innermost = nullptr;
std::atomic<uint64_t> last_serial{0};

}  // namespace

Construct::Construct(Trace& trace, std::string_view what)
    : trace_(trace), what_(what), place_(trace.place()), outer_(innermost), serial_(++last_serial) {
  innermost = this;
}

Construct::~Construct() { innermost = outer_; }

bool Construct::is_outermost() const {
  for (const Construct* c = outer_; c && &c->trace_ == &trace_; c = c->outer_)
    if (c->runs_) return false;
  return true;
}

template <class... A>
void Construct::fail(const Span& place, fmt::format_string<A...> text, A&&... args) const {
  trace_.fail(Error(ErrorKind::User, fmt::format(text, std::forward<A>(args)...)), place);
}

// --- what is assigned

void Construct::note(Value& object) {
  if (!refused_.empty())
    fail(trace_.place(), "{} assigns a value from outside: it may only compute what it returns", refused_);
  auto known = std::find_if(assigned_.begin(), assigned_.end(), [&](const Assigned& a) { return a.object == &object; });
  if (known == assigned_.end()) {
    assigned_.push_back({&object, object.handle(), {}, {}, false, false});
    known = assigned_.end() - 1;
  }
  known->seen = known->in_branch = true;
  known->place = trace_.place();
  ValueState::set_assigned(object);
  trace_.found = true;
}

void Construct::note_end(const Value& object) {
  for (Assigned& a : assigned_)
    if (a.object == &object) a.object = nullptr;
}

void Construct::check_alive() const {
  for (const Assigned& a : assigned_)
    if (!a.object)
      fail(a.place,
           "the body of {} (line {}) destroys a value from outside that it assigns: containers do not grow or shrink in bodies", what_,
           place_.line);
}

// --- passes

Values Construct::run(const Write& write) {
  runs_ = true;
  const Writer::Mark start = trace_.mark();
  if (trace_.looking) {
    Values results = pass(write, start);
    settle();
    return results;
  }
  auto done = [&](Values results) {
    if (is_outermost()) trace_.say_all();
    return results;
  };
  int64_t operations = 0;
  {
    struct Look {
      Trace& trace;
      explicit Look(Trace& t) : trace(t) { trace.looking = true, trace.found = false; }
      ~Look() { trace.looking = false; }
    } look(trace_);
    Values results = pass(write, start);
    operations = trace_.operations();
    if (!trace_.found) return done(std::move(results));
  }
  take_back(start);
  carried_ = assigned_.size();
  constexpr size_t kMost = 60;  // operands of a node
  if (carried_ > kMost) fail(place_, "the body of {} assigns {} values from outside, at most {} are possible", what_, carried_, kMost);
  Values results = pass(write, start);
  check_same(operations);
  if (!is_outermost()) return results;
  const ir::Function program = trace_.b.function();
  const Effects effects = trace_.effects;
  take_back(start);
  results = pass(write, start);
  check_same(operations);
  check_program(program, effects);
  return done(std::move(results));
}

Values Construct::pass(const Write& write, const Writer::Mark& start) {
  serial_ = ++last_serial;
  for (Assigned& a : assigned_) a.seen = a.in_branch = false;
  try {
    Values results = write(*this);
    check_alive();
    return results;
  } catch (...) {
    if (is_outermost()) trace_.say_all();
    take_back(start);
    throw;
  }
}

void Construct::take_back(const Writer::Mark& start) {
  for (const Assigned& a : assigned_)
    if (a.object) ValueState::handle(*a.object) = a.before;
  trace_.rollback(start);
}

/// After a look: objects hold something of the type that they will have.
void Construct::settle() {
  for (Assigned& a : assigned_) {
    const Handle& held = branches_ ? a.branch : a.before;
    if (held.kind == Handle::Empty)
      fail(a.place, "the body of {} (line {}) assigns a value from outside that has none before: give it one, or declare it in the body",
           what_, place_.line);
    ValueState::handle(*a.object) = here(held);
  }
}

Handle Construct::here(const Handle& handle) const {
  if (handle.kind != Handle::Node) return trace_.wrap(trace_.node(Value(handle))).handle();
  return trace_.wrap(ir::Value{handle.node}).handle();
}

// --- two traces that differ

namespace {
constexpr std::string_view kRemedy =
    "bodies are traced more than once, so a C++ variable that changes in one must not decide what it writes: use a value of the kernel";
}

void Construct::check_same(int64_t operations) const {
  for (size_t k = 0; k < assigned_.size(); ++k)
    if (k >= carried_ || !assigned_[k].seen)
      fail(assigned_[k].place, "the body of {} (line {}) assigns other values when it is traced again: {}", what_, place_.line, kRemedy);
  if (trace_.operations() != operations)
    fail(place_, "the body of {} holds other operations when it is traced again: {}", what_, kRemedy);
}

void Construct::check_program(const ir::Function& program, const Effects& effects) const {
  const ir::Function& again = trace_.b.function();
  if (again == program && trace_.effects == effects) return;
  Span place = place_;
  for (uint32_t id = 0; id < std::min(program.size(), again.size()); ++id) {
    const ir::Value v{id};
    if (program[v] == again[v]) continue;
    place = again.span(v);
    break;
  }
  fail(place, "the body of {} (line {}) writes something else when it is traced again: {}", what_, place_.line, kRemedy);
}

// --- nodes of what is carried

ir::Value Construct::node_of(const Assigned& a, const Handle& handle, std::string_view problem) const {
  if (handle.kind == Handle::Empty)
    fail(a.place, "the body of {} (line {}) assigns a value from outside that {}: give it one first, or declare it in the body", what_,
         place_.line, problem);
  try {
    return trace_.node(Value(handle));
  } catch (const Error& error) {
    if (error.is_placed()) throw;
    trace_.fail(error, a.place);
  }
}

void Construct::add_initial(Builder::Values& nodes) {
  for (size_t k = 0; k < carried_; ++k) nodes.push_back(node_of(assigned_[k], assigned_[k].before, "has none before the loop"));
}

void Construct::hold(std::span<const ir::Value> nodes) {
  check_alive();
  for (size_t k = 0; k < carried_; ++k) ValueState::handle(*assigned_[k].object) = trace_.wrap(nodes[k]).handle();
}

void Construct::add_next(Builder::Values& nodes, std::span<const ir::Type> types) {
  check_alive();
  for (size_t k = 0; k < carried_; ++k) {
    const Assigned& a = assigned_[k];
    nodes.push_back(node_of(a, a.object->handle(), "has none after an iteration"));
    const ir::Type found = trace_.type(nodes.back());
    if (found != types[k])
      fail(a.place,
           "the body of {} (line {}) assigns a value from outside that is {} before the loop and {} after an iteration; they must agree: "
           "convert with .to(), or start from tl::zeros or tl::full",
           what_, place_.line, to_string(types[k]), to_string(found));
  }
}

void Construct::end_branch(Builder::Values& nodes, std::span<const ir::Type> types) {
  check_alive();
  branches_ = true;
  for (size_t k = 0; k < assigned_.size(); ++k) {
    Assigned& a = assigned_[k];
    Handle& held = ValueState::handle(*a.object);
    if (a.in_branch) a.branch = held;
    a.in_branch = false;
    if (k < carried_) {
      nodes.push_back(node_of(a, held, "has none where the branch does not assign it"));
      const ir::Type found = trace_.type(nodes.back());
      if (!types.empty() && found != types[k])
        fail(a.place, "a value from outside that the bodies of {} (line {}) assign is {} after one and {} after the other; they must agree: "
                      "convert with .to()",
             what_, place_.line, to_string(types[k]), to_string(found));
    }
    held = a.before;
  }
}

detail::Body without_assignments(Trace& trace, std::string_view where, const detail::Body& body) {
  return [&trace, where, &body](const Values& values) {
    Construct construct(trace, where);
    construct.refuse(where);
    return body(values);
  };
}

}  // namespace front

inline namespace v0 {
namespace detail {

uint64_t birthplace() { return front::innermost ? front::innermost->serial() : 0; }

void note_assignment(Value& value) {
  for (front::Construct* c = front::innermost; c && ValueState::born(value) < c->serial(); c = c->outer()) c->note(value);
}

void note_end(Value& value) {
  for (front::Construct* c = front::innermost; c; c = c->outer()) c->note_end(value);
}

}  // namespace detail
}  // namespace v0
}  // namespace strider
