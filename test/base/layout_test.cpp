// SPDX-License-Identifier: Apache-2.0
// The rules of docs/layout.md: includes run one way, LLVM and back ends stay in their folders, and every folder and file that
// the page names is there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

#include "support/paths.h"

namespace strider {
namespace {

namespace fs = std::filesystem;

// A function, because the path is set before main in an order of the linker's choice.
fs::path root() { return kSourceDir; }

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Source {
  std::string path;  // "src/ir/type.h"
  std::vector<std::string> quoted, angled;
};

std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

std::vector<Source> sources_under(const char* folder) {
  static const std::regex quoted("#include \"([^\"]+)\""), angled("#include <([^>]+)>");
  std::vector<Source> found;
  for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
    std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp" && extension != ".def") continue;
    std::string text = text_of(entry.path());
    found.push_back({fs::relative(entry.path(), root()), all_matches(text, quoted), all_matches(text, angled)});
  }
  return found;
}

std::string first_part(const std::string& path) { return path.substr(0, path.find('/')); }
bool starts_with_any(const std::string& text, std::initializer_list<const char*> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const char* s) { return text.starts_with(s); });
}

TEST(Layout, IncludesRunOneWay) {
  const std::map<std::string, int> rank{{"base", 0},    {"ir", 1},      {"front", 2},  {"planner", 2}, {"pass", 2},
                                        {"codegen", 2}, {"backend", 3}, {"tensor", 4}, {"call", 5},    {"ops", 6},
                                        {"testing", 6}, {"c", 7}};
  for (const Source& s : sources_under("src")) {
    std::string own = first_part(s.path.substr(4));
    ASSERT_TRUE(rank.count(own)) << s.path << " lies in a folder that docs/layout.md does not rank";
    for (const std::string& include : s.quoted) {
      std::string other = first_part(include);
      ASSERT_TRUE(rank.count(other)) << s.path << " includes " << include;
      EXPECT_TRUE(other == own || rank.at(other) < rank.at(own)) << s.path << " includes " << include;
    }
  }
}

TEST(Layout, LlvmStaysInItsFolders) {
  for (const Source& s : sources_under("src")) {
    bool is_spelled = fs::exists((root() / s.path).parent_path() / "spelling.cpp");  // the CMake files have the same rule
    if (s.path.starts_with("src/codegen/llvm/") || (s.path.starts_with("src/backend/") && is_spelled)) continue;
    for (const std::string& include : s.angled) EXPECT_FALSE(include.starts_with("llvm")) << s.path << " includes " << include;
  }
}

TEST(Layout, OnlyTheRegistryKnowsBackEnds) {
  static const std::regex of_back_end("(backend/[a-z]+/).*");
  for (const Source& s : sources_under("src")) {
    if (s.path == "src/backend/registry.cpp") continue;
    for (const std::string& include : s.quoted) {
      std::smatch folder;
      if (!std::regex_match(include, folder, of_back_end)) continue;
      EXPECT_TRUE(s.path.starts_with("src/" + folder[1].str())) << s.path << " includes " << include;
    }
  }
}

std::string without_comments(const std::string& text) { return std::regex_replace(text, std::regex("//[^\n]*"), ""); }

/// Names of back ends, processors and their languages, and what is asked of Target instead. `__x86_64__` is a question about the
/// machine that the library is compiled for.
TEST(Layout, OnlyBackEndsAndTheRegistryNameThem) {
  static const std::regex name(R"(\b(cuda|nvptx|ptx|ptxas|sm_\d+|x86\w*|avx\w*|sse\d*|aarch64|amdgpu|interp:\w*)\b)", std::regex::icase);
  const std::map<std::string, std::string> exceptions{
      {"src/tensor/dlpack.cpp", "DLPack says what its numbers of devices and their streams mean"},
      {"tools/strider/main.cpp", "examples in the help"},
      {"tools/strider/show.cpp", "examples in the help"},
      {"tools/strider/bench.cpp", "an example in the help"},
      {"tools/strider/check.cpp", "an example in the help"},
  };
  for (const char* folder : {"src", "tools", "bench/suites"})
    for (const Source& s : sources_under(folder)) {
      if (starts_with_any(s.path, {"src/backend/cpu/", "src/backend/cuda/", "src/backend/interp/", "src/backend/registry.cpp"})) continue;
      if (exceptions.contains(s.path)) continue;
      const std::string text = without_comments(text_of(root() / s.path));
      std::smatch found;
      EXPECT_FALSE(std::regex_search(text, found, name)) << s.path << " says " << found.str();
    }
}

