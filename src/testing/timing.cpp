// SPDX-License-Identifier: Apache-2.0
#include "testing/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "tensor/stream.h"

#include <strider/device.h>

namespace strider::inline v0::testing {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One of the calls that are measured.
class Subject {
 public:
  Subject(Device& device, const Call& call, const std::function<void()>& before)
      : device_(device), call_(call), before_(before) {}

  /// Runs it for a while, which tells how many calls make a batch.
  void warm_up(const Options& options) {
    time_of(1);  // compiles
    finish_compiles();
    Clock::time_point start = Clock::now();
    double fastest = time_of(1);
    while (seconds_since(start) < options.warm_up_seconds) fastest = std::min(fastest, time_of(batch_));
    if (!before_) batch_ = static_cast<int>(std::clamp(std::ceil(options.batch_seconds / std::max(fastest, 1e-9)), 1.0, 1e5));
  }

  void take_sample() { times_.samples.push_back(time_of(batch_)); }
  const Times& times() const { return times_; }

 private:
  double time_of(int calls) {
    if (before_) before_();
    return device_.time([&] {
      for (int k = 0; k < calls; ++k) call_(number_++);
    }, current_handle(device_)) / calls;
  }

  Device& device_;
  const Call& call_;
  const std::function<void()>& before_;
  int batch_ = 1;
  int64_t number_ = 0;
  Times times_;
};

void take_samples(std::vector<Subject>& subjects, bool backwards) {
  if (backwards)
    for (size_t k = subjects.size(); k-- > 0;) subjects[k].take_sample();
  else
    for (Subject& s : subjects) s.take_sample();
}

double quantile_of(std::vector<double> values, double q) {
  STRIDER_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  double place = q * static_cast<double>(values.size() - 1);
  auto below = static_cast<size_t>(place);
  size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

}  // namespace

double Times::quantile(double q) const { return quantile_of(samples, q); }

std::vector<Times> measure(Device& device, std::span<const Call> calls, const Options& options,
                           const std::function<void()>& before) {
  std::vector<Subject> subjects;
  for (const Call& call : calls) subjects.emplace_back(device, call, before).warm_up(options);
  Clock::time_point start = Clock::now();
  for (int round = 0; round < options.most_rounds; ++round) {
    if (round >= options.least_rounds && seconds_since(start) >= options.seconds) break;
    take_samples(subjects, round % 2 == 1);
  }
  std::vector<Times> result;
  for (const Subject& s : subjects) result.push_back(s.times());
  return result;
}

/// The ranks of the samples between which the median lies at 95 %: from the binomial distribution, as a normal one.
bool may_be_faster(const Times& a, const Times& b, double share) {
  STRIDER_CHECK(a.samples.size() == b.samples.size() && !a.samples.empty());
  std::vector<double> ratios;
  for (size_t k = 0; k < a.samples.size(); ++k) ratios.push_back(a.samples[k] / b.samples[k]);
  std::sort(ratios.begin(), ratios.end());
  auto n = static_cast<double>(ratios.size());
  auto rank = static_cast<size_t>(std::max(std::floor(n / 2 - 0.98 * std::sqrt(n)), 0.0));
  return ratios[rank] < share;
}

Race race(size_t calls, const std::function<std::vector<Times>(std::span<const size_t>)>& take, int most_rounds) {
  Race result;
  result.times.resize(calls);
  std::vector<size_t> open(calls);
  std::iota(open.begin(), open.end(), size_t{0});
  for (int round = 0; round < most_rounds && !open.empty(); ++round) {
    std::vector<Times> more = take(open);
    for (size_t k = 0; k < open.size(); ++k) {
      auto& samples = result.times[open[k]].samples;
      samples.insert(samples.end(), more[k].samples.begin(), more[k].samples.end());
    }
    auto median = [&](size_t k) { return result.times[k].median(); };
    result.best = *std::min_element(open.begin(), open.end(), [&](size_t a, size_t b) { return median(a) < median(b); });
    std::erase_if(open, [&](size_t k) { return k != result.best && !may_be_faster(result.times[k], result.times[result.best], kMatters); });
    result.is_certain = open.size() < 2;
    if (result.is_certain) break;
  }
  return result;
}

double gigabytes_per_second(int64_t bytes, const Times& times) { return static_cast<double>(bytes) / times.median() / 1e9; }

double ratio(const Times& a, const Times& b) {
  STRIDER_CHECK(a.samples.size() == b.samples.size());
  std::vector<double> ratios;
  for (size_t k = 0; k < a.samples.size(); ++k) ratios.push_back(a.samples[k] / b.samples[k]);
  return quantile_of(ratios, 0.5);
}

}  // namespace strider::v0::testing
