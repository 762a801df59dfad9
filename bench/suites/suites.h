// SPDX-License-Identifier: Apache-2.0
// The benchmark suites by name. Each runs its cases and leaves their rows in the runner.
#pragma once

#include <string_view>

#include "testing/runner.h"

namespace strider::bench {

struct Suite {
  std::string_view name, about;
  void (*run)(testing::Runner&);
};

void run_pointwise(testing::Runner&);
void run_layouts(testing::Runner&);
void run_maths(testing::Runner&);
void run_kernels(testing::Runner&);
void run_overhead(testing::Runner&);
void run_compile(testing::Runner&);

inline constexpr Suite kSuites[] = {
    {"pointwise", "arithmetic on contiguous tensors, and add beside copy from 2^16 elements on", run_pointwise},
    {"layouts", "add of tensors that are broadcast, transposed, permuted or strided", run_layouts},
    {"math", "functions: exp, tanh, erf, gelu, ...; several in one kernel", run_maths},
    {"kernels", "the worked kernels: over block sizes, beside copy, a kernel that only reads, and libtorch", run_kernels},
    {"overhead", "calls on 8 elements: what a call costs", run_overhead},
    {"compile", "the first call of an operator, from tracing to the result", run_compile},
};

}  // namespace strider::bench
