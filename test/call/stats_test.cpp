// SPDX-License-Identifier: Apache-2.0
// The counters, and that they begin anew.
#include <gtest/gtest.h>

#include <thread>

#include "call/stats.h"
#include "support/cache_folder.h"

#include <strider/strider.h>

namespace strider::test {
namespace {

namespace st = strider;

TEST(Stats, CountsWhatHappens) {
  CacheFolder cache;
  auto op = st::pointwise("f", [](auto x) { return x + 0.125; });
  st::Tensor x = st::arange(10);
  st::reset_stats();
  op(x);
  EXPECT_EQ(st::stats().compiles, 1);
  EXPECT_EQ(st::stats().disk_misses, 1);
  EXPECT_EQ(st::stats().memory_hits, 0);
  EXPECT_GT(st::stats().bytes_written, 0);
  for (int k = 0; k < 5; ++k) op(x);
  EXPECT_EQ(st::stats().memory_hits, 5);
  st::pointwise("f", [](auto v) { return v + 0.125; })(x);
  EXPECT_EQ(st::stats().disk_hits, 1);
  EXPECT_EQ(st::stats().compiles, 1);
  EXPECT_EQ(st::stats().bytes_read, st::stats().bytes_written);
}

TEST(Stats, ResetsAll) {
  st::pointwise("f", [](auto x) { return x + 0.25; })(st::arange(10));
  EXPECT_GT(st::stats().compiles, 0);
  st::reset_stats();
  st::Stats s = st::stats();
  for (int64_t n : {s.compiles, s.memory_hits, s.disk_hits, s.disk_misses, s.bytes_read, s.bytes_written}) EXPECT_EQ(n, 0);
}

TEST(Stats, ManyThreadsLoseNoCount) {
  Counter counter;
  std::vector<std::thread> threads;
  for (int t = 0; t < 80; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) counter.add();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(counter.sum(), 80000);
  counter.clear();
  EXPECT_EQ(counter.sum(), 0);
}

}  // namespace
}  // namespace strider::test
