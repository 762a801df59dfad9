// SPDX-License-Identifier: Apache-2.0
// Which dtypes an operator's maths see, and which its results have (PyTorch's type promotion; docs/promotion.md).
#pragma once

#include <span>
#include <vector>

#include <strider/schema.h>

namespace strider::planner {

/// What promotion tells apart: a tensor with axes counts before one without, and a number gives no dtype, only a category.
enum class Source : uint8_t { Tensor, ZeroDim, Number };

/// A number is Bool, I64, U64 or F64.
struct ArgumentType {
  Source source;
  DType dtype;
  bool operator==(const ArgumentType&) const = default;
};

/// What happens to an argument on its way into the maths.
struct ArgumentTyping {
  DType passed;             // how the kernel gets it: a tensor's own dtype; numbers as Bool, I64, U64 or F64
  DType rounded;            // converted to this first,
  DType computed;           // then to this one, which the maths see
  bool is_natural = false;  // a number must not be negative
  bool operator==(const ArgumentTyping&) const = default;
};

/// All dtypes of an operator for given argument types.
struct Typing {
  std::vector<ArgumentTyping> arguments;
  std::vector<DType> results;  // by output
  DType common;                // of the first rule's arguments, as its kind changes it
  DType computed;              // in which the maths of the first output run
  bool from_rules = false;     // false: the maths may give results another dtype than the common one
  bool operator==(const Typing&) const = default;
};

/// The common dtype of the arguments `which`. A user error for u64 with signed integers.
DType common_dtype(std::span<const ArgumentType> arguments, std::span<const int> which);

/// The rule for numbers in the argument that stands at `place` among the rule's.
NumberRule number_rule(const PromotionRule& rule, size_t place);

/// The typing by the schema's rules, or by Default over all arguments that may be tensors. Without rules tensors keep their own
/// dtype (f16 and bf16 are widened), so that each operation of the maths promotes as it would alone; `results` is what rules say,
/// and the common dtype without them.
Typing type_arguments(const Schema& schema, size_t outputs, std::span<const ArgumentType> arguments);

/// The dtype of an output without a rule, for which the maths gave `traced`.
DType inferred_result(DType traced, DType common);

/// Whether maths of dtype `from` may be rounded to `to`, and results written to a given output: never to a lower category.
bool can_write(DType from, DType to);

}  // namespace strider::planner
