// SPDX-License-Identifier: Apache-2.0
// Timing of calls: what it counts, how it orders samples, and its statistics.
#include "testing/timing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace strider::inline v0::testing {
namespace {

constexpr Options kBrief{.seconds = 0, .warm_up_seconds = 0, .batch_seconds = 1e-12, .least_rounds = 4, .most_rounds = 9};

void spin(double seconds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(Times, QuantilesLieBetweenSamples) {
  Times times{{3, 1, 2, 4}};
  EXPECT_EQ(times.median(), 2.5);
  EXPECT_EQ(times.quantile(0), 1);
  EXPECT_EQ(times.quantile(1), 4);
  EXPECT_EQ(Times{{7}}.median(), 7);
}

TEST(Times, TheRatioIsOfNeighbours) { EXPECT_EQ(ratio({{1, 20, 300}}, {{2, 10, 300}}), 1); }

TEST(Measure, TakesSamplesInTurnAndTurnsBack) {
  std::string order;
  Call calls[] = {[&](int64_t) { order += 'a'; }, [&](int64_t) { order += 'b'; }};
  std::vector<Times> times = measure(device_named("cpu"), calls, kBrief);
  EXPECT_EQ(order, "aabb" "ab" "ba" "ab" "ba");
  EXPECT_EQ(times[0].samples.size(), 4u);
  EXPECT_EQ(times[1].samples.size(), 4u);
}

TEST(Measure, NumbersTheCalls) {
  int64_t expected = 0;
  Call call = [&](int64_t number) { EXPECT_EQ(number, expected++); };
  measure(device_named("cpu"), {&call, 1}, kBrief);
  EXPECT_EQ(expected, 6);
}

TEST(Measure, TimesOneCallWhateverTheBatch) {
  Options options = kBrief;
  options.batch_seconds = 20e-3;
  int calls = 0;
  Call call = [&](int64_t) { spin(1e-3), ++calls; };
  double seconds = measure(device_named("cpu"), {&call, 1}, options)[0].quantile(0);
  EXPECT_GE(seconds, 1e-3);
  EXPECT_GE(calls, 2 + 4 * 2);
  EXPECT_LT(seconds, 10e-3);
}

TEST(Measure, StopsWhenTheTimeIsUp) {
  Options options = kBrief;
  options.seconds = 1e9;
  Call call = [](int64_t) {};
  EXPECT_EQ(measure(device_named("cpu"), {&call, 1}, options)[0].samples.size(), 9u);
}

}  // namespace
}  // namespace strider::v0::testing
