// SPDX-License-Identifier: Apache-2.0
#include <strider/testing/bench.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "tensor/storage.h"
#include "testing/flush.h"
#include "testing/memory.h"
#include "testing/report.h"
#include "testing/reset.h"
#include "testing/timing.h"

#include <strider/ops.h>

namespace strider::inline v0::testing {
namespace {

constexpr double kMilliseconds = 1e3;  // of a second

void check(const BenchOptions& o) {
  if (!(o.warm_up >= 0) || !(o.repeat >= 0) || std::isinf(o.warm_up) || std::isinf(o.repeat))
    user_error("do_bench: {} ms to warm up and {} ms to repeat, expected 0 or more", o.warm_up, o.repeat);
  if (o.least_samples < 1 || o.most_samples < o.least_samples)
    user_error("do_bench: {} to {} samples, expected at least 1, and no more at least than at most", o.least_samples,
               o.most_samples);
  for (double q : o.quantiles)
    if (!(q >= 0 && q <= 1)) user_error("do_bench: the quantile {} does not lie in [0, 1]", q);
}

testing::Options timing_options(const BenchOptions& o) {
  return {.seconds = o.repeat / kMilliseconds, .warm_up_seconds = o.warm_up / kMilliseconds,
          .batch_seconds = std::min(3e-3, o.repeat / kMilliseconds / o.least_samples),
          .least_rounds = o.least_samples, .most_rounds = o.most_samples};
}

BenchResult result_of(testing::Times times, std::span<const double> quantiles) {
  for (double& sample : times.samples) sample *= kMilliseconds;
  BenchResult r{.median = times.median(), .min = times.quantile(0), .max = times.quantile(1)};
  r.mean = std::accumulate(times.samples.begin(), times.samples.end(), 0.0) / static_cast<double>(times.samples.size());
  for (double q : quantiles) r.quantiles.push_back(times.quantile(q));
  r.samples = std::move(times.samples);
  return r;
}

}  // namespace

double BenchResult::quantile(double q) const { return testing::Times{samples}.quantile(q); }

std::string BenchResult::text() const {
  auto words = [](double milliseconds) { return testing::time_text(milliseconds / kMilliseconds); };
  return fmt::format("{} ({} to {}, {} samples)", words(median), words(quantile(0.05)), words(quantile(0.95)), samples.size());
}

BenchResult do_bench(const std::function<void()>& run, const BenchOptions& options) {
  check(options);
  Device& device = device_named(options.device);
  testing::Reset reset(options.reset_to_zero, options.restore);
  std::optional<testing::CacheFlush> flush;
  if (options.flush_cache) flush.emplace(device);
  std::function<void()> before;
  if (flush || !reset.is_empty()) before = [&] {
    reset();
    if (flush) (*flush)();
  };
  testing::Call call = [&](int64_t) { run(); };
  return result_of(testing::measure(device, {&call, 1}, timing_options(options), before)[0], options.quantiles);
}

BenchResult bench_copy(int64_t bytes, const BenchOptions& options) {
  if (bytes < 8) user_error("bench_copy: {} bytes, expected 8 or more", bytes);
  testing::Memory memory(device_named(options.device));
  OperandText half(fmt::format("f32({})", bytes / 8));
  TensorView from = memory.operand(half, testing::Content::Normal, 0), to = memory.operand(half, testing::Content::None, 1);
  return do_bench([&] { ops::copy(from, out(to)); }, options);
}

BenchResult bench_empty_kernel(const BenchOptions& options) {
  static const Kernel& nothing = *new Kernel(kernel("nothing", [](tl::Ptr<float>) {}));
  Tensor any = zeros({1}, {f32, options.device});
  return do_bench([&] { nothing[1](any); }, options);
}

}  // namespace strider::v0::testing
