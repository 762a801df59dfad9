// SPDX-License-Identifier: Apache-2.0
// Strider beside libtorch on the CPU: both in one process, on the same memory, with as many threads, timed alternately.
//
//   build/bench/strider-peers [--quick]
//
// Before a case is timed, both results are compared.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/thread_pool.h"
#include "ops/kernels.h"
#include "testing/table.h"
#include "torch_side.h"

#include <strider/strider.h>

namespace strider::peers {
namespace {

using timing::Case;
using timing::of_call;
using timing::Runner;

using Sets = std::vector<Tensor>;
/// One side of a case, on one set of tensors.
using Side = std::function<void(const TensorView& x, const TensorView& y, const TensorView& result)>;

void check_agreement(const std::string& name, const Tensor& ours, const Tensor& theirs) {
  std::vector<float> a = ours.to_vector<float>(), b = theirs.to_vector<float>();
  for (size_t i = 0; i < a.size(); ++i) {
    double error = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!(error <= 1e-5 * std::max(1.0, std::abs(static_cast<double>(b[i])))))
      internal_error("{}: element {} is {}, libtorch gives {}", name, i, a[i], b[i]);
  }
}

void compare(Runner& r, const std::string& name, const Sets& x, const Sets& y, const Dims& shape, int64_t elements,
             const Side& ours, const Side& theirs) {
  Sets result = r.outputs(shape), expected = r.outputs(shape);
  ours(x[0], y[0], result[0]);
  theirs(x[0], y[0], expected[0]);
  check_agreement(name, result[0], expected[0]);
  auto on = [&](const Side& side, const Sets& to) {
    return [=](int64_t call) { side(of_call(x, call), of_call(y, call), of_call(to, call)); };
  };
  r.compare({name, elements * size_of(f32), on(ours, result)}, {"libtorch", elements * size_of(f32), on(theirs, expected)});
}

void pointwise_cases(Runner& r) {
  int64_t n = r.elements();
  Sets x = r.inputs({n}), y = r.inputs({n});
  compare(
      r, "copy", x, x, {n}, 2 * n, [](auto& a, auto&, auto& c) { ops::copy(a, out(c)); },
      [](auto& a, auto&, auto& c) { torch_copy(a, c); });
  compare(r, "add", x, y, {n}, 3 * n, [](auto& a, auto& b, auto& c) { ops::add(a, b, out(c)); }, torch_add);
  compare(
      r, "gelu", x, x, {n}, 2 * n, [](auto& a, auto&, auto& c) { ops::gelu(a, out(c)); },
      [](auto& a, auto&, auto& c) { torch_gelu(a, c); });
}

void transposed_case(Runner& r, int64_t n) {
  Sets x = r.inputs({n, n}), y = r.inputs({n, n});
  compare(
      r, fmt::format("a + b.T, {}^2", n), x, y, {n, n}, 3 * n * n,
      [](auto& a, auto& b, auto& c) { ops::add(a, b.t(), out(c)); }, [](auto& a, auto& b, auto& c) { torch_add(a, b.t(), c); });
}

void softmax_case(Runner& r, int64_t rows, int64_t columns) {
  Sets x = r.inputs({rows, columns});
  int64_t block = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns)));
  compare(r, fmt::format("softmax of rows, {}x{}", rows, columns), x, x, {rows, columns}, 2 * rows * columns,
          [=](auto& a, auto&, auto& c) { ops::softmax_kernel()[rows](a, c, columns, columns, columns, {{"BLOCK", block}}); },
          [](auto& a, auto&, auto& c) { torch_softmax(a, c); });
}

void run(bool quick) {
  set_up_torch(worker_count());
  fmt::print("cpu: {}; libtorch {} with as many threads\n\n", describe_device("cpu"), torch_version());
  timing::Progress progress;
  Runner runner("cpu", quick, progress);
  pointwise_cases(runner);
  transposed_case(runner, 4096);
  transposed_case(runner, 4000);
  softmax_case(runner, 4096, 4096);
  progress.clear();
  fmt::print("{}\nratio: libtorch's time by Strider's, above 1 Strider is faster\n", timing::table_of(runner.take_rows()));
}

/// OpenMP's threads, which libtorch uses, spin for a while after each loop and would take processors from Strider's. The
/// policy is read when the process starts.
void restart_with_passive_waiting(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY")) return;
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  ::execv("/proc/self/exe", argv);
}

}  // namespace
}  // namespace strider::peers

int main(int argc, char** argv) {
  strider::peers::restart_with_passive_waiting(argv);
  CLI::App app{"Strider beside libtorch on the CPU: medians of alternating runs", "strider-peers"};
  bool quick = false;
  app.add_flag("--quick", quick, "shorter runs");
  CLI11_PARSE(app, argc, argv);
  try {
    strider::peers::run(quick);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "strider-peers: {}\n", error.what());
    return 1;
  }
}
