// SPDX-License-Identifier: Apache-2.0
#include "pass/hints.h"

#include <utility>

#include "ir/rewrite.h"

namespace strider::pass {

using namespace ir;

namespace {

class Dropper : public Rewriter {
 public:
  using Rewriter::Rewriter;

 protected:
  void visit(Value v) override {
    if (from[v].op == Op::Assume) return;
    if (from[v].op == Op::Hint && (in_combine_ || !from.type(v).is_scalar())) return set(v, map(from.operand(v, 0)));
    bool combines = from[v].op == Op::Reduce || from[v].op == Op::Scan;
    bool before = std::exchange(in_combine_, in_combine_ || combines);
    copy(v);
    in_combine_ = before;
  }

 private:
  bool in_combine_ = false;  // the scalars of a combine function are lanes
};

}  // namespace

Function drop_hints(const Function& tile) { return Dropper(tile).run(); }

}  // namespace strider::pass
