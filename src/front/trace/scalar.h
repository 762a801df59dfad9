// SPDX-License-Identifier: Apache-2.0
// An operator's maths as a small SSA function of scalars, which ends in a yield of its outputs.
#pragma once

#include <span>

#include <strider/pointwise.h>

#include "ir/function.h"

namespace strider::front {

/// Runs the operator's body on values of these dtypes. Outputs that are plain numbers get `common`, or the dtype that they
/// have on their own if that is of a higher category.
ir::Function trace_scalar(const detail::OperatorDecl& op, std::span<const DType> inputs, DType common);

/// How an argument is called in messages and in programs.
std::string name_of(const detail::OperatorDecl& op, size_t argument);

}  // namespace strider::front
