// SPDX-License-Identifier: Apache-2.0
// do_bench: what it times, what it does between samples, and that tensors are left as they should be.
#include <strider/testing/bench.h>

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "support/errors.h"
#include "testing/flush.h"

#include <strider/strider.h>

namespace strider {
namespace {

using support::error_of;
using strider::testing::BenchOptions;
using strider::testing::BenchResult;
using strider::testing::do_bench;

BenchOptions brief() { return {.warm_up = 0, .repeat = 0, .least_samples = 4, .flush_cache = false}; }

void spin(double milliseconds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(DoBench, GivesMillisecondsOfOneCall) {
  BenchOptions options = brief();
  options.quantiles = {0.5, 0, 1};
  BenchResult t = do_bench([] { spin(2); }, options);
  ASSERT_EQ(t.samples.size(), 4u);
  EXPECT_GE(t.min, 2);
  EXPECT_LT(t.min, 20);
  EXPECT_LE(t.min, t.median);
  EXPECT_LE(t.median, t.max);
  EXPECT_DOUBLE_EQ(t.mean, std::accumulate(t.samples.begin(), t.samples.end(), 0.0) / 4);
  EXPECT_EQ(t.quantiles, (std::vector{t.median, t.min, t.max}));
  EXPECT_DOUBLE_EQ(t.gigabytes_per_second(1'000'000), 1 / t.median);
}

TEST(DoBench, TimesShortCallsInBatches) {
  BenchOptions options = brief();
  options.repeat = 8;
  int64_t calls = 0;
  BenchResult t = do_bench([&] { ++calls; }, options);
  EXPECT_GT(calls, static_cast<int64_t>(100 * t.samples.size()));
  EXPECT_LT(t.median, 1e-3);
}

TEST(DoBench, RepeatsAsLongAsItIsTold) {
  BenchOptions options = brief();
  options.repeat = 30;
  EXPECT_GE(do_bench([] { spin(1); }, options).samples.size(), 5u);
  options.most_samples = 4;
  EXPECT_EQ(do_bench([] { spin(1); }, options).samples.size(), 4u);
}

TEST(DoBench, WarmsUp) {
  BenchOptions options = brief();
  options.warm_up = 20;
  int calls = 0;
  do_bench([&] { spin(1), ++calls; }, options);
  EXPECT_GT(calls, 4 + 2 + 5);
}

TEST(DoBench, TensorsAreZeroedAndPutBackBeforeEachCall) {
  Tensor sum = full({3}, 7), given = tensor<float>({1, 2, 3, 4}), every_second = given.slice(0, 0, 4, 2);
  BenchOptions options = brief();
  options.reset_to_zero = {sum};
  options.restore = {every_second};
  do_bench([&] {
    EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(every_second.to_vector<float>(), (std::vector<float>{1, 3}));
    sum += 1.0f;
    given += 10.0f;
  }, options);
  EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{0, 0, 0}));
  std::vector<float> left = given.to_vector<float>();
  EXPECT_EQ(left[0], 1);
  EXPECT_EQ(left[2], 3);
  EXPECT_GT(left[1], 2 + 4 * 10) << "what is not named is not put back";
}

TEST(DoBench, WhatIsDoneBetweenSamplesDoesNotCount) {
  Tensor large = zeros({1 << 24});
  BenchOptions options = brief();
  options.restore = {large};
  options.flush_cache = true;
  EXPECT_LT(do_bench([] {}, options).median, 1);
}

TEST(DoBench, TensorsArePutBackAfterAnError) {
  Tensor x = tensor<float>({1, 2});
  BenchOptions options = brief();
  options.restore = {x};
  EXPECT_THROW(do_bench([&] { x += 1.0f; throw 7; }, options), int);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(DoBench, SaysWhatIsWrong) {
  auto message = [](auto change) {
    BenchOptions options = brief();
    change(options);
    return error_of([&] { do_bench([] {}, options); });
  };
  EXPECT_EQ(message([](BenchOptions& o) { o.repeat = -1; }),
            "do_bench: 0 ms to warm up and -1 ms to repeat, expected 0 or more");
  EXPECT_EQ(message([](BenchOptions& o) { o.quantiles = {0.5, 20}; }), "do_bench: the quantile 20 does not lie in [0, 1]");
  EXPECT_NE(message([](BenchOptions& o) { o.least_samples = 0; }).find("0 to 1000 samples"), std::string::npos);
  EXPECT_NE(message([](BenchOptions& o) { o.device = "abacus"; }).find("abacus"), std::string::npos);
  EXPECT_NE(message([](BenchOptions& o) { o.restore = {zeros({2}).read_only()}; }).find("read-only"), std::string::npos);
}

TEST(DoBench, TellsTheSpread) {
  BenchResult t{.median = 0.002, .samples = {0.001, 0.002, 0.003}};
  EXPECT_EQ(t.text(), "2.0 us (1.1 us to 2.9 us, 3 samples)");
}

TEST(DoBench, Baselines) {
  BenchOptions options = brief();
  options.repeat = 2;
  BenchResult copy = strider::testing::bench_copy(1 << 24, options), empty = strider::testing::bench_empty_kernel(options);
  EXPECT_GT(copy.gigabytes_per_second(1 << 24), 0.1);
  EXPECT_LT(empty.median, copy.median);
  EXPECT_LT(empty.min, 0.1);
  EXPECT_EQ(error_of([] { strider::testing::bench_copy(7); }), "bench_copy: 7 bytes, expected 8 or more");
}

TEST(CacheFlush, IsLargerThanTheCaches) {
  EXPECT_GE(testing::CacheFlush::bytes_for(device_named("cpu")), 64 << 20);
}

}  // namespace
}  // namespace strider
