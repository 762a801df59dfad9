// SPDX-License-Identifier: Apache-2.0
// Quick code first, fast code from the background: on a device that pretends to load slowly, so that no GPU is needed.
#include "call/tiers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ir/builder.h"
#include "base/error.h"
#include "call/stats.h"
#include "support/cache_folder.h"

namespace strider {
namespace {

/// The CPU, with a target that wants tiers. Counts what it loads, and may refuse fast code.
class SlowDevice final : public Device {
 public:
  SlowDevice() { target_.in_tiers = true; }
  std::string name() const override { return cpu_.name(); }
  std::string description() const override { return cpu_.description(); }
  const Target& target() const override { return target_; }
  std::unique_ptr<Executable> load(const Binary& binary) override {
    while (!binary.is_quick && holds_fast) std::this_thread::yield();
    if (!binary.is_quick && refuses_fast) throw std::runtime_error("no fast code today");
    (binary.is_quick ? quick : fast)++;
    return cpu_.load(binary);
  }
  void* allocate(int64_t bytes) override { return cpu_.allocate(bytes); }
  void release(void* memory) noexcept override { cpu_.release(memory); }
  void copy_in(void* d, const void* h, int64_t n, StreamHandle s) override { cpu_.copy_in(d, h, n, s); }
  void copy_out(void* h, const void* d, int64_t n, StreamHandle s) override { cpu_.copy_out(h, d, n, s); }
  void fill_zero(void* d, int64_t n, StreamHandle s) override { cpu_.fill_zero(d, n, s); }
  void synchronize() override {}
  Binary finished(Binary binary) override {
    if (refuses_to_finish) driver_error("no finished code today");
    ++finishes;
    return binary;
  }
  std::string driver_version() const override { return version; }

  std::atomic<int> quick{0}, fast{0}, finishes{0};
  std::atomic<bool> holds_fast{false}, refuses_fast{false}, refuses_to_finish{false};
  std::string version = "1";

 private:
  Device& cpu_ = device_named("cpu");
  Target target_ = host_target();
};

/// y[i] = x[i] * 2 for i < n, in blocks of 64.
ir::Function twice() {
  using namespace ir;
  Builder b("twice");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x"}), y = b.param(Type::pointer(DType::F32), {.name = "y"});
  Value n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Value i = b.add(b.broadcast(b.mul(b.program_id(0), b.i32(64)), {64}), b.arange(DType::I32, 0, 64));
  Value mask = b.binary(Op::Lt, i, b.broadcast(n, {64}));
  Value v = b.load(b.ptr_add(b.broadcast(x, {64}), i), mask);
  b.store(b.ptr_add(b.broadcast(y, {64}), i), b.add(v, v), mask);
  return b.finish();
}

void expect_twice(Executable& code) {
  std::vector<float> x(1000), y(1000);
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k);
  const uint64_t args[] = {reinterpret_cast<uint64_t>(x.data()), reinterpret_cast<uint64_t>(y.data()), x.size()};
  code.launch({16, 1, 1}, args);
  for (size_t k = 0; k < x.size(); ++k) ASSERT_EQ(y[k], 2 * x[k]) << k;
}

/// Devices live as long as the process: the background may still look at one.
SlowDevice& slow_device() {
  static std::deque<SlowDevice>& all = *new std::deque<SlowDevice>;
  return all.emplace_back();
}

TEST(Tiers, QuickCodeRunsUntilFastCodeIsThere) {
  SlowDevice& device = slow_device();
  device.holds_fast = true;
  int64_t before = counters().compiles.sum();
  auto code = compile_in_tiers(twice(), device);
  EXPECT_EQ(device.quick, 1);
  expect_twice(*code);
  EXPECT_EQ(device.fast, 0);
  device.holds_fast = false;
  finish_background();
  EXPECT_EQ(device.fast, 1);
  expect_twice(*code);
  EXPECT_EQ(counters().compiles.sum(), before + 1);
}

TEST(Tiers, QuickCodeStaysWhenFastCodeFails) {
  SlowDevice& device = slow_device();
  device.refuses_fast = true;
  auto code = compile_in_tiers(twice(), device);
  finish_background();
  expect_twice(*code);
}

TEST(Tiers, NobodyWaitsForFastCodeOfWhatIsGone) {
  SlowDevice& device = slow_device();
  device.holds_fast = true;
  auto first = compile_in_tiers(twice(), device);
  compile_in_tiers(twice(), device).reset();
  device.holds_fast = false;
  finish_background();
  EXPECT_EQ(device.quick, 2);
  EXPECT_EQ(device.fast, 1);
}

TEST(Tiers, LaunchesGoOnWhileFastCodeArrives) {
  SlowDevice& device = slow_device();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        auto code = compile_in_tiers(twice(), device);
        for (int call = 0; call < 20; ++call) expect_twice(*code);
      }
    });
  for (std::thread& t : threads) t.join();
  finish_background();
}

