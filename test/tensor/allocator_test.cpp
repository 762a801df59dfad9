// SPDX-License-Identifier: Apache-2.0
// The store of freed memory: what is reused, what is given back, what threads and forks see.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include <strider/device.h>
#include <strider/error.h>
#include <strider/tensor.h>

#include "backend/backend.h"
#include "base/error.h"
#include "tensor/allocator.h"

namespace strider::test {
namespace {

constexpr int64_t kMiB = 1 << 20;

/// A device that counts, and that can run out of memory.
class CountingDevice final : public Device {
 public:
  std::string name() const override { return "counting"; }
  std::string description() const override { return ""; }
  const Target& target() const override { internal_error("no target"); }
  std::unique_ptr<Executable> load(const Binary&) override { internal_error("no code"); }
  void* allocate(int64_t bytes) override {
    ++asked;
    if (held + bytes > capacity) driver_error("counting: out of memory");
    held += bytes;
    void* memory = reinterpret_cast<void*>(next);
    next += 1 << 30;
    sizes[memory] = bytes;
    return memory;
  }
  void release(void* memory) noexcept override {
    held -= sizes.at(memory);
    sizes.erase(memory);
  }
  void copy_in(void*, const void*, int64_t, StreamHandle) override {}
  void copy_out(void*, const void*, int64_t, StreamHandle) override {}
  void fill_zero(void*, int64_t, StreamHandle) override {}
  void synchronize() override {}

