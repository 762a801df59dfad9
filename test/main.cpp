// SPDX-License-Identifier: Apache-2.0
//
// The test program.  `--folder=NAME` runs the tests whose source lies in test/NAME and may be given several
// times; all of GoogleTest's own flags work as well. With folders, a filter can only take tests away: --gtest_filter=-NAME.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

// The sanitizers' defaults live here, so that the program behaves alike under ctest and by hand.
#pragma GCC visibility push(default)
extern "C" const char* __asan_default_options() {
  return "detect_stack_use_after_return=0:allocator_may_return_null=1"
         ":alloc_dealloc_mismatch=0";  // LLVM mixes new and free
}
// Workers live as long as the process, and so does their scratch; a child of fork() cannot look into their threads. Functions of
// unnamed namespaces have short names here.
extern "C" const char* __lsan_default_suppressions() { return "leak:reserve_scratch\n"; }
extern "C" const char* __tsan_default_options() { return "die_after_fork=0:second_deadlock_stack=1:allocator_may_return_null=1"; }
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }
#pragma GCC visibility pop

namespace {

std::vector<std::string> take_folders(int argc, char** argv) {
  std::vector<std::string> folders;
  for (int i = 1; i < argc; ++i) {
    constexpr std::string_view flag = "--folder=";
    const std::string_view arg = argv[i];
    if (arg.starts_with(flag))
      folders.push_back("test/" + std::string(arg.substr(flag.size())) + "/");
  }
  return folders;
}

bool lies_in(const ::testing::TestSuite& suite, const std::vector<std::string>& folders) {
  const std::string_view file = suite.total_test_count() > 0 ? suite.GetTestInfo(0)->file() : "";
  return std::ranges::any_of(folders, [&](const std::string& folder) { return file.find(folder) != std::string_view::npos; });
}

// A suite belongs to the folder of its first test.
std::string filter_of(const std::vector<std::string>& folders) {
  std::string filter;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    if (lies_in(suite, folders)) filter += std::string(suite.name()) + ".*:";
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("STRIDER_CACHE", "0", 0);  // tests count compiles: code on disk is for those that ask for it
  ::testing::InitGoogleTest(&argc, argv);
  const std::vector<std::string> folders = take_folders(argc, argv);
  const std::string given = GTEST_FLAG_GET(filter);
  if (!folders.empty()) {
    const std::string suites = filter_of(folders);
    if (suites.empty()) {
      std::fputs("strider_tests: no test lies in these folders\n", stderr);
      return 2;
    }
    GTEST_FLAG_SET(filter, suites + (given.starts_with('-') ? given : ""));
  }
  return RUN_ALL_TESTS();
}
