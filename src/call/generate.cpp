// SPDX-License-Identifier: Apache-2.0
#include "call/generate.h"

#include <algorithm>

#include "base/error.h"
#include "front/trace/scalar.h"
#include "ir/promote.h"
#include "planner/instantiate.h"

namespace strider {

using planner::Typing;

namespace {

front::ScalarTypes scalar_types(const Typing& typing) {
  front::ScalarTypes types{{}, {}, typing.computed, {}};
  for (const planner::ArgumentTyping& a : typing.arguments) {
    types.declared.push_back(a.rounded);
    types.computed.push_back(a.computed);
  }
  return types;
}

bool is_always_bool(const detail::OperatorDecl& op, size_t output) {
  return !op.schema.promotion.empty() && op.schema.promotion[output].kind == Promotion::AlwaysBool;
}

/// The dtype of an output for which the maths gave `traced`.
DType result_dtype(const detail::OperatorDecl& op, const Typing& typing, size_t output, DType traced) {
  if (!typing.from_rules) return planner::inferred_result(traced, typing.common);
  DType result = typing.results[output];
  if (!is_always_bool(op, output) && !planner::can_write(traced, result))
    user_error("output {} is {} by its promotion rule, the maths give {}: name more arguments in the rule, or convert with .to(st::{})",
               output, name_of(result), name_of(traced), ir::constant_of(result));
  return result;
}

}  // namespace

Typing type_operator(const detail::OperatorDecl& op, std::span<const planner::ArgumentType> arguments) {
  Typing t = planner::type_arguments(op.schema, op.outputs, arguments);
  ir::Function f = front::trace_scalar(op, scalar_types(t));
  std::span<const ir::Value> outputs = f.operands(f.body().body.back());
  for (size_t k = 0; k < op.outputs; ++k) t.results[k] = result_dtype(op, t, k, f.type(outputs[k]).dtype);
  return t;
}

detail::Values apply_to_values(const detail::OperatorDecl& op, std::span<const Value> arguments) {
  bool only_literals = std::all_of(arguments.begin(), arguments.end(), [](const Value& v) { return v.is_literal(); });
  if (op.schema.promotion.empty() || only_literals) return front::run_body(op, arguments);
  std::vector<planner::ArgumentType> types;
  for (const Value& v : arguments) types.push_back({v.is_literal() ? planner::Source::Number : planner::Source::Tensor, v.dtype()});
  Typing t = planner::type_arguments(op.schema, op.outputs, types);
  detail::Values converted;
  for (size_t k = 0; k < arguments.size(); ++k)
    converted.push_back(arguments[k].to(t.arguments[k].rounded, {}).to(t.arguments[k].computed, {}));
  detail::Values results = front::run_body(op, converted);
  for (size_t k = 0; k < results.size(); ++k)
    if (!results[k].is_literal()) results[k] = results[k].to(result_dtype(op, t, k, results[k].dtype()), {});
  return results;
}

ir::Function scalar_of(const detail::OperatorDecl& op, const Typing& typing) {
  front::ScalarTypes types = scalar_types(typing);
  types.results = typing.results;
  return front::trace_scalar(op, types);
}

void output_is_lower(size_t output, DType found, DType result) {
  user_error("output {} is {}, the result is {}: give a tensor of {}, or convert the result in the maths with .to(st::{})", output,
             name_of(found), name_of(result), name_of(result), ir::constant_of(found));
}

ir::Function generate(const detail::OperatorDecl& op, const Typing& typing, const planner::Key& key) {
  for (size_t k = 0; k < op.outputs; ++k)
    if (!planner::can_write(typing.results[k], key.access[k].dtype))
      output_is_lower(k, key.access[k].dtype, typing.results[k]);
  return planner::instantiate(scalar_of(op, typing), key);
}

}  // namespace strider
