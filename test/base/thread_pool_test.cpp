// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/allocations.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strider {
namespace {

using namespace std::chrono_literals;

// Runs `body` in a child process with a fresh pool; returns its result, or -1 if it died or took over ten seconds.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// As in_child, with the pool's size set by the environment.
template <class Body>
int in_child_with_threads(const char* threads, Body body) {
  return in_child([&] {
    setenv("STRIDER_THREADS", threads, 1);
    return body();
  });
}

int64_t parallel_sum(int64_t count, int64_t grain) {
  std::atomic<int64_t> sum{0};
  parallel_for(count, grain, [&](int64_t begin, int64_t end, int) {
    int64_t part = 0;
    for (int64_t i = begin; i < end; ++i) part += i;
    sum += part;
  });
  return sum;
}

int64_t serial_sum(int64_t count) { return count * (count - 1) / 2; }

// Waits, with a limit, until `done` holds.
template <class Done>
bool eventually(Done done) {
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  while (!done() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return done();
}

// Keeps the first two ranges waiting for each other, so that they must run on two threads.
class Meeting {
 public:
  bool attend() {
    const int place = arrived_.fetch_add(1);
    return place >= 2 || eventually([&] { return arrived_ >= 2; });
  }

 private:
  std::atomic<int> arrived_{0};
};

bool two_threads_meet() {
  Meeting meeting;
  std::atomic<bool> met{true};
  parallel_for(64, 1, [&](int64_t, int64_t, int) {
    if (!meeting.attend()) met = false;
  });
  return met;
}

TEST(ThreadPool, CoversNothingWhenCountIsNotPositive) {
  int calls = 0;
  parallel_for(0, 1, [&](int64_t, int64_t, int) { ++calls; });
  parallel_for(-5, 1, [&](int64_t, int64_t, int) { ++calls; });
  EXPECT_EQ(calls, 0);
}

RC_GTEST_PROP(ThreadPool, CoversEachItemOnceInRangesThatBeginAtMultiplesOfGrain, ()) {
  const int64_t count = *rc::gen::inRange<int64_t>(1, 5000);
  const int64_t grain = *rc::gen::inRange<int64_t>(0, 300);
  std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
  std::atomic<bool> aligned{true};
  parallel_for(count, grain, [&](int64_t begin, int64_t end, int worker) {
    if (begin % std::max<int64_t>(grain, 1) != 0 || begin >= end) aligned = false;
    if (worker < 0 || worker >= worker_count()) aligned = false;
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
  });
  RC_ASSERT(aligned);
  for (const auto& times : seen) RC_ASSERT(times == 1);
}

TEST(ThreadPool, HugeCountsDoNotOverflow) {
  for (const int64_t grain : {int64_t{1}, int64_t{3}, int64_t{1} << 40, int64_t{1} << 62}) {
    constexpr int64_t count = std::numeric_limits<int64_t>::max();
    std::atomic<int64_t> covered{0};
    std::atomic<bool> valid{true};
    parallel_for(count, grain, [&](int64_t begin, int64_t end, int) {
      if (begin < 0 || begin >= end) valid = false;
      covered += end - begin;
    });
    EXPECT_TRUE(valid);
    EXPECT_EQ(covered, count) << "grain " << grain;
  }
}

TEST(ThreadPool, SmallWorkStaysOnTheCallersThread) {
  const auto self = std::this_thread::get_id();
  for (int repeat = 0; repeat < 100; ++repeat) {
    int calls = 0;
    parallel_for(1000, 1000, [&](int64_t begin, int64_t end, int worker) {
      ++calls;
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(begin, 0);
      EXPECT_EQ(end, 1000);
      EXPECT_EQ(worker, 0);
    });
    EXPECT_EQ(calls, 1);
  }
}

TEST(ThreadPool, SeveralThreadsTakePart) {
  EXPECT_EQ(in_child_with_threads("2", two_threads_meet), 0);
  EXPECT_EQ(in_child_with_threads("9", two_threads_meet), 0);
}

TEST(ThreadPool, WorkersSleepAndWakeAgain) {
  const auto body = [] {
    for (int repeat = 0; repeat < 5; ++repeat) {
      if (!two_threads_meet()) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  };
  EXPECT_EQ(in_child_with_threads("2", body), 0);
  EXPECT_EQ(in_child_with_threads("7", body), 0);
}

TEST(ThreadPool, WorkerNumbersAreUniqueWithinACall) {
  const auto body = [] {
    std::atomic<int> inside[8] = {};
    std::atomic<bool> unique{true};
    parallel_for(2000, 1, [&](int64_t, int64_t, int worker) {
      if (inside[worker].fetch_add(1) != 0) unique = false;
      std::this_thread::yield();
      inside[worker].fetch_sub(1);
    });
    return unique.load();
  };
  EXPECT_EQ(in_child_with_threads("8", body), 0);
}

TEST(ThreadPool, BackToBackCallsAllComplete) {
  for (int repeat = 0; repeat < 20000; ++repeat) ASSERT_EQ(parallel_sum(64, 4), serial_sum(64));
}

TEST(ThreadPool, ConcurrentCallersEachGetTheirOwnResult) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&wrong, caller] {
      for (int repeat = 0; repeat < 500; ++repeat)
        if (parallel_sum(1000 + caller, 10) != serial_sum(1000 + caller)) ++wrong;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, MoreCallersThanJobsStillComplete) {
  std::atomic<int> inside{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 40; ++caller)
    callers.emplace_back([&] {
      ++inside;
      eventually([&] { return inside == 40; });
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::atomic<int64_t> items{0};
        parallel_for(16, 1, [&](int64_t begin, int64_t end, int) {
          std::this_thread::yield();
          items += end - begin;
        });
        if (items != 16) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, FirstCallsFromSeveralThreadsShareOnePool) {
  const auto body = [] {
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&] { wrong += parallel_sum(5000, 10) != serial_sum(5000); });
    for (std::thread& caller : callers) caller.join();
    return wrong == 0;
  };
  for (int repeat = 0; repeat < 10; ++repeat) EXPECT_EQ(in_child_with_threads("4", body), 0);
}

TEST(ThreadPool, NestedCallsRunInlineOnTheSameWorker) {
  std::atomic<int64_t> items{0};
  std::atomic<bool> same{true};
  parallel_for(50, 1, [&](int64_t begin, int64_t end, int worker) {
    const auto self = std::this_thread::get_id();
    parallel_for(100 * (end - begin), 1, [&](int64_t b, int64_t e, int w) {
      if (std::this_thread::get_id() != self || w != worker) same = false;
      items += e - b;
    });
  });
  EXPECT_TRUE(same);
  EXPECT_EQ(items, 5000);
}

TEST(ThreadPool, ExceptionsReachTheCaller) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    try {
      parallel_for(1000, 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i)
          if (i == repeat * 5) throw std::runtime_error("item " + std::to_string(i));
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "item " + std::to_string(repeat * 5));
    }
  }
  EXPECT_EQ(parallel_sum(1000, 1), serial_sum(1000));
}

