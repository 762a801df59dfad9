// SPDX-License-Identifier: Apache-2.0
// Many processes and one folder of compiled code: each process is this program again, running the test "Child".
#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "support/cache_folder.h"

#include <strider/strider.h>

namespace strider::test {
namespace {

namespace fs = std::filesystem;
namespace st = strider;

constexpr int kStart = 7;  // the descriptor that a child waits on

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

/// What a child does: waits for the start, runs its kernels, and says what it saw.
TEST(Processes, DISABLED_Child) {
  char none;
  while (::read(kStart, &none, 1) > 0) continue;
  bool right = true;
  for (int k = 0; k < number_from("STRIDER_TEST_KERNELS", 1); ++k) {
    auto op = st::pointwise("child", [k](auto x, auto y) { return x * (k + 2) + y; });
    st::Tensor x = st::tensor<float>({3, 4}), y = st::tensor<float>({10, 20});
    right &= op(x, y).to_doubles() == std::vector<double>{3.0 * k + 16, 4.0 * k + 28};
  }
  st::Stats s = st::stats();
  std::ofstream(std::getenv("STRIDER_TEST_REPORT")) << fmt::format("{:d} {} {}", right, s.compiles, s.disk_hits);
}

struct Report {
  bool right = false;
  int64_t compiles = -1, disk_hits = -1;
  std::string errors;
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Processes that begin to work at the same moment, when start() is called.
class Children {
 public:
  Children(int count, int kernels) : count_(count) {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    Environment number("STRIDER_TEST_KERNELS", std::to_string(kernels));
    for (int k = 0; k < count; ++k) begin(k);
    ::close(ends_[0]);
  }

  std::vector<Report> run() {
    ::close(ends_[1]);
    std::vector<Report> reports(static_cast<size_t>(count_));
    for (int k = 0; k < count_; ++k) {
      int status = 0;
      ::waitpid(ids_[static_cast<size_t>(k)], &status, 0);
      Report& r = reports[static_cast<size_t>(k)];
      std::ifstream(report(k)) >> r.right >> r.compiles >> r.disk_hits;
      r.errors = text_of(errors(k));
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) r.errors += "it failed";
    }
    return reports;
  }

 private:
  fs::path report(int k) const { return folder_.path() / fmt::format("report{}", k); }
  fs::path errors(int k) const { return folder_.path() / fmt::format("errors{}", k); }

  void begin(int k) {
    Environment where("STRIDER_TEST_REPORT", report(k).string());
    std::string error_file = errors(k).string();
    pid_t id = ::fork();
    if (id == 0) {
      ::alarm(120);
      ::dup2(ends_[0], kStart);
      ::close(ends_[1]);
      if (!std::freopen("/dev/null", "w", stdout) || !std::freopen(error_file.c_str(), "w", stderr)) ::_exit(3);
      ::execl("/proc/self/exe", "child", "--gtest_also_run_disabled_tests", "--gtest_filter=Processes.DISABLED_Child", nullptr);
      ::_exit(4);
    }
    ids_.push_back(id);
  }

  int count_;
  int ends_[2];
  TempFolder folder_;
  std::vector<pid_t> ids_;
};

/// Case G8: the second process compiles nothing.
TEST(Processes, TheNextOneCompilesNothing) {
  CacheFolder cache;
  Report first = Children(1, 3).run()[0], second = Children(1, 3).run()[0];
  EXPECT_TRUE(first.right && second.right) << first.errors << second.errors;
  EXPECT_EQ(first.compiles, 3);
  EXPECT_EQ(first.disk_hits, 0);
  EXPECT_EQ(second.compiles, 0);
  EXPECT_EQ(second.disk_hits, 3);
}

/// Case H5: a process without any program to call.
TEST(Processes, NoProgramIsNeeded) {
  CacheFolder cache;
  Environment path("PATH", "");
  Report cold = Children(1, 1).run()[0], warm = Children(1, 1).run()[0];
  EXPECT_TRUE(cold.right && warm.right) << cold.errors << warm.errors;
  EXPECT_EQ(warm.compiles, 0);
}

/// Case G10, in small. In full: STRIDER_TEST_PROCESSES=32 STRIDER_TEST_KERNELS=8 STRIDER_TEST_ROUNDS=50.
TEST(Processes, ColdStartTogether) {
  int processes = number_from("STRIDER_TEST_PROCESSES", 8), kernels = number_from("STRIDER_TEST_KERNELS", 4);
  for (int round = 0; round < number_from("STRIDER_TEST_ROUNDS", 3); ++round) {
    CacheFolder cache;
    for (const Report& r : Children(processes, kernels).run()) {
      EXPECT_TRUE(r.right);
      EXPECT_EQ(r.errors, "");
      EXPECT_EQ(r.compiles + r.disk_hits, kernels);
    }
    EXPECT_EQ(cache.files().size(), static_cast<size_t>(kernels)) << "one file for each kernel, and no other";
    EXPECT_EQ(Children(1, kernels).run()[0].compiles, 0);
  }
}

}  // namespace
}  // namespace strider::test
