// SPDX-License-Identifier: Apache-2.0
// Case H2: a process forks after it has used the library, and the child goes on.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/thread_pool.h"
#include "support/cache_folder.h"

#include <strider/strider.h>

namespace strider::test {
namespace {

namespace st = strider;

/// 0: it was right; 1: wrong; -1: it died or took too long.
int in_child(const std::function<bool()>& body) {
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int64_t kLarge = 1 << 20;  // enough for all threads

bool is_right(const st::Tensor& y, double factor) {
  std::vector<double> values = y.to_doubles();
  for (int64_t k : {int64_t{0}, int64_t{1}, kLarge / 2, kLarge - 1})
    if (values[static_cast<size_t>(k)] != factor * static_cast<double>(k)) return false;
  return true;
}

auto times(int n) {
  return st::pointwise("times", [n](auto x) { return x * n; });
}

class Fork : public ::testing::Test {
 protected:
  CacheFolder cache;
  st::Tensor x = st::arange(kLarge);
};

TEST_F(Fork, TheChildRunsWhatTheParentRan) {
  auto op = times(2);
  ASSERT_TRUE(is_right(op(x), 2));
  EXPECT_EQ(in_child([&] { return is_right(op(x), 2); }), 0);
  EXPECT_TRUE(is_right(op(x), 2));
}

TEST_F(Fork, TheChildCompilesAndTheParentFindsIt) {
  ASSERT_TRUE(is_right(times(2)(x), 2));
  EXPECT_EQ(in_child([&] { return is_right(times(3)(x), 3); }), 0);
  EXPECT_EQ(cache.files().size(), 2u);
  st::reset_stats();
  EXPECT_TRUE(is_right(times(3)(x), 3));
  EXPECT_EQ(st::stats().disk_hits, 1);
  EXPECT_EQ(st::stats().compiles, 0);
}

TEST_F(Fork, TheChildFindsWhatTheParentCompiled) {
  ASSERT_TRUE(is_right(times(2)(x), 2));
  EXPECT_EQ(in_child([&] {
              st::reset_stats();
              return is_right(times(2)(x), 2) && st::stats().disk_hits == 1;
            }),
            0);
}

TEST_F(Fork, ChildrenOfChildren) {
  ASSERT_TRUE(is_right(times(2)(x), 2));
  EXPECT_EQ(in_child([&] { return is_right(times(3)(x), 3) && in_child([&] { return is_right(times(4)(x), 4); }) == 0; }), 0);
}

int64_t threads_of_this_process() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
}

/// A child has no threads yet, so it shows which launches want any.
TEST_F(Fork, SmallLaunchesWakeNoThread) {
  Environment four("STRIDER_THREADS", "4");
  EXPECT_EQ(in_child([&] {
              auto op = times(2);
              st::Tensor small = st::arange(8), matrix = st::arange(32).reshape({4, 8}).t();
              for (int k = 0; k < 100; ++k) op(small), op(matrix);
              if (threads_of_this_process() != 1) return false;
              op(x);
              return threads_of_this_process() == 4;
            }),
            0);
}

}  // namespace
}  // namespace strider::test
