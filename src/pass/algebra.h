// SPDX-License-Identifier: Apache-2.0
// Equations between expressions of several nodes, for `simplify`. What one node alone gives away is ir/fold's.
//
// Integer rules hold modulo 2^n. Float rules are those that IEEE 754 makes exact for every input, signed zeros and
// infinities included; a NaN stays a NaN.
#pragma once

#include <span>

#include "ir/builder.h"

namespace strider::pass {

/// A simpler value equal to `op(operands)`, written with `builder` where it is new; an invalid value when no rule applies.
ir::Value simpler(ir::Builder& builder, ir::Op op, std::span<const ir::Value> operands, int64_t imm, const ir::Type& type);

}  // namespace strider::pass
