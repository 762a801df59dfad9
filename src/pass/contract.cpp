// SPDX-License-Identifier: Apache-2.0
#include "pass/contract.h"

#include "ir/rewrite.h"

namespace strider::pass {

using namespace ir;

namespace {

class Contracter : public Rewriter {
 public:
  explicit Contracter(const Function& f) : Rewriter(f), uses_(f.size()) { count_uses(0); }

 protected:
  void visit(Value v) override;

 private:
  void count_uses(RegionId region);
  bool fuses(Value term) const;
  Value factor(Value term, int k);

  std::vector<int> uses_;
};

void Contracter::count_uses(RegionId region) {
  for (Value v : from.region(region).body) {
    for (Value operand : from.operands(v)) ++uses_[operand.id];
    for (int k = 0; k < from[v].region_count; ++k) count_uses(from.region_of(v, k));
  }
}

/// A product, or the broadcast of one, that only this sum uses.
bool Contracter::fuses(Value term) const {
  if (uses_[term.id] != 1) return false;
  if (from[term].op == Op::Broadcast) return fuses(from.operand(term, 0));
  return from[term].op == Op::Mul;
}

/// Factor k of a term that fuses, in the shape of the term.
Value Contracter::factor(Value term, int k) {
  if (from[term].op == Op::Mul) return map(from.operand(term, k));
  return b.broadcast(factor(from.operand(term, 0), k), from.type(term).shape);
}

void Contracter::visit(Value v) {
  const Node& node = from[v];
  bool fusable = node.type.dtype == DType::F32 || node.type.dtype == DType::F64;
  if ((node.op != Op::Add && node.op != Op::Sub) || !fusable) return copy(v);
  bool minus = node.op == Op::Sub;
  Value x = from.operand(v, 0), y = from.operand(v, 1);
  auto negated = [&](Value value) { return minus ? b.unary(Op::Neg, value) : value; };
  if (fuses(x)) set(v, b.fma(factor(x, 0), factor(x, 1), negated(map(y))));
  else if (fuses(y)) set(v, b.fma(negated(factor(y, 0)), factor(y, 1), map(x)));
  else copy(v);
}

}  // namespace

Function contract(const Function& program) { return Contracter(program).run(); }

}  // namespace strider::pass
