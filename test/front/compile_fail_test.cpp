// SPDX-License-Identifier: Apache-2.0
// Code that must not compile, and the words with which the compiler must say why.
#include <gtest/gtest.h>

#include "support/paths.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace strider::test {
namespace {

struct Snippet {
  std::string body, words;
};

/// What the compiler says about these bodies, each in a function of its own; empty if it accepts all of them.
std::string compile(const std::vector<Snippet>& snippets) {
  std::string path = ::testing::TempDir() + "strider_snippets_" + std::to_string(getpid()) + ".cpp";
  std::ofstream source(path);
  source << "#include <strider/kernel.h>\nnamespace st = strider;\nnamespace tl = strider::tl;\n";
  for (size_t i = 0; i < snippets.size(); ++i)
    source << "void f" << i
           << "([[maybe_unused]] st::Value tile, [[maybe_unused]] tl::Ptr<float> x, [[maybe_unused]] tl::i32 n) {\n  "
           << snippets[i].body << "\n}\n";
  source.close();
  std::string command = "c++ -std=c++20 -fsyntax-only -I " + kSourceDir + "/include " + path + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer;
  while (size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), n);
  bool accepted = pclose(pipe) == 0;
  std::remove(path.c_str());
  return accepted ? "" : text;
}

class CompileFail : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("c++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no compiler on this machine";
  }
  void expect_words(const std::vector<Snippet>& snippets) {
    std::string text = compile(snippets);
    for (const Snippet& s : snippets) EXPECT_NE(text.find(s.words), std::string::npos) << s.body << "\n" << text;
  }
};

TEST_F(CompileFail, WhatIsRightCompiles) { EXPECT_EQ(compile({{"tl::store(x + n, tl::where(tile > 0, tile, 0.0f));", ""}}), ""); }

TEST_F(CompileFail, EachMistakeIsExplained) {
  expect_words({
      {"if (tile > 0) tl::store(x, 1.0f);", "a tile is no condition: use where(condition, a, b)"},
      {"auto m = tile > 0 && tile < 3;", "&& cannot join masks: use a & b"},
      {"auto m = tile > 0 || true;", "|| cannot join masks: use a | b"},
      {"auto m = !(tile > 0);", "! cannot invert a mask: use ~mask"},
      {"tl::arange(0, n);", "the size of a tile is fixed when the kernel compiles: make it a tl::Constexpr"},
      {"st::kernel(\"k\", [](float eps) {});", "a kernel takes pointers (tl::Ptr<float>), numbers (tl::i64, tl::f32, ...)"},
      {"st::kernel(\"k\", [](auto p) {});", "names the types of its parameters: tl::Ptr<float> x, not auto x"},
      {"tl::load(1.0f);", "load takes a pointer: a parameter tl::Ptr<float> x of the kernel, moved by offsets: x + i"},
      {"tl::load(n);", "load takes a pointer: a parameter tl::Ptr<float> x"},
      {"tl::store(tile, 1.0f);", "store takes a pointer: a parameter tl::Ptr<float> x"},
      {"tl::atomic_add(n, 1);", "atomic_add takes a pointer: a parameter tl::Ptr<float> x"},
      {"tl::zeros<float>({n});", "the shape of a tile is fixed when the kernel compiles: make its sizes tl::Constexpr"},
      {"tl::full({n, n}, 1.0f, st::f32);", "the shape of a tile is fixed when the kernel compiles: make its sizes tl::Constexpr"},
      {"for (auto k : tl::static_range(0, n)) (void)k;", "the bounds of static_range are constants (tl::Constexpr); tl::range takes run-time ones"},
      {"auto y = x * 2;", "no match for"},
  });
}

TEST_F(CompileFail, EveryFormOfCondition) {
  for (const char* body : {"auto y = tile > 0 ? 1 : 2;", "while (tile) {}"})
    expect_words({{body, "a tile is no condition: use where(condition, a, b)"}});
}

}  // namespace
}  // namespace strider::test
