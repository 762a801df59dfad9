// SPDX-License-Identifier: Apache-2.0
// Assignments in bodies: which values from outside the bodies of range, while_ and if_ assign, and how they are carried.
//
// A construct is traced once to look which objects (strider::Value, also inside of pointers) its bodies assign. If there are any,
// all that this trace wrote is taken back, and it is traced again with these objects carried: they hold the region's parameters
// inside, and the construct's results afterwards. The outermost construct is traced a third time, and both programs must be the
// same. While a construct only looks, those in it look, too, so that nesting adds a trace for each level and doubles nothing.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "front/trace/trace.h"

namespace strider::front {

class Construct {
 public:
  /// `what` as in "the body of range".
  Construct(Trace& trace, std::string_view what);
  ~Construct();
  Construct(const Construct&) = delete;
  Construct& operator=(const Construct&) = delete;

  /// Writes the construct: `write` is called as often as needed, and uses what follows. Gives what its last call gave.
  using Write = std::function<detail::Values(Construct&)>;
  detail::Values run(const Write& write);

  /// How many objects are carried.
  size_t carried() const { return carried_; }
  /// From here on an assignment is an error: in conditions and combine functions.
  void refuse(std::string_view where) { refused_ = where; }
  void allow() { refused_ = {}; }

  // --- loops
  /// What the carried objects hold before the loop, as nodes at the end of `nodes`.
  void add_initial(ir::Builder::Values& nodes);
  /// The carried objects hold these nodes.
  void hold(std::span<const ir::Value> nodes);
  /// What they hold at the end of the body, of these types.
  void add_next(ir::Builder::Values& nodes, std::span<const ir::Type> types);

  // --- branches
  /// What the carried objects hold at the end of a branch, of the other branch's types if there are any; then they hold again
  /// what they held before.
  void end_branch(ir::Builder::Values& nodes, std::span<const ir::Type> types);

  void note(Value& object);
  void note_end(const Value& object);
  uint64_t serial() const { return serial_; }
  Construct* outer() const { return outer_; }

 private:
  struct Assigned {
    Value* object;          // null: destroyed
    detail::Handle before;  // what it held
    detail::Handle branch;  // what it holds at the end of the last branch that assigned it
    Span place;             // of its last assignment, as far as known
    bool seen;              // in this pass
    bool in_branch;         // in this branch
  };

  detail::Values pass(const Write& write, const Writer::Mark& start);
  void take_back(const Writer::Mark& start);
  void settle();
  void check_same(int64_t operations) const;
  void check_program(const ir::Function& program, const Effects& effects) const;
  void check_alive() const;
  ir::Value node_of(const Assigned& a, const detail::Handle& handle, std::string_view problem) const;
  detail::Handle here(const detail::Handle& handle) const;
  bool is_outermost() const;
  template <class... A>
  [[noreturn]] void fail(const Span& place, fmt::format_string<A...> text, A&&... args) const;

  Trace& trace_;
  std::string_view what_, refused_;
  Span place_;  // of the construct
  Construct* outer_;
  uint64_t serial_ = 0;  // of this pass
  bool runs_ = false;      // is no mere guard
  bool branches_ = false;  // is an if_
  size_t carried_ = 0;  // the first of `assigned_`
  std::vector<Assigned> assigned_;
};

/// A body in which assignments are errors: `where` as in "the combine function of reduce".
detail::Body without_assignments(Trace& trace, std::string_view where, const detail::Body& body);

}  // namespace strider::front
