// SPDX-License-Identifier: Apache-2.0
#include "front/trace/scalar.h"

#include "front/lang/arith.h"
#include "front/trace/trace.h"
#include "ir/promote.h"
#include "ir/scalar.h"

namespace strider::front {
namespace {

/// A parameter's dtype holds its argument, or the argument is of a lower category.
void check_holds(const std::string& name, DType argument, DType parameter) {
  if (ir::widens(argument, parameter) || ir::category_of(argument) < ir::category_of(parameter)) return;
  user_error("argument {} is {} here, its maths are written for {}: convert the argument with .to(st::{})", name, name_of(argument),
             name_of(parameter), ir::constant_of(parameter));
}

ir::Value output(Trace& trace, const Value& value, DType literal) {
  if (!value.is_literal()) return trace.node(value);
  return trace.node(trace.term(value), ir::category_of(value.dtype()) > ir::category_of(literal) ? value.dtype() : literal);
}

}  // namespace

detail::Values run_body(const detail::OperatorDecl& op, std::span<const Value> arguments) {
  detail::Values results = Trace::run_body([&] { return op.body(arguments); });
  if (results.size() != op.outputs) user_error("its maths give {} outputs, expected {}", results.size(), op.outputs);
  for (const Value& v : results)
    if (v.is_empty()) user_error("its maths give a value that was never given one");
  return results;
}

detail::Values run_program(const ir::Function& program, std::span<const Value> arguments) {
  Trace& trace = Trace::current();
  return trace.at({}, [&] {
    std::vector<ir::Value> values;
    for (size_t k = 0; k < arguments.size(); ++k) {
      DType wanted = program.type(program.params()[k]).dtype;
      if (!arguments[k].is_literal()) check_holds(program.param_info(static_cast<int>(k)).name, arguments[k].dtype(), wanted);
      values.push_back(trace.node(trace.term(arguments[k]), wanted));
    }
    broadcast_all(trace.b, program.name, values);
    detail::Values results;
    for (ir::Value v : ir::call_scalar(trace.b, program, values)) results.push_back(trace.wrap(v));
    return results;
  });
}

ir::Function trace_scalar(const detail::OperatorDecl& op, const ScalarTypes& types) {
  Trace trace("operator", op.name, operator_dialect(types.literal));
  detail::Values values;
  std::vector<ir::Value> parameters;
  for (size_t k = 0; k < types.declared.size(); ++k)
    parameters.push_back(trace.b.param(ir::Type::scalar(types.declared[k]), {.name = op.schema.name_of(k)}));
  for (size_t k = 0; k < parameters.size(); ++k) values.push_back(trace.wrap(trace.b.cast(parameters[k], types.computed[k])));
  std::vector<ir::Value> outputs;
  for (const Value& v : run_body(op, values)) outputs.push_back(output(trace, v, types.literal));
  for (size_t k = 0; k < types.results.size(); ++k) outputs[k] = trace.b.cast(outputs[k], types.results[k]);
  trace.b.yield(outputs);
  ir::Function f = trace.finish();
  ir::check_scalar("operator " + op.name, f);
  return f;
}

}  // namespace strider::front
