// SPDX-License-Identifier: Apache-2.0
// A scalar function: the maths of an operator, pointwise ops and constants alone, which end in a yield of its outputs.
#pragma once

#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/function.h"

namespace strider::ir {

/// A user error that begins with `what` and names the op if it is none.
void check_scalar(std::string_view what, const Function& f);

/// Writes its statements for these arguments, which have the dtypes of its parameters, and gives what it yields. Arguments may be
/// tiles of one rank, with axes of size 1 where they are broadcast: what depends on those alone is computed once for them.
std::vector<Value> call_scalar(Builder& b, const Function& scalar, std::span<const Value> arguments);

}  // namespace strider::ir
