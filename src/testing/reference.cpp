// SPDX-License-Identifier: Apache-2.0
#include "testing/reference.h"

#include "base/error.h"
#include "front/trace/scalar.h"
#include "ir/semantics.h"
#include "pass/contract.h"
#include "call/generate.h"

namespace strider::inline v0::testing {

namespace {

ir::Function trace(const detail::OperatorDecl& op, const planner::Typing& typing, bool own_dtype) {
  auto widened = [&](DType dtype) { return own_dtype || !is_float(dtype) ? dtype : f64; };
  front::ScalarTypes types{{}, {}, widened(typing.computed), typing.results};
  for (const planner::ArgumentTyping& a : typing.arguments) {
    types.declared.push_back(a.rounded);
    types.computed.push_back(widened(a.computed));
  }
  ir::Function f = front::trace_scalar(op, types);
  return own_dtype ? pass::contract(f) : f;
}

}  // namespace

ScalarReference::ScalarReference(const detail::OperatorDecl& op, std::span<const planner::ArgumentType> types, bool own_dtype)
    : typing_(type_operator(op, types)), function_(trace(op, typing_, own_dtype)), values_(function_.size()) {
  for (ir::Value v : function_.body().body)
    if (function_.is_constant(v)) values_[v.id] = static_cast<uint64_t>(function_[v].imm);
}

uint64_t ScalarReference::operator()(std::span<const uint64_t> arguments, size_t output) {
  const ir::Function& f = function_;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const planner::ArgumentTyping& a = typing_.arguments[k];
    values_[f.params()[k].id] =
        a.passed == a.rounded ? arguments[k] : ir::evaluate(ir::Op::Cast, a.passed, a.rounded, &arguments[k]);
  }
  for (ir::Value v : f.body().body) {
    const ir::Node& node = f[v];
    if (node.op == ir::Op::Constant) continue;
    if (node.op == ir::Op::Yield) return values_[f.operand(v, static_cast<int>(output)).id];
    uint64_t args[3];
    for (int k = 0; k < node.operand_count; ++k) args[k] = values_[f.operand(v, k).id];
    values_[v.id] = ir::evaluate(node.op, f.type(f.operands(v).back()).dtype, node.type.dtype, args);
  }
  internal_error("{} gives nothing", f.name);
}

}  // namespace strider::v0::testing