/// A CPU is not whatever has one thread.
TEST(Layout, KindsOfTargetsAreAskedFor) {
  static const std::regex guess(R"(max_threads\s*(==|!=|>)\s*1\b)");
  for (const char* folder : {"src", "tools", "bench/suites", "test/support"})
    for (const Source& s : sources_under(folder)) EXPECT_FALSE(std::regex_search(text_of(root() / s.path), guess)) << s.path;
}

/// The namespace of a file is `strider`, or a folder on the file's path (`strider::pass` in src/pass/lanes/), or the first word of
/// the file's name (`strider::npy` in npy_header.h). What public headers need and users do not is in `detail`.
TEST(Layout, NamespacesAreNamedByTheirFolders) {
  static const std::regex outer("\nnamespace strider((?:::[a-z_0-9 ]+)+) \\{");
  for (const Source& s : sources_under("src")) {
    for (std::string names : all_matches(text_of(root() / s.path), outer)) {
      names = std::regex_replace(names, std::regex("::inline v0"), "");
      std::string first = names.empty() ? "" : names.substr(2, names.find("::", 2) - 2);
      if (first.empty() || first == "detail") continue;
      bool is_folder = s.path.find("/" + first + "/") != std::string::npos, is_file = fs::path(s.path).filename().string().starts_with(first);
      EXPECT_TRUE(is_folder || is_file) << s.path << ": namespace strider" << names;
    }
  }
}

TEST(Layout, TheCoreKnowsNeitherTheKitNorExamples) {
  for (const Source& s : sources_under("src")) {
    if (s.path.starts_with("src/testing/")) continue;
    for (const std::string& include : s.angled) EXPECT_FALSE(include.starts_with("strider/testing")) << s.path << " includes " << include;
    for (const std::string& include : s.quoted) EXPECT_FALSE(include.starts_with("testing/")) << s.path << " includes " << include;
  }
}

/// The language is for every front end: it knows no C++ handle.
TEST(Layout, TheLanguageKnowsNoHandles) {
  int files = 0;
  for (const Source& s : sources_under("src/front/lang")) {
    ++files;
    for (const std::string& include : s.quoted) EXPECT_FALSE(include.starts_with("front/trace/")) << s.path << " includes " << include;
    for (const char* handles : {"value", "tile", "kernel", "pointwise", "random", "effects"})
      EXPECT_EQ(std::count(s.angled.begin(), s.angled.end(), fmt::format("strider/{}.h", handles)), 0) << s.path << ": " << handles;
  }
  EXPECT_GT(files, 10);
}

TEST(Layout, PublicHeadersIncludeNothingOfTheInside) {
  for (const Source& s : sources_under("include")) {
    EXPECT_TRUE(s.quoted.empty()) << s.path;
    for (const std::string& include : s.angled)
      EXPECT_TRUE(include.starts_with("strider/") || include.find('/') == std::string::npos) << s.path << " includes " << include;
  }
}

/// Where the page may mean a path to begin.
bool exists(const std::string& path) {
  static constexpr const char* kStarts[] = {
      "",           "include/strider", "src",         "src/base",       "src/ir",    "src/front",            "src/planner",
      "src/pass",   "src/pass/lanes",  "src/codegen", "src/codegen/llvm", "src/backend", "src/backend/interp", "src/tensor",
      "src/call",   "src/ops",         "src/testing", "tools/strider",  "examples",  "bench",                "test",
      "cmake"};
  for (const char* start : kStarts)
    if (fs::exists(root() / start / path)) return true;
  return false;
}

TEST(Layout, ThePageNamesWhatIsThere) {
  static const std::regex path("`([a-z_./]+(?:\\.(?:h|cpp|def|py)|/))`");
  std::vector<std::string> names = all_matches(text_of(root() / "docs/layout.md"), path);
  EXPECT_GT(names.size(), 60u);
  for (const std::string& name : names) EXPECT_TRUE(exists(name)) << name;
}

TEST(Layout, ThePageNamesEveryFolder) {
  std::string page = text_of(root() / "docs/layout.md");
  for (const auto& entry : fs::directory_iterator(root() / "src"))
    EXPECT_NE(page.find("`src/" + entry.path().filename().string() + "/`"), std::string::npos) << entry.path();
}

}  // namespace
}  // namespace strider
