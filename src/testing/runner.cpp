// SPDX-License-Identifier: Apache-2.0
#include "testing/runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include <strider/pointwise.h>

namespace strider::timing {

// --- progress

void Progress::show(std::string_view what) {
  if (!::isatty(STDERR_FILENO)) return;
  clear();
  fmt::print(stderr, "  measuring {} ...", what);
  shown_ = what.size() + 16;
}

void Progress::clear() {
  if (shown_ > 0) fmt::print(stderr, "\r{:{}}\r", "", shown_);
  shown_ = 0;
}

// --- runner

Runner::Runner(std::string device, bool quick, Progress& progress)
    : device_name_(std::move(device)), device_(device_named(device_name_)), quick_(quick), progress_(progress) {}

bool Runner::is_gpu() const { return device_.target().max_threads > 1; }

std::vector<Tensor> Runner::inputs(const Dims& shape) const {
  constexpr int64_t kPattern = 1 << 16;
  static const Tensor& pattern = *new Tensor(randn({kPattern}));
  Tensor host = empty(shape);
  for (int64_t done = 0; done < host.elements(); done += kPattern)
    std::memcpy(host.data<float>() + done, pattern.data(),
                static_cast<size_t>(std::min(kPattern, host.elements() - done)) * sizeof(float));
  std::vector<Tensor> sets = outputs(shape);
  for (Tensor& t : sets) device_.copy_in(t.data(), host.data(), host.elements() * size_of(host.dtype()));
  return sets;
}

std::vector<Tensor> Runner::outputs(const Dims& shape) const {
  std::vector<Tensor> sets;
  for (int64_t k = 0; k < kSets; ++k) sets.push_back(empty(shape, {f32, device_name_}));
  return sets;
}

namespace {

const auto& copy() {
  static const auto& op = *new auto(pointwise("copy", [](auto x) { return x; }));
  return op;
}

}  // namespace

Case Runner::copy_of(int64_t bytes) const {
  Dims shape{bytes / 2 / size_of(f32)};
  return {"copy", bytes,
          [x = inputs(shape), y = outputs(shape)](int64_t call) { copy()(of_call(x, call), out(of_call(y, call))); }};
}

void Runner::compare(const Case& c, const Case& baseline) {
  progress_.show(c.name);
  Options options;
  options.seconds = quick_ ? 0.25 : 2;
  Call calls[] = {baseline.call, c.call};
  std::vector<Times> times = measure(device_, calls, options);
  double ratio = timing::ratio(times[0], times[1]);
  if (c.bytes > 0) ratio *= static_cast<double>(c.bytes) / static_cast<double>(baseline.bytes);
  rows_.push_back({c.name, times[1], c.bytes, baseline.name, times[0], ratio});
}

}  // namespace strider::timing
