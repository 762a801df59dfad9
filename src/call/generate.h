// SPDX-License-Identifier: Apache-2.0
// An operator's dtypes, and its tile kernel for a plan's key.
#pragma once

#include <span>

#include <strider/pointwise.h>

#include "base/kit.h"
#include "ir/function.h"
#include "planner/plan.h"
#include "planner/promotion.h"

namespace strider {

/// The typing with the dtypes of all results. A user error if a result is of a higher category than its rule says.
STRIDER_KIT planner::Typing type_operator(const detail::OperatorDecl& op, std::span<const planner::ArgumentType> arguments);

/// The operator's maths on values of the current trace. With promotion rules, values are converted as tensors of their dtypes are,
/// and so are the results; literals count as numbers.
detail::Values apply_to_values(const detail::OperatorDecl& op, std::span<const Value> arguments);

/// The operator's maths as a function of scalars.
ir::Function scalar_of(const detail::OperatorDecl& op, const planner::Typing& typing);

/// A user error: a given output cannot hold the result.
[[noreturn]] void output_is_lower(size_t output, DType found, DType result);

/// The tile kernel of a plan's key. A user error if a given output cannot hold the result.
STRIDER_KIT ir::Function generate(const detail::OperatorDecl& op, const planner::Typing& typing, const planner::Key& key);

}  // namespace strider
