// SPDX-License-Identifier: Apache-2.0
// How long calls take: several calls measured in turn, so that whatever else the machine does meets all of them alike.
//
// A sample is the time of a batch of calls by the device's clock, from an idle device to an idle device, divided by their
// number. A batch lasts a few milliseconds, so that what synchronising costs does not count; a call that is longer is a
// batch of its own. Every other round takes the calls in the opposite order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "backend/backend.h"

namespace strider::inline v0::testing {

/// Gets the number of the call, counted from 0: it can use other memory each time.
using Call = std::function<void(int64_t number)>;

struct Options {
  double seconds = 1;             // of all samples of all calls
  double warm_up_seconds = 0.1;   // of each call, before the first sample
  double batch_seconds = 3e-3;
  int least_rounds = 11, most_rounds = 301;
};

struct Times {
  std::vector<double> samples;  // seconds of one call, in the order they were taken

  double median() const { return quantile(0.5); }
  /// 0 gives the least, 1 the greatest; between two samples, the line between them.
  double quantile(double q) const;
};

/// Whether the samples of `a`, taken beside those of `b`, leave it possible (at 95 %) that its median time is less than `share` of
/// that of `b`.
bool may_be_faster(const Times& a, const Times& b, double share);

/// What a race of several calls gave.
struct Race {
  std::vector<Times> times;  // by call
  size_t best = 0;           // the call of the least median time
  bool is_certain = true;    // no other call may need less than kMatters of its time
};
inline constexpr double kMatters = 0.98;

/// Takes samples of all calls, then again of those that may be faster than the best one so far, until that is certain or
/// `most_rounds` have been run. `take` gets the numbers of calls and gives samples that were taken in turn, as many of each.
Race race(size_t calls, const std::function<std::vector<Times>(std::span<const size_t>)>& take, int most_rounds);

/// Takes samples of all calls in turn; as many of each. With `before`, which runs before every sample outside of its time, a
/// sample is the time of one call, however short.
std::vector<Times> measure(Device& device, std::span<const Call> calls, const Options& options = {},
                           const std::function<void()>& before = {});

double gigabytes_per_second(int64_t bytes, const Times& times);
/// The median of a / b over samples taken next to each other.
double ratio(const Times& a, const Times& b);

}  // namespace strider::v0::testing
