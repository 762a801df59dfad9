// SPDX-License-Identifier: Apache-2.0
// The benchmark suites by name. Each runs its cases and leaves their rows in the runner.
#pragma once

#include <string_view>

#include "testing/runner.h"

namespace strider::tool {

using timing::Case;
using timing::of_call;
using timing::Row;
using timing::Runner;

struct Suite {
  std::string_view name, about;
  void (*run)(Runner&);
};

void run_pointwise(Runner&);
void run_layouts(Runner&);
void run_reduce(Runner&);
void run_compile(Runner&);

inline constexpr Suite kSuites[] = {
    {"pointwise", "copy, add, abs and gelu over contiguous f32", run_pointwise},
    {"layouts", "add of f32 matrices: broadcast rows and columns, a transposed operand", run_layouts},
    {"reduce", "l1_norm beside a kernel that only reads, row softmax beside copy", run_reduce},
    {"compile", "the first call of an operator, from tracing to the result", run_compile},
};

}  // namespace strider::tool
