// SPDX-License-Identifier: Apache-2.0
// The type rules: what each op accepts and what it gives. Builder and verifier share them.
#pragma once

#include <span>
#include <string_view>

#include "ir/function.h"

namespace strider::ir {

/// The result type of a node. `asked` is the type that the builder was told, used where the result rule is Explicit.
/// Throws a user error that names the op and the types when operands do not fit.
Type infer(Op op, std::span<const Type> operands, int64_t imm, const Type* asked);

/// Checks that the regions of `owner` take and yield what its results and operands say.
void check_regions(const Function& f, Value owner);

/// Throws a user error unless 0 <= axis < rank.
void check_axis(std::string_view what, const Shape& shape, int axis);

/// Whether an atomic of this kind works on elements of this dtype, and in words on which ones it does.
bool atomic_takes(AtomicKind kind, DType dtype);
std::string_view atomic_dtypes(AtomicKind kind);

}  // namespace strider::ir
