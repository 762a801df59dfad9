// SPDX-License-Identifier: Apache-2.0
// What a call of an operator would run, for any target. Nothing is compiled or launched, and no tensor's memory is touched.
#pragma once

#include <span>

#include <strider/pointwise.h>

#include "ir/function.h"
#include "ir/target.h"
#include "planner/plan.h"
#include "planner/promotion.h"

namespace strider {

struct Inspection {
  Operator op;
  planner::Typing typing;
  planner::Plan plan;

  /// The maths as a function of scalars.
  ir::Function scalar() const;
  /// The tile kernel. A user error if the tensors have no elements.
  ir::Function tile() const;
};

/// The errors are those of the call.
Inspection inspect(const Operator& op, std::span<const Argument> arguments, const Target& target);

}  // namespace strider
