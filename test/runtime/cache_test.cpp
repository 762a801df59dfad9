// SPDX-License-Identifier: Apache-2.0
// The table that keeps what was made once.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "runtime/cache.h"

namespace strider::test {
namespace {

std::string key(int i) { return std::to_string(i * 7919) + "key"; }

TEST(Cache, MakesOnceAndFindsAgain) {
  Cache<int> cache;
  int made = 0;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 1000; ++i) {
      int& value = cache.find_or_make(key(i), [&] { return ++made, std::make_unique<int>(i); });
      EXPECT_EQ(value, i);
    }
  EXPECT_EQ(made, 1000);
  EXPECT_EQ(cache.size(), 1000u);
  EXPECT_EQ(cache.find("absent"), nullptr);
  EXPECT_EQ(*cache.find(key(77)), 77);
}

TEST(Cache, AFailureLeavesNoTrace) {
  Cache<int> cache;
  EXPECT_THROW(cache.find_or_make("k", []() -> std::unique_ptr<int> { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.find_or_make("k", [] { return std::make_unique<int>(3); }), 3);
}

TEST(Cache, ManyThreadsMakeEachValueOnce) {
  Cache<int> cache;
  std::atomic<int> made{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        int n = (i + t * 251) % 500;
        int* found = cache.find(key(n));
        if (!found) found = &cache.find_or_make(key(n), [&] { return ++made, std::make_unique<int>(n); });
        if (*found != n) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 500);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace strider::test
