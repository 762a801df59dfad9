// SPDX-License-Identifier: Apache-2.0
#include "pass/respell.h"

#include <algorithm>
#include <optional>

#include "ir/rewrite.h"
#include "pass/decompose.h"

namespace strider::pass {

using namespace ir;

namespace {

/// The integers of 32 bits that hold all values of short ones.
std::optional<DType> word_for(DType dtype) {
  if (dtype == DType::I8 || dtype == DType::I16) return DType::I32;
  if (dtype == DType::U8 || dtype == DType::U16) return DType::U32;
  return std::nullopt;
}

bool moves_bits(Op op) { return op == Op::Cast || op == Op::Bitcast || op == Op::Where || op == Op::PtrAdd; }

class Respeller : public Rewriter {
 public:
  Respeller(const Function& f, const Target& target) : Rewriter(f), target_(target) {}

 protected:
  void visit(Value v) override {
    const Node& node = from[v];
    const Type& type = node.operand_count > 0 ? from.type(from.operand(v, 0)) : node.type;
    if (!is_pointwise(node.op) || moves_bits(node.op) || type.is_pointer() || target_.spells(node.op, type.dtype)) return copy(v);
    std::vector<Value> x = map(from.operands(v));
    if (auto word = word_for(type.dtype)) return set(v, in_words(node, x, *word));
    if (node.op == Op::Fma && type.dtype == DType::F32 && target_.spells(Op::Add, DType::F64)) return set(v, fma_by_f64(b, x));
    copy(v);
  }

 private:
  /// Results wrap as those of the short type do: shifts by its width or more move out all of its bits in 32 bits as well.
  Value in_words(const Node& node, std::vector<Value> x, DType word) {
    for (Value& operand : x) operand = b.cast(operand, word);
    return b.cast(b.emit(node.op, x), node.type.dtype);
  }

  const Target& target_;
};

}  // namespace

Function respell(const Function& program, const Target& target) {
  return target.missing.empty() ? program : Respeller(program, target).run();
}

}  // namespace strider::pass
