// SPDX-License-Identifier: Apache-2.0
#include "runtime/generate.h"

#include "base/error.h"
#include "front/trace/scalar.h"
#include "pointwise/instantiate.h"

namespace strider {
namespace {

ir::Function scalar_function(const detail::OperatorDecl& op, const Typing& t) {
  return front::trace_scalar(op, t.compute, planner::compute_dtype({true, t.common}, t.common));
}

}  // namespace

Typing type_operator(const detail::OperatorDecl& op, std::span<const planner::ArgumentType> arguments) {
  Typing t{planner::common_dtype(arguments), {}, {}};
  for (const planner::ArgumentType& a : arguments) t.compute.push_back(planner::compute_dtype(a, t.common));
  ir::Function f = scalar_function(op, t);
  for (ir::Value v : f.operands(f.body().body.back())) t.outputs.push_back(planner::output_dtype(f.type(v).dtype, t.common));
  return t;
}

ir::Function generate(const detail::OperatorDecl& op, const Typing& typing, const planner::Key& key) {
  for (size_t k = 0; k < op.outputs; ++k)
    if (!planner::can_write(typing.outputs[k], key.access[k].dtype))
      user_error("output {} is {}, the result is {}", k, name_of(key.access[k].dtype), name_of(typing.outputs[k]));
  return planner::instantiate(scalar_function(op, typing), key);
}

}  // namespace strider
