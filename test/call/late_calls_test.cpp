// SPDX-License-Identifier: Apache-2.0
// Kernels with scratch that run when a thread or the process ends: in destructors of thread_local and static objects, and in
// functions given to atexit. Each in a child, which ends by exit().
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include <strider/kernel.h>
#include <strider/pointwise.h>
#include <strider/stats.h>
#include <strider/tensor.h>

namespace strider::test {
namespace {

constexpr int kSize = 4096;

const Kernel& sorting() {
  static const Kernel& made = *new Kernel(kernel("sort", [](tl::Ptr<float> x, tl::Constexpr n) {
    auto i = tl::arange(0, n);
    tl::store(x + i, tl::sort(tl::load(x + i)));
  }));
  return made;
}

/// Sorts on this thread, with scratch of more than one size; ends the process if the result is wrong.
void sort_now() {
  for (int size : {kSize / 4, kSize}) {
    Tensor x = arange(size - 1, -1, -1);
    sorting()[1](x, size);
    if (x.to_vector<float>() != arange(size).to_vector<float>()) _exit(3);
  }
}

struct Late {
  ~Late() { sort_now(); }
};

/// Status of a child that runs `f` and then ends as a process does.
int status_of(void (*f)()) {
  sort_now();  // compiled before
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    f();
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(LateCalls, InStaticDestructorsAndAtexit) {
  EXPECT_EQ(status_of([] {
              std::atexit(sort_now);
              static Late late;
              sort_now();
              std::atexit(sort_now);
            }),
            0);
}

/// The destructor of `Late` is registered before the thread has any scratch, and so it runs after what the first call registers.
TEST(LateCalls, InDestructorsOfThreads) {
  EXPECT_EQ(status_of([] {
              static thread_local Late late;
              (void)&late;
              sort_now();
              std::thread([] {
                static thread_local Late inner;
                (void)&inner;
                sort_now();
              }).join();
            }),
            0);
}

TEST(LateCalls, ThreadsGiveTheirScratchBack) {
  auto resident = [] {
    long pages = 0;
    std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/statm", "r"), std::fclose);
    EXPECT_EQ(std::fscanf(file.get(), "%*d %ld", &pages), 1);
    return pages * sysconf(_SC_PAGESIZE);
  };
  auto many = [] {
    for (int k = 0; k < 300; ++k) std::thread(sort_now).join();
  };
  many();
  const long before = resident();
  many();
  EXPECT_LT(resident() - before, 300L * kSize * 4 / 2);
}

/// Counters of threads that end are handed on, and what counts after that loses nothing.
TEST(LateCalls, AreCounted) {
  static auto twice = pointwise("twice", [](auto x) { return x + x; });
  struct Counting {
    ~Counting() {
      Tensor x = arange(3);
      twice(x);
    }
  };
  twice(arange(3));
  const int64_t before = stats().memory_hits;
  std::vector<std::thread> threads;
  for (int k = 0; k < 20; ++k)
    threads.emplace_back([] {
      static thread_local Counting late;
      (void)&late;
      twice(arange(3));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(stats().memory_hits - before, 40);
}

}  // namespace
}  // namespace strider::test
