// SPDX-License-Identifier: Apache-2.0
// What the first call of an operator costs: tracing, planning, every pass, LLVM, loading, and the launch itself.
#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "suites.h"

#include <strider/device.h>
#include <strider/pointwise.h>

namespace strider::tool {
namespace {

using Step = Value (*)(const Value& x, double c);

constexpr Step kArithmetic[] = {
    [](const Value& x, double c) { return x + c; },           [](const Value& x, double c) { return x * c; },
    [](const Value& x, double c) { return maximum(x, c); },   [](const Value& x, double c) { return c - x; },
    [](const Value& x, double c) { return minimum(x, c); },   [](const Value& x, double) { return abs(x); },
    [](const Value& x, double) { return sqrt(x); },
};
constexpr Step kFunctions[] = {
    [](const Value& x, double) { return exp(x); },
    [](const Value& x, double) { return tanh(x); },
    [](const Value& x, double) { return erf(x); },
    [](const Value& x, double) { return log(x); },
};

/// `count` operations in a row, of which every eighth is a function if `functions`. Each seed gives another program.
Value chain(Value x, int count, bool functions, int seed) {
  for (int k = 0; k < count; ++k) {
    bool is_function = functions && k % 8 == 7;
    size_t number = static_cast<size_t>(seed + k);
    Step step = is_function ? kFunctions[number / 8 % std::size(kFunctions)] : kArithmetic[number % std::size(kArithmetic)];
    x = step(x, 1.0 + 1e-3 * (seed * 100 + k));
  }
  return x;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The first call of a new operator, added to the row.
void take_sample(Runner& r, const Tensor& x, int count, bool functions, int seed, Row& row) {
  double worked = processor_seconds();
  auto start = std::chrono::steady_clock::now();
  auto op = pointwise("fresh", [=](const Value& v) { return chain(v, count, functions, seed); });
  Tensor y = op(x);
  r.device_object().synchronize();
  row.times.samples.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  row.processor.samples.push_back(processor_seconds() - worked);
}

}  // namespace

void run_compile(Runner& r) {
  struct Size {
    const char* name;
    int count;
    bool functions;
  };
  constexpr Size kSizes[] = {{"1 op", 1, false}, {"8 ops", 8, false}, {"64 ops", 64, false}, {"64 ops, 8 of them exp, tanh, erf, log", 64, true}};
  Tensor x = full({1 << 16}, 0.5, {f32, r.device()});
  int seed = 1;
  bool is_first = stats().compiles == 0;
  Row cold{"1 op, the first of the process"};
  take_sample(r, x, 1, false, seed++, cold);
  if (is_first) r.add(cold);
  for (const Size& size : kSizes) {
    r.progress().show(size.name);
    Row row{size.name};
    for (int k = 0; k < (r.is_quick() ? 5 : 21); ++k) take_sample(r, x, size.count, size.functions, seed++, row);
    r.add(row);
  }
}

}  // namespace strider::tool
