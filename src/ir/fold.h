// SPDX-License-Identifier: Apache-2.0
// Exact algebra on single nodes, used by Builder before it appends one.
#pragma once

#include <span>

#include "ir/builder.h"

namespace strider::ir {

/// A value that already exists or a constant that equals `op(operands)` in every bit, or an invalid value.
/// Floats are folded only where IEEE 754 gives the same bits (never x + 0, x * 0 or 0 - x), functions such as exp never.
Value fold(Builder& builder, Op op, std::span<const Value> operands, int64_t imm, const Type& type);

/// The bits of a constant, if `v` is one (splat included).
bool constant_bits(const Function& f, Value v, uint64_t* bits);
/// The value of an integer or bool constant, if `v` is one.
bool constant_int(const Function& f, Value v, int64_t* value);

}  // namespace strider::ir
