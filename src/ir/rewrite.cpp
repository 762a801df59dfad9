// SPDX-License-Identifier: Apache-2.0
#include "ir/rewrite.h"

#include "base/error.h"

namespace strider::ir {

Function Rewriter::run() {
  for (size_t k = 0; k < from.params().size(); ++k) {
    Value p = from.params()[k];
    set(p, b.param(from.type(p), from.param_info(static_cast<int>(k))));
  }
  visit_body(0);
  Function result = b.finish();
  result.threads = from.threads;
  result.scratch_bytes = from.scratch_bytes;
  return result;
}

std::vector<Value> Rewriter::map(std::span<const Value> values) const {
  std::vector<Value> result;
  for (Value v : values) result.push_back(map(v));
  return result;
}

void Rewriter::visit_body(RegionId region) {
  for (Value v : from.region(region).body) {
    b.set_span(from.span(v));
    visit(v);
  }
}

void Rewriter::copy_region(Value owner, int index, RegionId region) {
  std::vector<Type> types;
  for (Value p : from.region(region).params) types.push_back(from.type(p));
  b.begin_region(owner, index, types);
  for (size_t k = 0; k < types.size(); ++k) set(from.region(region).params[k], b.region_params()[k]);
  visit_body(region);
  b.end_region();
}

void Rewriter::copy(Value v) {
  const Node& node = from[v];
  std::vector<Value> operands = map(from.operands(v));
  if (node.region_count > 0) {
    Value owner = b.open(node.op, operands, node.imm, node.type, node.region_count);
    b.set_flags(owner, node.flags);
    set(v, owner);
    for (int k = 0; k < node.region_count; ++k) copy_region(owner, k, from.region_of(v, k));
    return;
  }
  std::vector<int64_t> table;
  if (node.op == Op::Vector || node.op == Op::Shuffle) table.assign(from.table(v).begin(), from.table(v).end());
  Value copied;
  b.set_no_wrap((node.flags & kNoWrap) != 0);
  if (node.op == Op::Result) copied = b.result(operands[0], static_cast<int>(node.imm), node.type);
  else if (node.op == Op::Yield) b.yield(operands);
  else copied = b.emit(node.op, operands, node.imm, &node.type, std::move(table));
  b.set_no_wrap(false);
  bool is_same_op = copied.valid() && b.function()[copied].op == node.op;  // folding may have found another value
  if (is_same_op) b.set_flags(copied, b.function()[copied].flags | (node.flags & ~kNoWrap));
  if (copied.valid() && node.op == Op::Alloc) b.set_aux(copied, node.aux);
  set(v, copied);
}

}  // namespace strider::ir
