// SPDX-License-Identifier: Apache-2.0
#include "call/tiers.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/cancellation.h"
#include "base/deep_stack.h"
#include "base/quiet_thread.h"
#include "base/settings.h"
#include "base/undisturbed.h"
#include "pass/pipeline.h"
#include "call/compile.h"
#include "call/stats.h"

namespace strider {
namespace {

/// Quick code stays loaded when fast code has come: launches of it may still be waiting on the device.
struct Tiers {
  std::unique_ptr<Executable> quick, fast;
  std::atomic<Executable*> current{nullptr};
};

class TieredExecutable final : public Executable {
 public:
  explicit TieredExecutable(std::shared_ptr<Tiers> tiers) : tiers_(std::move(tiers)) {}
  void launch(const Grid& grid, std::span<const uint64_t> args, StreamHandle stream) override {
    tiers_->current.load(std::memory_order_acquire)->launch(grid, args, stream);
  }

 private:
  std::shared_ptr<Tiers> tiers_;
};

struct Job {
  std::weak_ptr<Tiers> tiers;  // dead: the operator is gone, its fast code is not wanted
  Compilation compilation;
  ir::Function prepared;
  bool is_counted;  // the quick code was compiled too
};

/// One thread that compiles what is asked for, in order. It starts with the first job and ends with the process. A child of fork()
/// forgets its parent's, which may be locked for ever, and has its own.
class Background {
 public:
  explicit Background(Background* previous) : previous_(previous) {}

  void add(Job job) {
    const Uncancelled uncancelled;
    std::lock_guard lock(mutex_);
    if (stopped_ || (!thread_.joinable() && !start())) return;
    jobs_.push_back(std::move(job));
    changed_.notify_all();
  }

  void finish() {
    const Uncancelled uncancelled;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return (jobs_.empty() && !is_busy_) || stopped_; });
  }

 private:
  /// Where no thread can start, quick code will do.
  bool start() {
    watch_for_exit();
    try {
      thread_ = start_quiet_thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    [[maybe_unused]] static const int registered = at_exit([] {  // before LLVM and the driver take themselves apart
      if (Background* b = current.load()) b->stop();
    });
    return true;
  }

  void stop() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
      jobs_.clear();
      changed_.notify_all();
    }
    thread_.join();
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !jobs_.empty() || stopped_; });
      if (stopped_) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      is_busy_ = true;
      lock.unlock();
      compile_fast(job);
      lock.lock();
      is_busy_ = false;
      changed_.notify_all();
    }
  }

  /// A failure leaves the quick code in use, which gives the same results.
  static void compile_fast(const Job& job) {
    auto tiers = job.tiers.lock();
    if (!tiers) return;
    try {
      tiers->fast = job.compilation.compile(job.prepared);
      if (!job.is_counted) counters().compiles.add();
      tiers->current.store(tiers->fast.get(), std::memory_order_release);
    } catch (const std::exception&) {
    }
  }

 public:
  static Background& background() {
    if (Background* existing = current.load(std::memory_order_acquire)) return *existing;
    auto made = std::make_unique<Background>(parents.load());
    Background* expected = nullptr;
    return current.compare_exchange_strong(expected, made.get()) ? *made.release() : *expected;
  }

  static void forget() {
    if (Background* b = current.exchange(nullptr)) parents.store(b);
  }

 private:
  static inline constinit std::atomic<Background*> current{nullptr}, parents{nullptr};

  [[maybe_unused]] Background* const previous_;  // kept reachable
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::thread thread_;
  bool is_busy_ = false, stopped_ = false;
};

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, Background::forget);

bool wants_tiers(const Target& target) {
  const char* choice = setting("STRIDER_TIERS");
  return target.in_tiers && !(choice && std::string_view(choice) == "0");
}

}  // namespace

std::unique_ptr<Executable> compile_in_tiers(const ir::Function& tile, Device& device) {
  if (!wants_tiers(device.target())) return compile(tile, device);
  return on_deep_stack([&]() -> std::unique_ptr<Executable> {
    Compilation fast(tile, device, device.target()), quick(tile, device, quick_target(device.target()));
    if (auto known = fast.from_disk()) return known;
    ir::Function prepared = pass::prepare(tile, device.target());
    auto tiers = std::make_shared<Tiers>();
    tiers->quick = quick.from_disk();
    bool compiles = !tiers->quick;
    if (compiles) tiers->quick = quick.compile(prepared);
    if (compiles) counters().compiles.add();
    tiers->current = tiers->quick.get();
    Background::background().add({tiers, std::move(fast), std::move(prepared), compiles});
    return std::make_unique<TieredExecutable>(std::move(tiers));
  });
}

void finish_background() { Background::background().finish(); }

}  // namespace strider
