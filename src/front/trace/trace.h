// SPDX-License-Identifier: Apache-2.0
// A function being traced: the thread's current one, into which every operation on a strider::Value writes.
//
// The operations themselves are those of front/lang; here values become terms and nodes become values:
//
//   Value flip(const Operand& x, int axis) { return write(x.where, front::flip, x, axis); }
//
// Values are checked where they come back in: they must belong to this trace, and to a body that is still open. Errors are
// told with the name of what is traced and the line of the user's source.
#pragma once

#include <array>
#include <functional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <strider/tile.h>

#include "base/deep_stack.h"
#include "base/making.h"
#include "front/lang/writer.h"

namespace strider::front {

class Trace : public Writer {
 public:
  /// Becomes the thread's current trace until it is destroyed. `what` is "kernel" or "operator".
  Trace(std::string what, std::string name, const Dialect& dialect = kTileDialect);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// The trace of this thread; a user error when there is none.
  static Trace& current();
  /// The dialect of the current trace, that of kernels if there is none.
  static const Dialect& current_dialect();

  Value wrap(const Term& term);
  /// A value as an operand of operations; an error if it is not usable here.
  Term term(const Value& v) const;
  using Writer::node;
  ir::Value node(const Value& v) { return node(term(v)); }

  /// Runs `f` with `where` as the place of what it writes and of its errors (Writer::at).
  template <class F>
  decltype(auto) at(const std::source_location& where, F&& f);

  /// Runs a function of the user's, on a stack that bears any recursion which ends; gives what it returns.
  template <class F>
  static decltype(auto) run_body(F&& f) {
    return on_deep_stack([&]() -> decltype(auto) {
      const Making::Body in_body;
      return f();
    });
  }

  /// The program. A user error if a body was left open by an exception.
  ir::Function finish();

  /// Whether integer operations that are handed out may wrap; gives what was so before.
  bool set_may_wrap(bool may_wrap) { return std::exchange(may_wrap_, may_wrap); }

  // --- of constructs (construct.h)
  bool looking = false;  // for what bodies assign; all that is written will be taken back if they do
  bool found = false;    // an assignment

 private:
  void check_sound() const;

  uint64_t serial_;
  Trace* outer_;
  bool may_wrap_ = false;
  bool is_torn_ = false;  // an exception has left a body open
};

inline Span span_of(const std::source_location& where) {
  return {where.file_name(), static_cast<int>(where.line()), static_cast<int>(where.column())};
}

template <class F>
decltype(auto) Trace::at(const std::source_location& where, F&& f) {
  if (has_place()) return f();
  const size_t bodies = open_bodies().size();
  try {
    return Writer::at(span_of(where), [&]() -> decltype(auto) {
      check_sound();
      return f();
    });
  } catch (...) {
    is_torn_ |= open_bodies().size() != bodies;
    throw;
  }
}

/// The dtype that a literal has on its own, in the current trace or in a kernel.
DType literal_dtype(const detail::Handle& literal);

ir::Shape shape_of(const Dims& dims);

// --- values in, values out

/// Sizes and axes as operations take them. They are checked when the operation is called.
struct Numbers {
  const Dims& dims;
  operator ir::Shape() const { return shape_of(dims); }
  operator std::span<const int64_t>() const { return {dims.data(), static_cast<size_t>(dims.rank())}; }
};

template <class A>
decltype(auto) as_argument(const Trace& trace, const A& a) {
  if constexpr (std::derived_from<A, Value>) return trace.term(a);
  else if constexpr (std::same_as<A, Operand>) return trace.term(a.value);
  else if constexpr (std::derived_from<A, tl::Pointer>) return trace.term(a.raw());
  else if constexpr (std::same_as<A, Dims>) return Numbers{a};
  else return (a);
}

inline Value as_value(Trace& trace, const Term& t) { return trace.wrap(t); }
template <class T>
std::pair<Value, Value> as_value(Trace& trace, const std::pair<T, T>& terms) {
  return {trace.wrap(terms.first), trace.wrap(terms.second)};
}
template <class T, size_t N>
std::array<Value, N> as_value(Trace& trace, const std::array<T, N>& terms) {
  std::array<Value, N> values;
  for (size_t k = 0; k < N; ++k) values[k] = trace.wrap(terms[k]);
  return values;
}
inline detail::Values as_value(Trace& trace, const std::vector<ir::Value>& nodes) {
  detail::Values values;
  for (ir::Value v : nodes) values.push_back(trace.wrap(v));
  return values;
}

/// Calls an operation of front/lang at `where`: values, operands and pointers go in as terms, other arguments as they are; its
/// terms and nodes come out as values.
template <class Operation, class... A>
auto write(const std::source_location& where, Operation&& operation, const A&... args) {
  Trace& trace = Trace::current();
  auto call = [&] { return operation(static_cast<Writer&>(trace), as_argument(trace, args)...); };
  return trace.at(where, [&] {
    if constexpr (std::is_void_v<decltype(call())>) call();
    else return as_value(trace, call());
  });
}

}  // namespace strider::front
