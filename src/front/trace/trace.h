// SPDX-License-Identifier: Apache-2.0
// A function being traced: the thread's current one, into which every operation on a strider::Value writes.
//
// Values are checked where they come back in: they must belong to this trace, and to a body that is still open. Errors are
// told with the name of what is traced and the line of the user's source.
#pragma once

#include <functional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <strider/tile.h>

#include "base/error.h"
#include "front/trace/effects.h"
#include "ir/builder.h"

namespace strider::front {

/// An error that already names what was traced and where.
class PlacedError : public Error {
 public:
  using Error::Error;
};

/// Where the language of operators and that of kernels differ: the common dtype of two values, and the dtypes of literals that
/// meet no value.
struct Dialect {
  DType (*promote)(DType, DType);
  DType literal_int, literal_float;
};
/// PyTorch's rule; literals have the operator's dtype if it is of their category.
Dialect operator_dialect(DType computed);
/// Triton's rule; i32 and f32.
extern const Dialect kTileDialect;

class Trace {
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

  DType promote(DType a, DType b) const { return dialect_.promote(a, b); }

  Value wrap(ir::Value v);
  /// The node of a value; a literal becomes a constant of the dtype that it has on its own.
  ir::Value node(const Value& v);
  /// The node of a value converted to `dtype`, which a literal must fit.
  ir::Value node(const Value& v, DType dtype);
  /// A literal as a constant of `dtype`; an error that names the literal if it is of a higher category or does not fit.
  ir::Value constant(const Value& literal, DType dtype);

  /// Runs `f` with `where` as the place of what it writes and of its errors. Operations that `f` makes itself, other than
  /// in a user's body, belong to that place too.
  template <class F>
  decltype(auto) at(const std::source_location& where, F&& f);

  /// Whether integer operations that are handed out may wrap; gives what was so before.
  bool set_may_wrap(bool may_wrap) { return std::exchange(may_wrap_, may_wrap); }

  /// Brackets a body of the user's: what is made inside cannot be used outside.
  void enter();
  void leave();
  /// Ends the program if the condition holds, after what `last` writes.
  void return_if(ir::Value condition, const std::function<void()>& last = {});
  bool is_at_kernel_level() const { return static_cast<int>(open_.size()) == 1 + returns_; }
  bool is_kernel() const { return what_ == "kernel"; }
  const std::string& name() const { return name_; }
  /// The user's line that is being written.
  Span span() const { return {place_.file_name(), static_cast<int>(place_.line()), static_cast<int>(place_.column())}; }

  ir::Function finish();

  ir::Builder b;
  Effects effects;     // prints, assertions and taps so far
  TapRequest request;  // which taps become code

 private:
  uint32_t scope_of(ir::Value v) const { return v.id < scopes_.size() ? scopes_[v.id] : 0; }
  void check_usable(const Value& v) const;
  [[noreturn]] void fail(const Error& error, const std::source_location& where) const;
  void set_span(const std::source_location& where);
  void check_stack() const;
  static constexpr size_t kMostNested = 200;

  std::string what_, name_;
  Dialect dialect_;
  uint64_t serial_;
  Trace* outer_;
  std::vector<uint32_t> open_{1};     // serial numbers of the open bodies; 1 is the whole program
  std::vector<uint32_t> scopes_;      // by node id: the body that it was made in, 0 if it was never handed out
  uint32_t last_scope_ = 1;
  int returns_ = 0;                   // else-regions that stay open to the end
  bool may_wrap_ = false;
  bool placed_ = false;               // an operation is being written; `place_` is the user's line
  std::source_location place_;
  std::vector<std::source_location> outer_places_;  // of the operations whose bodies are open
};

template <class F>
decltype(auto) Trace::at(const std::source_location& where, F&& f) {
  if (placed_) return f();
  struct Leave {
    bool& placed;
    ~Leave() { placed = false; }
  } leave{placed_};
  placed_ = true;
  set_span(where);
  try {
    check_stack();
    return f();
  } catch (const PlacedError&) {
    throw;
  } catch (const Error& error) {
    fail(error, where);
  }
}

/// The dtype that a literal has on its own: that of the dialect if it fits, else i64 or u64.
DType literal_dtype(const detail::Handle& literal);

/// Broadcasts to one shape as NumPy does; a user error that names both shapes, and `what` was to be done with them.
ir::Shape common_shape(const ir::Shape& a, const ir::Shape& b, std::string_view what = {});
ir::Value broadcast(ir::Builder& b, ir::Value v, const ir::Shape& shape);

ir::Shape shape_of(const Dims& dims);
/// 0 <= result < rank; negative axes count from the last.
int check_axis(std::string_view what, const ir::Shape& shape, int axis);

/// The parameter that a pointer comes from by additions and index maps, or an invalid value.
ir::Value root_of(const ir::Function& f, ir::Value pointer);

/// Marks the pointer parameters through which the program writes nothing.
void mark_read_only(ir::Function& f);

}  // namespace strider::front
