// SPDX-License-Identifier: Apache-2.0
// The code of docs/testing.md is that of examples/testing.cpp, which is compiled and run.
#include <gtest/gtest.h>

#include "support/paths.h"

#include <fstream>
#include <set>
#include <string>

namespace strider {
namespace {

std::string trimmed(const std::string& line) {
  size_t begin = line.find_first_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin);
}

TEST(TestingPage, ItsCodeIsThatOfTheExample) {
  std::set<std::string> example;
  std::ifstream source(kSourceDir + "/examples/testing.cpp"), page(kSourceDir + "/docs/testing.md");
  for (std::string line; std::getline(source, line);) example.insert(trimmed(line));
  bool is_code = false;
  int lines = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      is_code = line == "```cpp";
    } else if (is_code) {
      EXPECT_TRUE(example.count(trimmed(line))) << line;
      ++lines;
    }
  }
  EXPECT_GT(lines, 40);
}

}  // namespace
}  // namespace strider
