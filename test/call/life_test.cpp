// SPDX-License-Identifier: Apache-2.0
// The library at the edges of a process's life: a program of its own, test/programs/life.cpp, does in each case what could end badly,
// and says for each thing whether it was right.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "support/cache_folder.h"
#include "support/command.h"
#include "support/paths.h"

namespace strider::test {
namespace {

namespace fs = std::filesystem;

std::string program() { return kBinaryDir + "/test_programs/life"; }

/// All that it says, and its status at the end.
std::string said_by_life(const std::string& name, const std::string& how = "") {
  return said_by("cd " + fs::temp_directory_path().string() + " && " + how + " timeout 100 " + program() + " " + name);
}

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++found;
  return found;
}

/// Case K1 in full: STRIDER_TEST_ROUNDS=40.
int rounds(int usual) {
  const char* text = std::getenv("STRIDER_TEST_ROUNDS");
  return text ? std::atoi(text) : usual;
}

struct Case {
  const char* name;
  int right;       // lines that say so
  int rounds = 1;  // where chance decides what meets
};
constexpr Case kCases[] = {
    {"ends_while_compiling", 1, 6},  // K1
    {"ends_with_last_words", 3, 6},  // K1, and static objects whose destructors call
    {"calls_after_main", 6},
    {"joins_after_main", 2, 2},
    {"forks", 2},
    {"forks_in_a_body", 1},
    {"warm_stack", 5},     // L8
    {"small_stacks", 10},  // K4, L8
    {"fibres", 6},         // K4, L8
    {"cancels", 1},        // L9
    {"cancels_files", 1},
    {"cycle", 2},             // L11
    {"joins_in_a_body", 2},   // L11
    {"catches_in_a_body", 2}, // L16
    {"without_threads", 1},   // L18
    {"without_code", 2},      // L18
};

class Life : public ::testing::TestWithParam<Case> {};

TEST_P(Life, EndsWell) {
  const Case& c = GetParam();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  for (const char* name : {"warm_stack", "small_stacks", "fibres", "without_threads", "without_code"})
    if (std::string_view(c.name) == name) GTEST_SKIP() << "sanitized frames are larger, and sanitizers have these functions themselves";
#endif
  for (int k = 0; k < (c.rounds > 1 ? rounds(c.rounds) : 1); ++k) {
    std::string text = said_by_life(c.name);
    EXPECT_EQ(count(text, " right\n"), c.right) << text;
    EXPECT_EQ(count(text, "WRONG"), 0) << text;
    EXPECT_TRUE(text.ends_with("status 0\n")) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Life, ::testing::ValuesIn(kCases), [](const auto& info) { return info.param.name; });

/// Case L17: a program that runs with its owner's rights does not obey who starts it.
TEST(LifeSecure, NoSettingIsRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a program away";
  TempFolder folder;
  fs::path copy = folder.path() / "life", cache = folder.path() / "cache";
  fs::copy_file(program(), copy);
  ::chmod(folder.path().c_str(), 0777);
  ASSERT_EQ(::chown(copy.c_str(), 12345, 12345), 0);
  ASSERT_EQ(::chmod(copy.c_str(), 04755), 0);
  std::string text = said_by("STRIDER_CACHE=1 STRIDER_THREADS=none STRIDER_CACHE_DIR=" + cache.string() + " timeout 100 " + copy.string() + " with_other_rights");
  if (text.find("no other rights") != std::string::npos || text.find("libstrider") != std::string::npos)
    GTEST_SKIP() << "this system gives no rights, or not to what is built here: " << text;
  EXPECT_EQ(text, "call right\nstatus 0\n");
  EXPECT_FALSE(fs::exists(cache));
}

/// Case L18.
TEST(LifeSettings, WithoutAMeaningAreErrors) {
  for (const char* name : {"STRIDER_CACHE", "STRIDER_LINTS", "STRIDER_STEPS"}) {
    std::string text = said_by_life("calls_after_main", std::string(name) + "=abc");
    EXPECT_NE(text.find(name), std::string::npos) << text;
    EXPECT_NE(text.find("abc"), std::string::npos) << text;
    EXPECT_NE(text.find("expected"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace strider::test
