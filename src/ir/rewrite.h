// SPDX-License-Identifier: Apache-2.0
// Copies a function into a new one, node by node; passes override what they want to change.
//
//   struct Doubler : Rewriter {
//     using Rewriter::Rewriter;
//     void visit(Value v) override {
//       if (from[v].op == Op::Neg) set(v, b.unary(Op::Abs, map(from.operand(v, 0)))); else copy(v);
//     }
//   };
//   Function g = Doubler(f).run();
#pragma once

#include "ir/builder.h"

namespace strider::ir {

class Rewriter {
 public:
  explicit Rewriter(const Function& source) : from(source), b(source.name), map_(source.size()) { b.set_helpers(source.helpers); }
  virtual ~Rewriter() = default;

  /// Visits the parameters and every node of the program; gives the new function.
  Function run();

 protected:
  /// Called for each node in order of execution. The default copies it.
  virtual void visit(Value v) { copy(v); }

  /// Writes the same node on the mapped operands, and visits what its regions hold.
  void copy(Value v);
  /// Visits the statements of a source region; its parameters must be mapped already. Yields are visited too.
  void visit_body(RegionId region);
  /// Writes `region` of the new node `owner` with the source's region: parameters of the given types, then its body.
  void copy_region(Value owner, int index, RegionId region);

  Value map(Value v) const { return map_[v.id]; }
  std::vector<Value> map(std::span<const Value> values) const;
  void set(Value source, Value value) { map_[source.id] = value; }

  const Function& from;
  Builder b;

 private:
  std::vector<Value> map_;
};

}  // namespace strider::ir
