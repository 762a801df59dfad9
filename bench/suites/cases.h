// SPDX-License-Identifier: Apache-2.0
// Benchmark cases of operators, as data: the operator, its operands in words, what libtorch calls the same, and the aim.
//
// Operands are written as in testing/operand_text.h, with these names in braces: n elements of a large tensor; r and c the
// rows and columns of a matrix of as many, r2 and c2 their halves; h the elements by 2^20; t the dtype. A case without n, r
// and h has one size, and a case without t its own dtypes.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "testing/runner.h"

#include <strider/ops.h>

namespace strider::bench {

using OperatorOf = const Operator& (*)();

struct Case {
  std::string_view name;
  OperatorOf op;
  std::array<std::string_view, 3> operands;  // those that are not empty
  std::string_view result;
  std::string_view peer;                     // the peer's function, see bench/peers/torch_side.cpp
  testing::Aim aim = {};
  testing::Content content = testing::Content::Normal;
  bool allocates = false;                    // the call makes its result; the form with a given one is measured beside it
};

std::span<const Case> pointwise_cases();
std::span<const Case> layout_cases();
std::span<const Case> math_cases();
const Case& curve_case();

/// One case, ready to be timed; also by the peer, if the runner has one.
testing::Work work_of(testing::Runner& r, const Case& c, DType dtype, int64_t n);
/// Times cases at every size, dtype and number of threads that the runner is asked for.
void run_cases(testing::Runner& r, std::span<const Case> cases);
/// One case from 2^16 elements to 2^27.
void run_curve(testing::Runner& r, const Case& c);

}  // namespace strider::bench
