// SPDX-License-Identifier: Apache-2.0
// An operator's dtypes, and its tile kernel for a plan's key.
#pragma once

#include <span>
#include <vector>

#include <strider/pointwise.h>

#include "ir/function.h"
#include "pointwise/plan.h"
#include "pointwise/promotion.h"

namespace strider {

/// What follows from the types of an operator's arguments.
struct Typing {
  DType common;
  std::vector<DType> compute;  // by argument
  std::vector<DType> outputs;
};

Typing type_operator(const detail::OperatorDecl& op, std::span<const planner::ArgumentType> arguments);

/// A user error if a given output cannot hold the result.
ir::Function generate(const detail::OperatorDecl& op, const Typing& typing, const planner::Key& key);

}  // namespace strider
