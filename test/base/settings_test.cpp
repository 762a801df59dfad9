// SPDX-License-Identifier: Apache-2.0
// The table of environment variables, and the version that the build gives.
#include "support/paths.h"
#include "base/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>


#include <strider/error.h>

namespace strider {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(kSourceDir + "/" + path).rdbuf();
  return text.str();
}

TEST(Settings, GivesWhatTheEnvironmentSays) {
  for (const Setting& s : settings()) {
    const char* before = std::getenv(s.name);
    std::string kept = before ? before : "";
    ::setenv(s.name, "7", 1);
    EXPECT_STREQ(setting(s.name), "7");
    ::unsetenv(s.name);
    EXPECT_EQ(setting(s.name), nullptr);
    if (before) ::setenv(s.name, kept.c_str(), 1);
  }
}

TEST(Settings, RefusesNamesOutsideTheTable) { EXPECT_THROW(setting("STRIDER_NO_SUCH_THING"), Error); }

TEST(Settings, ThePageHasExactlyThese) {
  std::string page = text_of("docs/settings.md");
  std::string table = "| Variable | Meaning |\n| --- | --- |\n";
  for (const Setting& s : settings()) table += "| `" + std::string(s.name) + "` | " + std::string(s.meaning) + " |\n";
  EXPECT_NE(page.find(table + "\n"), std::string::npos) << "docs/settings.md should have\n" << table;
}

}  // namespace
}  // namespace strider
