// SPDX-License-Identifier: Apache-2.0
//
// How it works.  A pool has a fixed array of jobs, which live as long as the pool, so that a late worker may look
// at a job that has ended.  A caller claims a job, fills it in and opens it by setting its bit in `open_`.
// A worker that sees the bit enters (`helpers` + 1), looks at the bit again, and takes chunks until none is left.
// The caller takes chunks as well, closes the job, and waits until `helpers` is zero.  The second look and the
// order "close, then read helpers" (both sequentially consistent) make sure that either the worker sees the job
// closed or the caller sees the worker.
//
// Idle workers spin for a few microseconds and then sleep on `epoch_`, which every new job increments.
//
// The pool is never destroyed: its threads sleep until the process ends, so no destructor can find it half gone.
// After fork() the child forgets its parent's pool, whose threads it does not have.
#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/error.h"
#include "base/float_environment.h"
#include "base/quiet_thread.h"
#include "base/settings.h"

namespace strider {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kJobs = 32;
constexpr int kChunksPerThread = 8;
constexpr auto kSpin = std::chrono::microseconds(20);

// ---- settings ----

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

int configured_threads() {
  const char* text = setting("STRIDER_THREADS");
  if (!text) return available_processors();
  char* end = nullptr;
  const long threads = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || threads < 1)
    user_error("the environment variable STRIDER_THREADS is \"{}\", expected a number of threads, 1 or more", text);
  return static_cast<int>(std::min<long>(threads, kMaxThreads));
}

// ---- one call ----

// The number this thread has in the call it is working on, or -1 outside of any.
thread_local int current_worker = -1;

struct alignas(64) Job {
  RangeFunction function = nullptr;
  void* context = nullptr;
  int64_t count = 0;
  int64_t chunk = 0;
  int64_t chunks = 0;
  std::exception_ptr error;
  std::atomic<bool> failed{false};

  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<int> helpers{0};

  void fill(int64_t item_count, int64_t grain, int threads, RangeFunction f, void* c) {
    const int64_t grains = (item_count - 1) / grain + 1;
    function = f;
    context = c;
    count = item_count;
    chunk = grain * std::max<int64_t>(grains / (int64_t{kChunksPerThread} * threads), 1);
    chunks = (item_count - 1) / chunk + 1;
    failed.store(false, std::memory_order_relaxed);
    next.store(0, std::memory_order_relaxed);
  }

  void work(int worker) noexcept {
    const DefaultFloatEnvironment environment;
    current_worker = worker;
    try {
      take_chunks(worker);
    } catch (...) {
      fail();
    }
    current_worker = -1;
  }

  void take_chunks(int worker) {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      const int64_t begin = i * chunk;
      function(context, begin, begin + std::min(chunk, count - begin), worker);
    }
  }

  void fail() {
    if (!failed.exchange(true, std::memory_order_relaxed)) error = std::current_exception();
    next.store(chunks, std::memory_order_relaxed);
  }
};

void run_inline(int64_t count, RangeFunction function, void* context) {
  const DefaultFloatEnvironment environment;
  function(context, 0, count, std::max(current_worker, 0));
}

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Spins until `done` holds or the time is up.
template <class Done>
bool spin(Done done) {
  const auto deadline = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i, pause())
      if (done()) return true;
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

// ---- the pool ----

class Pool {
 public:
  explicit Pool(int threads, Pool* previous)
      : threads_(threads), spins_(threads <= available_processors()), previous_(previous) {}

  int threads() const { return threads_; }

  void run(int64_t count, int64_t grain, RangeFunction function, void* context) {
    const int slot = claim();
    if (slot < 0) return run_inline(count, function, context);
    Job& job = jobs_[slot];
    job.fill(count, grain, threads_, function, context);
    open(slot, job.chunks);
    job.work(0);
    close(slot);
    wait_for_helpers(job);
    const std::exception_ptr error = std::exchange(job.error, nullptr);
    release(slot);
    if (error) std::rethrow_exception(error);
  }

 private:
  static constexpr uint32_t bit(int slot) { return uint32_t{1} << slot; }
  static_assert(kJobs == 32);