  std::map<void*, int64_t> sizes;
  int64_t held = 0, capacity = INT64_MAX, asked = 0;
  uintptr_t next = 1 << 30;
};

struct Got {
  MemoryPool::Loan loan;
  void* memory = loan.memory();
  int64_t capacity = loan.capacity();
};
Got get(MemoryPool& pool, int64_t bytes) {
  Got g{pool.allocate(bytes)};
  EXPECT_GE(g.capacity, bytes);
  return g;
}
void give(MemoryPool& pool, Got&& g) { pool.release(std::move(g.loan)); }
void give(MemoryPool& pool, Got& g) { give(pool, std::move(g)); }

TEST(MemoryPool, SizesRoundUpByAnEighthAtMost) {
  for (int64_t bytes : std::vector<int64_t>{0, 1, 511, 512, 513, 4096, 5000, 65537, kMiB - 1, kMiB, kMiB + 1, 100 * kMiB + 1,
                                            INT64_MAX - 1, INT64_MAX}) {
    int64_t size = MemoryPool::size_class(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_EQ(MemoryPool::size_class(size), size) << bytes;
    EXPECT_LE(static_cast<double>(size), std::max(1.125 * static_cast<double>(bytes) + 1, 512.0 + static_cast<double>(bytes)))
        << bytes;
    EXPECT_GE(size, MemoryPool::size_class(std::max<int64_t>(bytes - 1, 0))) << bytes;
  }
}

TEST(MemoryPool, TheLastBlockOfASizeComesBackFirst) {
  CountingDevice device;
  MemoryPool pool(device, 100 * kMiB, 1);
  Got a = get(pool, kMiB), b = get(pool, kMiB);
  give(pool, a);
  give(pool, b);
  EXPECT_EQ(get(pool, kMiB).memory, b.memory);
  EXPECT_EQ(get(pool, kMiB - 100).memory, a.memory);
  EXPECT_NE(get(pool, kMiB).memory, a.memory);
  EXPECT_EQ(device.asked, 3);
  EXPECT_EQ(pool.stats().reuses, 2);
  EXPECT_EQ(pool.stats().allocations, 5);
  EXPECT_EQ(pool.stats().in_use, 3 * kMiB);
}

TEST(MemoryPool, ABlockThatIsMuchTooLargeIsLeft) {
  CountingDevice device;
  MemoryPool pool(device, 100 * kMiB, 1);
  Got large = get(pool, 8 * kMiB);
  give(pool, large);
  EXPECT_NE(get(pool, kMiB).memory, large.memory);
  EXPECT_EQ(get(pool, 8 * kMiB - kMiB / 2).memory, large.memory);
}

TEST(MemoryPool, WhatWaitedLongestGoesWhenTheLimitIsReached) {
  CountingDevice device;
  MemoryPool pool(device, 10 * kMiB, 1);
  Got a = get(pool, 4 * kMiB), b = get(pool, 4 * kMiB), c = get(pool, 3 * kMiB), huge = get(pool, 11 * kMiB);
  give(pool, a);
  give(pool, b);
  EXPECT_EQ(pool.stats().cached, 8 * kMiB);
  give(pool, c);
  EXPECT_EQ(pool.stats().cached, 7 * kMiB);
  EXPECT_FALSE(device.sizes.count(a.memory));
  give(pool, huge);
  EXPECT_FALSE(device.sizes.count(huge.memory));
  EXPECT_EQ(pool.stats().cached, 7 * kMiB);
  EXPECT_EQ(get(pool, 3 * kMiB).memory, c.memory);
  EXPECT_EQ(get(pool, 4 * kMiB).memory, b.memory);
  EXPECT_EQ(pool.stats().peak_in_use, 22 * kMiB);
}

TEST(MemoryPool, ReleaseGivesAllBack) {
  CountingDevice device;
  {
    MemoryPool pool(device, 100 * kMiB, 1);
    Got a = get(pool, 4 * kMiB), b = get(pool, 100), living = get(pool, 1000);
    give(pool, a);
    give(pool, b);
    EXPECT_EQ(pool.release_cache(), 4 * kMiB + 512);
    EXPECT_EQ(pool.stats().cached, 0);
    EXPECT_EQ(pool.release_cache(), 0);
    EXPECT_EQ(device.held, living.capacity);
    give(pool, living);
  }
  EXPECT_EQ(device.held, 0);
}

TEST(MemoryPool, ADeviceWithoutMemoryIsAskedAgainWhenTheStoreIsEmpty) {
  CountingDevice device;
  device.capacity = 10 * kMiB;
  MemoryPool pool(device, 100 * kMiB, 1);
  Got a = get(pool, 6 * kMiB);
  give(pool, a);
  Got b = get(pool, 9 * kMiB);
  EXPECT_EQ(device.held, b.capacity);
  EXPECT_THROW(get(pool, 2 * kMiB), Error);
  EXPECT_EQ(pool.stats().in_use, b.capacity);
  give(pool, b);
}

TEST(MemoryPool, NoLimitMeansNoStore) {
  CountingDevice device;
  MemoryPool pool(device, 0, 1);
  give(pool, get(pool, kMiB));
  EXPECT_EQ(device.held, 0);
  MemoryPool choosy(device, kMiB, 4096);
  give(choosy, get(choosy, 4095));
  EXPECT_EQ(device.held, 0);
  give(choosy, get(choosy, 4096));
  EXPECT_EQ(device.held, 4096);
}

class TensorMemory : public ::testing::TestWithParam<std::string> {};

TEST_P(TensorMemory, IsUsedAgain) {
  release_cache();
  MemoryStats before = memory_stats(GetParam());
  void* first = nullptr;
  for (int k = 0; k < 5; ++k) {
    Tensor t = empty({1000, 1000}, {f32, GetParam()});
    if (k == 0) first = t.data();
    EXPECT_EQ(t.data(), first);
    EXPECT_GE(memory_stats(GetParam()).in_use - before.in_use, 4000000);
  }
  MemoryStats after = memory_stats(GetParam());
  EXPECT_EQ(after.allocations - before.allocations, 5);
  EXPECT_EQ(after.reuses - before.reuses, 4);
  EXPECT_EQ(after.in_use, before.in_use);
  EXPECT_GE(after.cached, 4000000);
  EXPECT_LE(after.cached, after.limit);
  EXPECT_GE(release_cache(GetParam()), 4000000);
  EXPECT_EQ(memory_stats(GetParam()).cached, 0);
}

TEST_P(TensorMemory, ZerosAreZeroInUsedMemory) {
  for (int k = 0; k < 2; ++k) {
    Tensor t = zeros({300000}, {i64, GetParam()});
    EXPECT_EQ(t.to_vector<int64_t>(), std::vector<int64_t>(300000));
    t.copy_from(full({}, -1, {i64, GetParam()}));
  }
}

TEST_P(TensorMemory, EmptyTensorsHaveSome) {
  Tensor t = empty({0, 3}, {f32, GetParam()});
  EXPECT_NE(t.data(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, TensorMemory, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

TEST(TensorMemoryOnTheHost, IsAligned) {
  for (int64_t bytes : {1, 63, 64, 65, 100000, 1 << 23})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(empty({bytes}, {u8, "cpu"}).data()) % 64, 0u) << bytes;
}

/// Page faults of this thread while a large tensor is made and written.
int64_t faults_of_a_large_tensor() {
  auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  };
  int64_t before = faults();
  Tensor t = empty({3 * kMiB + 100000}, {u8, "cpu"});  // too small for huge pages
  std::memset(t.data(), 1, static_cast<size_t>(t.elements()));
  return faults() - before;
}

TEST(TensorMemoryOnTheHost, ALargeTensorPaysForItsPagesOnce) {
  release_cache();
  int64_t first = faults_of_a_large_tensor();
  EXPECT_LE(20 * faults_of_a_large_tensor(), std::max<int64_t>(first, 200));
}

TEST(TensorMemoryOnTheHost, UnknownDevicesAreUserErrors) {
  EXPECT_THROW(release_cache("abacus"), Error);
  EXPECT_THROW(memory_stats("abacus"), Error);
}

/// Fills memory of odd sizes with a mark of its own and finds it again, so that two tensors of one block would be seen.
void work(int mark) {
  std::vector<Tensor> held;
  for (int k = 0; k < 300; ++k) {
    int64_t size = 60000 + 7919 * ((k * 31 + mark * 17) % 40);
    held.push_back(empty({size}, {u8, "cpu"}));
    std::memset(held.back().data(), mark, static_cast<size_t>(size));
    if (held.size() < 5) continue;
    const Tensor& oldest = held.front();
    auto* bytes = static_cast<const uint8_t*>(oldest.data());
    EXPECT_EQ(bytes[0], mark);
    EXPECT_EQ(std::memcmp(bytes, bytes + 1, static_cast<size_t>(oldest.elements() - 1)), 0);
    held.erase(held.begin());
    if (k % 50 == mark) release_cache();
  }
}

TEST(TensorMemoryOnTheHost, ThreadsDoNotShareBlocks) {
  std::vector<std::thread> threads;
  for (int mark = 1; mark <= 8; ++mark) threads.emplace_back(work, mark);
  for (std::thread& t : threads) t.join();
}

TEST(TensorMemoryOnTheHost, ChildrenGoOn) {
  { Tensor kept = full({200000}, 3, {u8, "cpu"}); }
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) empty({100000}, {u8, "cpu"});
  });
  for (int k = 0; k < 20; ++k) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      Tensor t = empty({200000}, {u8, "cpu"});
      std::memset(t.data(), 1, 200000);
      release_cache();
      _exit(memory_stats().cached == 0 ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

TEST(TensorMemoryOnTheHost, StaticTensorsMayEndLast) {
  pid_t child = fork();
  if (child == 0) {
    static Tensor last = empty({300000}, {u8, "cpu"});
    static std::unique_ptr<Tensor> held = std::make_unique<Tensor>(empty({300000}, {u8, "cpu"}));
    std::exit(last.elements() == held->elements() ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(TensorMemoryOnTheHost, TheSettingIsChecked) {
  auto answer_with = [](const char* value) {
    pid_t child = fork();
    if (child == 0) {
      setenv("STRIDER_MEMORY_CACHE", value, 1);
      try {
        CountingDevice device;
        _exit(memory_pool(device).stats().limit / kMiB == 77 ? 0 : 1);
      } catch (const Error& e) {
        _exit(e.kind() == ErrorKind::User && std::strstr(e.what(), "STRIDER_MEMORY_CACHE is \"") ? 2 : 3);
      }
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  auto again_after = [](const char* value) {  // a setting without a meaning leaves nothing behind
    pid_t child = fork();
    if (child == 0) {
      setenv("STRIDER_MEMORY_CACHE", value, 1);
      CountingDevice device;
      int errors = 0;
      for (int k = 0; k < 2; ++k) {
        try {
          memory_pool(device);
        } catch (const Error&) {
          ++errors;
        }
        release_cache();
        if (pid_t inner = fork(); inner == 0) _exit(0);
        else waitpid(inner, nullptr, 0);
      }
      _exit(errors);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  };
  EXPECT_EQ(again_after("abc"), 2 << 8);
  EXPECT_EQ(answer_with("77"), 0);
  EXPECT_EQ(answer_with("many"), 2);
  EXPECT_EQ(answer_with("-1"), 2);
  EXPECT_EQ(answer_with(""), 2);
}

}  // namespace
}  // namespace strider::test
