// SPDX-License-Identifier: Apache-2.0
// Which dtype an operator computes in, and which its outputs have.
#pragma once

#include <span>

#include <strider/dtype.h>

namespace strider::planner {

/// An argument as promotion sees it. A number is Bool, I64, U64 or F64.
struct ArgumentType {
  bool is_tensor;
  DType dtype;
  bool operator==(const ArgumentType&) const = default;
};

/// The common dtype of the tensors; a number only raises the category, to i64 or f32. A user error for u64 with signed
/// integers, which no integer dtype holds together.
DType common_dtype(std::span<const ArgumentType> arguments);

/// The dtype in which the maths see an argument: f16 and bf16 are computed in f32, bool stays bool.
DType compute_dtype(const ArgumentType& argument, DType common);

/// The dtype of an output for which the maths gave `traced`.
DType output_dtype(DType traced, DType common);

/// Whether results of `from` may be written to a given output of `to`: never to a lower category.
bool can_write(DType from, DType to);

}  // namespace strider::planner