  int claim() {
    uint32_t claimed = claimed_.load(std::memory_order_relaxed);
    while (claimed != ~uint32_t{0}) {
      const int slot = std::countr_one(claimed);
      if (claimed_.compare_exchange_weak(claimed, claimed | bit(slot), std::memory_order_acquire)) return slot;
    }
    return -1;
  }

  void release(int slot) { claimed_.fetch_and(~bit(slot), std::memory_order_release); }

  void open(int slot, int64_t chunks) {
    if (!started_.exchange(true, std::memory_order_relaxed)) start();
    open_.fetch_or(bit(slot));
    epoch_.fetch_add(1);
    wake(std::min<int64_t>(chunks, threads_) - 1);
  }

  void close(int slot) { open_.fetch_and(~bit(slot)); }

  void wake(int64_t wanted) {
    if (wanted > 4) return epoch_.notify_all();
    for (; wanted > 0; --wanted) epoch_.notify_one();
  }

  void wait_for_helpers(Job& job) {
    const auto idle = [&] { return job.helpers.load() == 0; };
    if (spins_ && spin(idle)) return;
    for (int helpers; (helpers = job.helpers.load()) != 0;) job.helpers.wait(helpers);
  }

  void start() {
    try {
      for (int worker = 1; worker < threads_; ++worker) start_quiet_thread([this, worker] { serve(worker); }).detach();
    } catch (const std::system_error&) {
      // The caller takes part in every call, so fewer workers, or none, will do.
    }
  }

  [[noreturn]] void serve(int worker) {
    pthread_setname_np(pthread_self(), "strider");
    for (;;) {
      const uint32_t open = wait_for_job();
      help((std::countr_zero(std::rotr(open, worker)) + worker) % kJobs, worker);
    }
  }

  void help(int slot, int worker) {
    Job& job = jobs_[slot];
    job.helpers.fetch_add(1);
    if (open_.load() & bit(slot)) {
      job.work(worker);
      close(slot);  // none is left to take; the caller cannot reuse the job while this worker is in it
    }
    if (job.helpers.fetch_sub(1) == 1) job.helpers.notify_one();
  }

  uint32_t wait_for_job() {
    uint32_t open = 0;
    const auto found = [&] { return (open = open_.load()) != 0; };
    if (spins_ && spin(found)) return open;
    for (;;) {
      const uint32_t epoch = epoch_.load();
      if (found()) return open;
      epoch_.wait(epoch);
    }
  }

  const int threads_;
  const bool spins_;
  [[maybe_unused]] Pool* const previous_;  // a parent process's pool, kept reachable
  std::atomic<bool> started_{false};
  std::atomic<uint32_t> claimed_{0};
  alignas(64) std::atomic<uint32_t> open_{0};
  std::atomic<uint32_t> epoch_{0};
  Job jobs_[kJobs];
};

// ---- the process's pool ----

constinit std::atomic<Pool*> current_pool{nullptr};
constinit std::atomic<Pool*> parent_pool{nullptr};

void forget_pool() {
  if (Pool* pool = current_pool.exchange(nullptr)) parent_pool.store(pool);
}

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, forget_pool);

// Threads that come first together each make a pool, without threads as yet; one of them is kept.
Pool& make_pool() {
  auto made = std::make_unique<Pool>(configured_threads(), parent_pool.load());
  Pool* expected = nullptr;
  return current_pool.compare_exchange_strong(expected, made.get()) ? *made.release() : *expected;
}

Pool& pool() {
  Pool* existing = current_pool.load(std::memory_order_acquire);
  return existing ? *existing : make_pool();
}

}  // namespace

void parallel_for(int64_t count, int64_t grain, RangeFunction function, void* context) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (count <= grain || current_worker >= 0 || pool().threads() == 1) return run_inline(count, function, context);
  pool().run(count, grain, function, context);
}

int worker_count() { return pool().threads(); }

// The former pool's threads sleep on, as it does itself.
void set_worker_count(int threads) {
  if (threads != worker_count()) current_pool.store(new Pool(std::clamp(threads, 1, kMaxThreads), current_pool.load()));
}

}  // namespace strider
