// SPDX-License-Identifier: Apache-2.0
#include "front/trace/scalar.h"

#include "front/trace/trace.h"
#include "front/typing.h"

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
        op.name, place.empty() ? "" : " (" + place + ")", ir::name_of(node.op));
  }
}

ir::Value output(Trace& trace, const Value& value, DType common) {
  if (!value.is_literal()) return trace.node(value);
  return trace.constant(value, category_of(value.dtype()) > category_of(common) ? value.dtype() : common);
}

}  // namespace

std::string name_of(const detail::OperatorDecl& op, size_t argument) {
  const auto& names = op.schema.names;
  if (argument < names.size() && !names[argument].empty()) return names[argument];
  return fmt::format("in{}", argument);
}

ir::Function trace_scalar(const detail::OperatorDecl& op, std::span<const DType> inputs, DType common) {
  Trace trace("operator", op.name);
  detail::Values values;
  for (size_t k = 0; k < inputs.size(); ++k)
    values.push_back(trace.wrap(trace.b.param(ir::Type::scalar(inputs[k]), {.name = name_of(op, k)})));
  std::vector<ir::Value> outputs;
  for (const Value& v : op.body(values)) outputs.push_back(output(trace, v, common));
  trace.b.yield(outputs);
  ir::Function f = trace.finish();
  check_only_scalars(op, f);
  return f;
}

}  // namespace strider::front
