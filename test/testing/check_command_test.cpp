// SPDX-License-Identifier: Apache-2.0
// `strider check`, run as a user would.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/command.h"

namespace strider::test {
namespace {

std::string said(const std::string& arguments) { return said_by_tool("check " + arguments); }
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class CheckCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_tool()) GTEST_SKIP() << "the tool is not built";
  }
};

TEST_F(CheckCommand, WithoutANameItLists) {
  std::string text = said("");
  EXPECT_TRUE(has(text, "operators: add, ")) << text;
  EXPECT_TRUE(has(text, "kernels: vector_add, ")) << text;
  EXPECT_TRUE(has(text, "status 0"));
}

TEST_F(CheckCommand, OperatorsAndKernels) {
  std::string text = said("abs l1_norm --dtype f32 --quick --speed 0");
  EXPECT_TRUE(has(text, "operator abs on cpu: passed")) << text;
  EXPECT_TRUE(has(text, "kernel abs on cpu: passed"));
  EXPECT_TRUE(has(text, "kernel l1_norm on cpu: passed"));
  EXPECT_TRUE(has(text, "3 of 3 passed\nstatus 0")) << text;
  EXPECT_FALSE(has(said("abs --operators --dtype f32 --quick --speed 0"), "kernel abs"));
}

TEST_F(CheckCommand, FailsIfAVerdictIsFailed) {
  std::string text = said("softmax --dtype u8 --quick");
  EXPECT_TRUE(has(text, "! no dtype is accepted")) << text;
  EXPECT_TRUE(has(text, "status 1")) << text;
}

TEST_F(CheckCommand, Json) {
  std::string text = said("neg copy --dtype i32 --quick --speed 0 --json");
  auto j = nlohmann::json::parse(text.substr(0, text.rfind("status")));
  ASSERT_EQ(j.size(), 2u);
  EXPECT_EQ(j[1]["subject"], "operator copy");
  EXPECT_EQ(j[0]["steps"][2]["verdict"], "passed");
}

TEST_F(CheckCommand, SaysWhatIsWrong) {
  EXPECT_TRUE(has(said("no_such"), "there is no operator or kernel no_such"));
  EXPECT_TRUE(has(said("abs --dtype f33"), "--dtype f33: there is no such dtype"));
  EXPECT_TRUE(has(said("no_such"), "status 1"));
  EXPECT_TRUE(has(said("--help"), "2 boundaries"));
}

}  // namespace
}  // namespace strider::test
