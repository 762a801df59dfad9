// SPDX-License-Identifier: Apache-2.0
// Code that must not compile, and the words with which the compiler must say why.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

namespace strider::test {
namespace {

/// What the compiler says about a kernel body; empty if it accepts it.
std::string compile(const std::string& body) {
  std::string path = testing::TempDir() + "strider_snippet.cpp";
  std::ofstream(path) << "#include <strider/kernel.h>\nnamespace st = strider;\nnamespace tl = strider::tl;\n"
                      << "void f(st::Value tile, tl::Ptr<float> x, tl::i32 n) {\n  " << body << "\n  (void)tile, (void)x, (void)n;\n}\n";
  std::string command = "c++ -std=c++20 -fsyntax-only -I " STRIDER_SOURCE_DIR "/include " + path + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer;
  while (size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), n);
  bool accepted = pclose(pipe) == 0;
  std::remove(path.c_str());
  return accepted ? "" : text;
}

class DoesNotCompile : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("c++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no compiler on this machine";
  }
  void expect(const std::string& body, const std::string& words) {
    std::string text = compile(body);
    EXPECT_FALSE(text.empty()) << "compiles: " << body;
    EXPECT_NE(text.find(words), std::string::npos) << body << "\n" << text;
  }
};

TEST_F(DoesNotCompile, WhatIsRightCompiles) { EXPECT_EQ(compile("tl::store(x + n, tl::where(tile > 0, tile, 0.0f));"), ""); }

TEST_F(DoesNotCompile, ATileAsACondition) {
  const std::string words = "a tile is no condition: use where(condition, a, b)";
  expect("if (tile > 0) tl::store(x, 1.0f);", words);
  expect("auto y = tile > 0 ? 1 : 2; (void)y;", words);
  expect("while (tile) {}", words);
}

TEST_F(DoesNotCompile, LogicalOperators) {
  expect("auto m = tile > 0 && tile < 3; (void)m;", "&& cannot join masks: use a & b");
  expect("auto m = tile > 0 || true; (void)m;", "|| cannot join masks: use a | b");
  expect("auto m = !(tile > 0); (void)m;", "! cannot invert a mask: use ~mask");
}

TEST_F(DoesNotCompile, TileSizesFromRunTimeValues) {
  expect("tl::arange(0, n);", "the size of a tile is fixed when the kernel compiles: make it a tl::Constexpr");
}

TEST_F(DoesNotCompile, KernelParametersWithoutAMeaning) {
  expect("st::kernel(\"k\", [](float eps) {});", "a kernel takes pointers (tl::Ptr<float>), numbers (tl::i64, tl::f32, ...)");
  expect("st::kernel(\"k\", [](auto p) {});", "names the types of its parameters: tl::Ptr<float> x, not auto x");
}

TEST_F(DoesNotCompile, ANumberWhereAPointerIsExpected) {
  expect("tl::load(1.0f);", "Pointer");
  expect("auto y = x * 2; (void)y;", "no match for");
}

}  // namespace
}  // namespace strider::test
