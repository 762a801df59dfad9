// SPDX-License-Identifier: Apache-2.0
#include "front/trace/scalar.h"

#include "front/trace/trace.h"
#include "ir/promote.h"

namespace strider::front {
namespace {

void check_only_scalars(const detail::OperatorDecl& op, const ir::Function& f) {
  for (ir::Value v : f.body().body) {
    const ir::Node& node = f[v];
    bool fine = ir::is_pointwise(node.op) || node.op == ir::Op::Constant || node.op == ir::Op::Yield;
    if (fine && node.type.is_scalar()) continue;
    std::string place = to_string(f.span(v));
    user_error(
        "operator {}{}: its maths may not contain `{}`; it computes single elements: choose with where, loop with C++'s for",
        op.name, place.empty() ? "" : " (" + place + ")", ir::name_of(node.op, node.imm));
  }
}

ir::Value output(Trace& trace, const Value& value, DType literal) {
  if (!value.is_literal()) return trace.node(value);
  return trace.node(trace.term(value), ir::category_of(value.dtype()) > ir::category_of(literal) ? value.dtype() : literal);
}

}  // namespace

ir::Function trace_scalar(const detail::OperatorDecl& op, const ScalarTypes& types) {
  Trace trace("operator", op.name, operator_dialect(types.literal));
  detail::Values values;
  std::vector<ir::Value> parameters;
  for (size_t k = 0; k < types.declared.size(); ++k)
    parameters.push_back(trace.b.param(ir::Type::scalar(types.declared[k]), {.name = op.schema.name_of(k)}));
  for (size_t k = 0; k < parameters.size(); ++k) values.push_back(trace.wrap(trace.b.cast(parameters[k], types.computed[k])));
  std::vector<ir::Value> outputs;
  for (const Value& v : Trace::run_body([&] { return op.body(values); })) outputs.push_back(output(trace, v, types.literal));
  for (size_t k = 0; k < types.results.size(); ++k) outputs[k] = trace.b.cast(outputs[k], types.results[k]);
  trace.b.yield(outputs);
  ir::Function f = trace.finish();
  check_only_scalars(op, f);
  return f;
}

}  // namespace strider::front
