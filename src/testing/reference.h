// SPDX-License-Identifier: Apache-2.0
// What an operator should give, element by element: its scalar function, evaluated by the meaning of the ops alone.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <strider/pointwise.h>

#include "ir/evaluate.h"
#include "ir/function.h"
#include "planner/promotion.h"

namespace strider::inline v0::testing {

class ScalarReference {
 public:
  /// Floats are computed in double, with results rounded once; with `own_dtype`, in the dtypes that the operator computes in, and
  /// with the multiply-adds that it has.
  ScalarReference(const detail::OperatorDecl& op, std::span<const planner::ArgumentType> types, bool own_dtype);
  ScalarReference(const ScalarReference&) = delete;

  /// Of results, by output.
  const std::vector<DType>& results() const { return typing_.results; }
  /// Whether the maths are computed in floats.
  bool is_float() const { return strider::is_float(typing_.computed); }
  /// Bits of the arguments, of tensors in their dtype and of numbers as f64, i64, u64 or bool, to those of output `output`.
  uint64_t operator()(std::span<const uint64_t> arguments, size_t output = 0);

 private:
  planner::Typing typing_;
  ir::Function function_;
  ir::Evaluator evaluator_;
  std::vector<uint64_t> converted_;  // arguments
};

}  // namespace strider::v0::testing