TEST(ThreadPool, OneOfManyExceptionsReachesTheCaller) {
  for (int repeat = 0; repeat < 200; ++repeat)
    EXPECT_THROW(parallel_for(1000, 1, [](int64_t, int64_t, int) { throw std::logic_error("each"); }),
                 std::logic_error);
}

TEST(ThreadPool, ExceptionsOfSmallAndNestedWorkReachTheCaller) {
  const auto raise = [](int64_t, int64_t, int) { throw std::domain_error("small"); };
  EXPECT_THROW(parallel_for(1, 1, raise), std::domain_error);
  EXPECT_THROW(parallel_for(100, 1, [&](int64_t, int64_t, int) { parallel_for(100, 1, raise); }), std::domain_error);
  EXPECT_EQ(parallel_sum(1000, 1), serial_sum(1000));
}

TEST(ThreadPool, ACallDoesNotAllocate) {
  parallel_sum(1000, 1);
  const int64_t before = test::allocation_count();
  for (int repeat = 0; repeat < 100; ++repeat) parallel_sum(1000, 1);
  EXPECT_EQ(test::allocation_count(), before);
}

#if defined(__x86_64__)

constexpr unsigned kFlushAndUpward = 0x1f80 | 0x8040 | 0x4000;  // flush to zero, subnormals are zero, upward
constexpr unsigned kSettings = ~0x3fu;

// Calls `body` with a strange MXCSR, which it must leave as it was.
template <class Body>
bool keeps_strange_environment(Body body) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(kFlushAndUpward);
  const bool good = body();
  const bool kept = _mm_getcsr() == kFlushAndUpward;
  _mm_setcsr(before);
  return good && kept;
}

bool ranges_see_default_environment(int64_t count, int64_t grain) {
  std::atomic<bool> good{true};
  Meeting meeting;
  parallel_for(count, grain, [&](int64_t, int64_t, int) {
    if ((_mm_getcsr() & kSettings) != 0x1f80) good = false;
    if (count > grain && worker_count() > 1 && !meeting.attend()) good = false;
  });
  return good;
}

TEST(ThreadPool, RangesRunInTheDefaultFloatingPointEnvironment) {
  const auto body = [] {
    return keeps_strange_environment(
        [] { return ranges_see_default_environment(1, 1) && ranges_see_default_environment(100, 1); });
  };
  EXPECT_TRUE(body());
  // A fresh pool's workers are made by a thread whose environment is strange, and would inherit it.
  EXPECT_EQ(in_child_with_threads("3", body), 0);
}

