// SPDX-License-Identifier: Apache-2.0
// Case L12: the tool where nobody can be told what it has to say.
#include <gtest/gtest.h>

#include "support/command.h"
#include "support/paths.h"

namespace strider::test {
namespace {

std::string tool(const std::string& arguments) { return said_by("timeout 100 " + kBinaryDir + "/strider " + arguments); }

class ToolStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_tool()) GTEST_SKIP() << "the tool is not built";
  }
};

TEST_F(ToolStreams, OutputThatIsLostIsAFailure) {
  for (const char* command : {"show", "info", "cache", "check", "--help", "--version", "show abs"})
    for (const char* where : {">/dev/full", ">&-"}) {
      std::string text = tool(std::string(command) + " " + where);
      EXPECT_TRUE(text.ends_with("status 1\n")) << command << where << ": " << text;
      EXPECT_NE(text.find("strider: "), std::string::npos) << command << where << ": " << text;
    }
}

TEST_F(ToolStreams, ErrorsThatAreLostAreFailures) {
  for (const char* command : {"show no_such", "check no_such", "nonsense", "show --operands"})
    for (const char* where : {"2>/dev/full", "2>&-", ">&- 2>&-", ">/dev/full 2>/dev/full"}) {
      std::string text = tool(std::string(command) + " " + where);
      std::string status = text.substr(text.rfind("status "));
      EXPECT_TRUE(status != "status 0\n" && status != "status 134\n" && status != "status 139\n") << command << where << ": " << text;
    }
}

TEST_F(ToolStreams, WhatIsToldIsASuccess) { EXPECT_TRUE(tool("info").ends_with("status 0\n")); }

/// Case L13.
TEST_F(ToolStreams, NumbersThatDoNotFitAreErrors) {
  for (const char* arguments : {"show softmax --block 4294967297", "show softmax --block 9223372036854775807", "show softmax --block 99999999999999999999",
                                "show abs --operands 'f32(2):flip(4294967296)' --stage plan"}) {
    std::string text = tool(arguments);
    EXPECT_FALSE(text.ends_with("status 0\n")) << arguments << ": " << text;
    EXPECT_FALSE(text.ends_with("status 134\n")) << arguments << ": " << text;
  }
}

}  // namespace
}  // namespace strider::test
