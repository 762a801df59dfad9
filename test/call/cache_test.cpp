// SPDX-License-Identifier: Apache-2.0
// The table that keeps what was made once.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "call/cache.h"

#include <strider/strider.h>

namespace strider::test {
namespace {

std::string key(int i) { return std::to_string(i * 7919) + "key"; }

TEST(Cache, MakesOnceAndFindsAgain) {
  Cache<int> cache{"thing"};
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
  Cache<int> cache{"thing"};
  EXPECT_THROW(cache.find_or_make("k", []() -> std::unique_ptr<int> { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.find_or_make("k", [] { return std::make_unique<int>(3); }), 3);
}

TEST(Cache, AValueThatNeedsItselfIsAnError) {
  Cache<int> cache{"thing"};
  auto make = [&] { return std::make_unique<int>(cache.find_or_make("k", [] { return std::make_unique<int>(1); })); };
  EXPECT_THROW(cache.find_or_make("k", make), Error);
  EXPECT_EQ(cache.find_or_make("other", make), 1) << "another one may be needed";
}

TEST(Cache, DifferentValuesAreMadeAtTheSameTime) {
  Cache<int> cache{"thing"};
  std::atomic<int> inside{0};
  auto make = [&] {
    ++inside;
    while (inside < 2) std::this_thread::yield();
    return std::make_unique<int>(1);
  };
  std::thread other([&] { cache.find_or_make("a", make); });
  cache.find_or_make("b", make);
  other.join();
  EXPECT_EQ(cache.size(), 2u);
}

TEST(Cache, OneThatWaitedTriesAgainAfterAFailure) {
  Cache<int> cache{"thing"};
  std::atomic<bool> waits{false};
  std::thread other([&] {
    while (!waits) std::this_thread::yield();
    EXPECT_EQ(cache.find_or_make("k", [] { return std::make_unique<int>(2); }), 2);
  });
  auto fails = [&]() -> std::unique_ptr<int> {
    waits = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    throw std::runtime_error("no");
  };
  EXPECT_THROW(cache.find_or_make("k", fails), std::runtime_error);
  other.join();
}

TEST(Cache, ManyThreadsMakeEachValueOnce) {
  Cache<int> cache{"thing"};
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

/// Bytes of this process's memory that hold code and are no file.
int64_t bytes_of_code() {
  int64_t bytes = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r-xp ") == std::string::npos || line.find(" 00:00 0 ") == std::string::npos || line.ends_with(']')) continue;
    size_t dash = line.find('-');
    bytes += std::stoll(line.substr(dash + 1), nullptr, 16) - std::stoll(line.substr(0, dash), nullptr, 16);
  }
  return bytes;
}

TEST(CompiledCode, MakesRoomWithTheLastCopyOfItsOperator) {
  auto make = [](int n) {
    auto op = pointwise("f", [n](auto x) { return x + n; });
    op(arange(3));
    return op;
  };
  auto kept = make(-1);
  const int64_t before = bytes_of_code();
  EXPECT_GT(before, 0);
  std::vector<decltype(kept)> many;
  for (int n = 0; n < 20; ++n) many.push_back(make(n));
  const int64_t full = bytes_of_code(), one = (full - before) / 20;
  EXPECT_GT(one, 0);
  PreparedCall call = many[7].prepare(arange(3));
  many.clear();
  for (int n = 100; n < 120; ++n) many.push_back(make(n));
  EXPECT_LE(bytes_of_code(), full + 2 * one) << "a prepared call keeps its own";
  call();
  EXPECT_EQ(call.outputs()[0].to_doubles()[2], 9);
}

}  // namespace
}  // namespace strider::test