TEST(ThreadPool, TheCallersEnvironmentComesBackAfterAnException) {
  EXPECT_TRUE(keeps_strange_environment([] {
    try {
      parallel_for(100, 1, [](int64_t, int64_t, int) { throw std::runtime_error("x"); });
    } catch (const std::runtime_error&) {
      return _mm_getcsr() == kFlushAndUpward;
    }
    return false;
  }));
}

#endif

TEST(ThreadPool, AForkedChildComputes) {
  ASSERT_EQ(parallel_sum(10000, 10), serial_sum(10000));
  for (int repeat = 0; repeat < 10; ++repeat) {
    EXPECT_EQ(in_child([] { return parallel_sum(10000, 10) == serial_sum(10000); }), 0);
    EXPECT_EQ(parallel_sum(10000, 10), serial_sum(10000));
  }
}

TEST(ThreadPool, AForkedChildHasWorkersOfItsOwn) {
  ASSERT_EQ(parallel_sum(10000, 10), serial_sum(10000));
  EXPECT_EQ(in_child_with_threads("4", two_threads_meet), 0);
}

TEST(ThreadPool, AGrandchildComputes) {
  ASSERT_EQ(parallel_sum(10000, 10), serial_sum(10000));
  EXPECT_EQ(in_child([] {
              return parallel_sum(10000, 10) == serial_sum(10000) &&
                     in_child([] { return parallel_sum(10000, 10) == serial_sum(10000); }) == 0;
            }),
            0);
}

TEST(ThreadPool, ForkWhileOtherThreadsAreComputing) {
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::atomic<int> running{2};
  // Detached, because the thread sanitizer cannot fork with joinable threads.
  for (int caller = 0; caller < 2; ++caller)
    std::thread([&] {
      while (!stop) wrong += parallel_sum(3000, 5) != serial_sum(3000);
      --running;
    }).detach();
  for (int repeat = 0; repeat < 20; ++repeat)
    EXPECT_EQ(in_child([] { return parallel_sum(3000, 5) == serial_sum(3000); }), 0);
  stop = true;
  while (running > 0) std::this_thread::yield();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, TheEnvironmentSetsTheNumberOfThreads) {
  EXPECT_EQ(in_child_with_threads("1", [] { return worker_count() == 1; }), 0);
  EXPECT_EQ(in_child_with_threads("5", [] { return worker_count() == 5; }), 0);
  EXPECT_EQ(in_child([] {
              unsetenv("STRIDER_THREADS");
              const int automatic = worker_count();
              return automatic >= 1 && automatic <= static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
            }),
            0);
}

TEST(ThreadPool, AMeaninglessNumberOfThreadsIsRefused) {
  for (const char* text : {"", "0", "-3", "many", "4x"})
    EXPECT_EQ(in_child([text] {
                setenv("STRIDER_THREADS", text, 1);
                try {
                  worker_count();
                } catch (const Error& error) {
                  return std::string(error.what()).find("STRIDER_THREADS is \"" + std::string(text) + "\"") != std::string::npos;
                }
                return false;
              }),
              0)
        << text;
}

TEST(ThreadPool, OneThreadRunsEverythingInline) {
  EXPECT_EQ(in_child_with_threads("1",
                                  [] {
                                    const auto self = std::this_thread::get_id();
                                    bool here = true;
                                    parallel_for(1000, 1, [&](int64_t, int64_t, int) {
                                      here = here && std::this_thread::get_id() == self;
                                    });
                                    return here && parallel_sum(1000, 1) == serial_sum(1000);
                                  }),
            0);
}

TEST(ThreadPool, SignalsDoNotReachTheWorkers) {
  const auto body = [] {
    Meeting meeting;
    std::atomic<bool> good{true};
    parallel_for(64, 1, [&](int64_t, int64_t, int worker) {
      sigset_t blocked;
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      if (worker > 0 && !sigismember(&blocked, SIGINT)) good = false;
      if (worker == 0 && sigismember(&blocked, SIGINT)) good = false;
      if (!meeting.attend()) good = false;
    });
    return good.load();
  };
  EXPECT_EQ(in_child_with_threads("2", body), 0);
}

TEST(ThreadPool, AProcessEndsWithBusyWorkers) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer takes what running threads hold for leaks";
#endif
  const auto body = []() -> bool {
    std::thread([] {
      for (;;) parallel_sum(1 << 20, 64);
    }).detach();
    std::this_thread::sleep_for(20ms);
    std::exit(0);  // runs the destructors of static objects, which _exit does not
  };
  EXPECT_EQ(in_child_with_threads("3", body), 0);
}

}  // namespace
}  // namespace strider
