// SPDX-License-Identifier: Apache-2.0
// Where operations of the language write: a builder, the dialect, and the place in the user's source.
//
// Every operation in this folder is a function of a writer and terms. Whoever reads a user's program, be it the C++ handles of
// front/trace or a parser, says the place and calls it:
//
//   writer.at(span, [&] { return front::load(writer, pointer, mask, other); });
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "front/lang/effects.h"
#include "front/lang/term.h"
#include "ir/builder.h"

namespace strider::front {

/// Where the language of operators and that of kernels differ.
struct Dialect {
  DType (*promote)(DType, DType);         // the common dtype of two values
  DType literal_int, literal_float;       // of literals that meet no value
  bool is_tile = false;                   // the language of kernels
};
/// PyTorch's rule; literals have the operator's dtype if it is of their category.
Dialect operator_dialect(DType computed);
/// Triton's rule; i32 and f32.
extern const Dialect kTileDialect;

/// The dtype that a literal has on its own: that of the dialect if it fits, else i64 or u64.
DType dtype_of(const Literal& literal, const Dialect& dialect);

class Writer {
 public:
  /// `what` is "kernel" or "operator".
  Writer(std::string what, std::string name, const Dialect& dialect = kTileDialect);

  // --- terms
  const Dialect& dialect() const { return dialect_; }
  DType promote(DType a, DType b) const { return dialect_.promote(a, b); }
  /// The element type; a literal has the one it would get on its own.
  DType dtype_of(const Term& term) const {
    return term.is_literal() ? front::dtype_of(term.literal(), dialect_) : b.type(known(term)).dtype;
  }
  /// The node of a term; a literal becomes a constant of the dtype that it has on its own. A user error if it is empty.
  ir::Value node(const Term& term) { return node_for(term, dtype_of(term)); }
  /// The node of a term converted to `dtype`, which a literal must fit.
  ir::Value node(const Term& term, DType dtype);
  /// A literal as a constant of `dtype`; an error that names the literal if it does not fit.
  ir::Value constant(const Literal& literal, DType dtype);
  /// A term for a place of this dtype: a literal takes it, a node stays what it is.
  ir::Value node_for(const Term& term, DType dtype) { return term.is_literal() ? constant(term.literal(), dtype) : known(term); }
  /// A term for a place of this type: a literal takes its dtype, a scalar its shape. The node's type may still be another.
  ir::Value node_for(const Term& term, const ir::Type& wanted);
  const ir::Type& type(ir::Value v) const { return b.type(v); }
  /// The shape of a term, that of a literal is a scalar's.
  ir::Shape shape_of(const Term& term) const { return term.is_node() ? b.type(term.node()).shape : ir::Shape(); }

  // --- places
  /// Runs `f` with `place` as that of what it writes and of its errors. Operations that `f` makes itself, other than in a
  /// user's body, belong to that place, too.
  template <class F>
  decltype(auto) at(const Span& place, F&& f);
  bool has_place() const { return placed_; }
  /// The user's place that is being written.
  const Span& place() const { return place_; }
  /// How many operations with a place of their own were written in the body that is open.
  int64_t operations() const { return operations_; }
  [[noreturn]] void fail(const Error& error, const Span& place) const;

  // --- bodies
  /// Brackets a body of the user's: what is made inside cannot be used outside.
  void enter();
  void leave();
  /// Ends the program if the condition holds, after what `last` writes.
  void return_if(ir::Value condition, const std::function<void()>& last = {});
  bool is_at_kernel_level() const { return static_cast<int>(open_.size()) == 1 + returns_; }
  /// Serial numbers of the open bodies; 1 is the whole program.
  const std::vector<uint32_t>& open_bodies() const { return open_; }

  /// A body may be written more than once: `rollback` takes everything back that was written since the mark, effects and open
  /// bodies included, and says that an operation is being written again.
  struct Mark {
    ir::Builder::Mark program;
    Effects effects;
    size_t bodies, outer_places;
    Span place;
    int64_t operations;
  };
  Mark mark() const { return {b.mark(), effects, open_.size(), outer_places_.size(), place_, operations_}; }
  void rollback(const Mark& mark);

  /// Prints a line on standard output, as soon as it is sure that the body that says it stays.
  void say(std::string line);
  void say_all();  // what waits

  const std::string& name() const { return name_; }

  ir::Function finish();

  ir::Builder b;
  Effects effects;     // prints, assertions and taps so far
  TapRequest request;  // which taps become code

 private:
  ir::Value known(const Term& term) const;  // of one that is no literal
  void set_place(const Span& place);
  static constexpr size_t kMostNested = 200;

  std::string what_, name_;
  Dialect dialect_;
  std::vector<uint32_t> open_{1};
  uint32_t last_body_ = 1;
  int returns_ = 0;      // else-regions that stay open to the end
  int64_t operations_ = 0;
  bool placed_ = false;  // an operation is being written; `place_` is the user's
  Span place_;
  std::vector<Span> outer_places_;  // of the operations whose bodies are open
};

template <class F>
decltype(auto) Writer::at(const Span& place, F&& f) {
  if (placed_) return f();
  struct Leave {
    bool& placed;
    ~Leave() { placed = false; }
  } leave{placed_};
  placed_ = true;
  ++operations_;
  set_place(place);
  try {
    return f();
  } catch (const Error& error) {
    if (error.is_placed()) throw;
    fail(error, place);
  }
}

}  // namespace strider::front
