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
    : typing_(type_operator(op, types)), function_(trace(op, typing_, own_dtype)), evaluator_(function_) {}

uint64_t ScalarReference::operator()(std::span<const uint64_t> arguments, size_t output) {
  converted_.assign(arguments.begin(), arguments.end());
  std::vector<const uint64_t*> places;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const planner::ArgumentTyping& a = typing_.arguments[k];
    if (a.passed != a.rounded) converted_[k] = ir::evaluate(ir::Op::Cast, a.passed, a.rounded, &arguments[k]);
    places.push_back(&converted_[k]);
  }
  uint64_t result = 0;
  std::vector<int> strides(places.size(), 0);
  std::vector<uint64_t*> results(typing_.results.size(), nullptr);
  results.at(output) = &result;
  evaluator_.run(places.data(), strides.data(), results.data(), 1);
  return result;
}

}  // namespace strider::v0::testing
