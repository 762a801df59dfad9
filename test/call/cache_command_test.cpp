// SPDX-License-Identifier: Apache-2.0
// `strider cache`, run as a user would.
#include <gtest/gtest.h>

#include "support/cache_folder.h"
#include "support/command.h"

#include <strider/strider.h>

namespace strider::test {
namespace {

std::string said(const std::string& arguments) { return said_by_tool("cache " + arguments); }

class CacheCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_tool()) GTEST_SKIP() << "the tool is not built";
  }
  CacheFolder cache;
};

TEST_F(CacheCommand, ShowsAndClears) {
  std::string folder = cache.path().string();
  EXPECT_EQ(said(""), "folder   " + folder + "\nkernels  0\nsize     0.0 MiB of 256.0 MiB\nstatus 0\n");
  for (int n = 0; n < 3; ++n) pointwise("f", [n](auto x) { return x + n; })(arange(3));
  EXPECT_NE(said("").find("kernels  3\n"), std::string::npos) << said("");
  EXPECT_EQ(said("clear").find("removed 3 kernels, "), 0u);
  EXPECT_NE(said("").find("kernels  0\n"), std::string::npos);
}

TEST_F(CacheCommand, SaysWhyThereIsNone) {
  Environment off("STRIDER_CACHE", "0");
  EXPECT_EQ(said(""), "off, because STRIDER_CACHE is 0\nstatus 0\n");
}

TEST_F(CacheCommand, FailsWhereTheFolderIsNotUsed) {
  Environment folder("STRIDER_CACHE_DIR", "/dev/null");
  std::string text = said("clear");
  EXPECT_NE(text.find("the cache folder /dev/null cannot be opened"), std::string::npos) << text;
  EXPECT_NE(text.find("status 1\n"), std::string::npos) << text;
}

TEST_F(CacheCommand, Teaches) {
  std::string text = said("--help");
  for (const char* part : {"strider cache clear", "STRIDER_CACHE_DIR", "STRIDER_CACHE_SIZE", "STRIDER_CACHE=0"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace strider::test
