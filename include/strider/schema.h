// SPDX-License-Identifier: Apache-2.0
// What is known of an operator beside its maths: its arguments, and the dtypes of its results.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <strider/argument.h>

namespace strider {
inline namespace v0 {

/// How the dtype of a result follows from the common dtype R of some arguments: PyTorch's six kinds. The maths run in the
/// computed dtype, and their result is rounded once.
enum class Promotion : uint8_t {
  Default,         // computes in R, f16 and bf16 in f32; gives R
  NoOpmath,        // computes in R; gives R
  IntToFloat,      // as Default, R being f32 instead of bool or an integer: exp, sqrt, true division
  AlwaysBool,      // computes as Default; gives bool: comparisons
  ComplexToFloat,  // as Default for real numbers: abs
  BoolToLong,      // as Default, R being i64 instead of bool: pow, sums
};

/// What becomes of a number, or of a tensor without axes, in an argument that a rule names.
enum class NumberRule : uint8_t {
  Rounded,  // it is rounded to R, as a tensor would be
  Exact,    // it is rounded to the dtype of the maths alone: f16 times 65536 computes in f32, where 65536 is finite
  Natural,  // Rounded; a number below 0 is a user error where R is an integer dtype: pow's exponent
};

/// The rule of one output: `{{0, 1}, st::Promotion::Default}` for the common dtype of arguments 0 and 1.
struct PromotionRule {
  std::vector<int> arguments;
  Promotion kind = Promotion::Default;
  std::vector<NumberRule> numbers = {};  // one for each of `arguments`; left out: Rounded
  bool takes_bool = true;                // false: a bool among `arguments` is a user error
};

/// What an operator's arguments and outputs are. All of it may be left out.
struct Schema {
  std::vector<bool> is_tensor = {};           // false: always a number; left out: each argument is a tensor or a number
  std::vector<std::string> names = {};        // of the arguments: for messages, sources, and st::arg(name, number)
  std::vector<PromotionRule> promotion = {};  // one for each output; left out: Default over all tensors, see docs/promotion.md
  std::vector<std::pair<std::string, Argument>> defaults = {};  // numbers of arguments that a call may leave out

  /// How an argument is called in messages and in sources.
  std::string name_of(size_t argument) const {
    bool is_named = argument < names.size() && !names[argument].empty();
    return is_named ? names[argument] : "in" + std::to_string(argument);
  }
};

}  // namespace v0
}  // namespace strider
