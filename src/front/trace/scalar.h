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

/// Runs the operator's body on values.
STRIDER_KIT ir::Function trace_scalar(const detail::OperatorDecl& op, const ScalarTypes& types);

}  // namespace strider::front
