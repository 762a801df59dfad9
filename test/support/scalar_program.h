// SPDX-License-Identifier: Apache-2.0
// Programs of scalar pointwise ops, evaluated straight from ir/semantics.h: for tests of passes on single expressions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/builder.h"

namespace strider::support {

using ExpressionFn = std::function<ir::Value(ir::Builder&, std::span<const ir::Value>)>;

/// Stores the expression of scalar arguments of these dtypes through the first parameter.
ir::Function scalar_program(const std::vector<DType>& arguments, const ExpressionFn& expression);

/// The bits that such a program stores.
uint64_t stored_bits(const ir::Function& f, std::span<const uint64_t> arguments);

DType stored_dtype(const ir::Function& f);

/// Nodes with this op, in all regions.
int count_op(const ir::Function& f, ir::Op op);
/// Pointwise nodes, in all regions.
int count_pointwise(const ir::Function& f);

/// Expects that both programs store the same answer for every choice of special arguments (random ones when that is too many).
void expect_same_answers(const ir::Function& a, const ir::Function& b, const std::vector<DType>& arguments);

}  // namespace strider::support