TEST(TiersDeathTest, AProcessEndsWhileFastCodeIsCompiled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static std::vector<std::unique_ptr<Executable>> codes;
        for (int k = 0; k < 20; ++k) codes.push_back(compile_in_tiers(twice(), slow_device()));
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

/// Loads the code of twice() for the device, waits until all is there, and gives what it compiled.
int64_t compiles_for(SlowDevice& device) {
  int64_t before = counters().compiles.sum();
  auto code = compile_in_tiers(twice(), device);
  finish_background();
  expect_twice(*code);
  return counters().compiles.sum() - before;
}

TEST(TiersOnDisk, FastCodeIsLoadedAtOnce) {
  test::CacheFolder cache;
  SlowDevice &first = slow_device(), &second = slow_device();
  EXPECT_EQ(compiles_for(first), 1);
  EXPECT_EQ(cache.files().size(), 2u) << "quick and fast code";
  EXPECT_EQ(first.finishes, 2);
  EXPECT_EQ(compiles_for(second), 0);
  EXPECT_EQ(second.quick, 0);
  EXPECT_EQ(second.fast, 1);
  EXPECT_EQ(second.finishes, 0);
}

TEST(TiersOnDisk, QuickCodeAloneIsOfUseToo) {
  test::CacheFolder cache;
  SlowDevice &first = slow_device(), &second = slow_device();
  first.refuses_fast = true;
  EXPECT_EQ(compiles_for(first), 1);
  EXPECT_EQ(cache.files().size(), 1u);
  EXPECT_EQ(compiles_for(second), 1) << "the fast code";
  EXPECT_EQ(second.quick, 1);
  EXPECT_EQ(second.finishes, 1);
  EXPECT_EQ(second.fast, 1);
}

TEST(TiersOnDisk, AnotherDriverHasOtherCode) {
  test::CacheFolder cache;
  SlowDevice &first = slow_device(), &second = slow_device();
  second.version = "2";
  EXPECT_EQ(compiles_for(first), 1);
  EXPECT_EQ(compiles_for(second), 1);
  EXPECT_EQ(cache.files().size(), 4u);
}

TEST(TiersOnDisk, WhatCannotBeFinishedIsLoadedAsItIs) {
  test::CacheFolder cache;
  SlowDevice& device = slow_device();
  device.refuses_to_finish = true;
  EXPECT_EQ(compiles_for(device), 1);
  EXPECT_EQ(device.fast, 1);
  EXPECT_TRUE(cache.files().empty());
}

TEST(Tiers, SettingTurnsThemOff) {
  SlowDevice& device = slow_device();
  ::setenv("STRIDER_TIERS", "0", 1);
  auto code = compile_in_tiers(twice(), device);
  ::unsetenv("STRIDER_TIERS");
  EXPECT_EQ(device.quick, 0);
  EXPECT_EQ(device.fast, 1);
  expect_twice(*code);
}

}  // namespace
}  // namespace strider
