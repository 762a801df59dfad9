// SPDX-License-Identifier: Apache-2.0
// An operator's maths as a small SSA function of scalars, which ends in a yield of its outputs.
#pragma once

#include <vector>

#include <strider/pointwise.h>

#include "base/kit.h"
#include "ir/function.h"

namespace strider::front {

/// Dtypes around the maths.
struct ScalarTypes {
  std::vector<DType> declared;      // of the parameters
  std::vector<DType> computed;      // of the values that the maths see: parameters are converted to these
  DType literal;                    // of plain numbers among the outputs, and of literals on their own, where its category allows
  std::vector<DType> results = {};  // outputs are converted to these; empty: outputs are what the maths give
};

/// What the operator's body gives for values of the current trace. A user error if it gives another number of outputs than declared.
detail::Values run_body(const detail::OperatorDecl& op, std::span<const Value> arguments);

/// What a scalar function (ir/scalar.h) gives for values of the current trace, which are converted to the dtypes of its parameters.
/// A user error for a value that its parameter's dtype does not hold; values of a lower category are rounded.
detail::Values run_program(const ir::Function& program, std::span<const Value> arguments);

/// Runs the operator's body on values.
STRIDER_KIT ir::Function trace_scalar(const detail::OperatorDecl& op, const ScalarTypes& types);

}  // namespace strider::front
