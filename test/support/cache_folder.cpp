// SPDX-License-Identifier: Apache-2.0
#include "support/cache_folder.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace strider::test {

namespace fs = std::filesystem;

namespace {

void set(const std::string& name, const std::optional<std::string>& value) {
  if (value) ::setenv(name.c_str(), value->c_str(), 1);
  else ::unsetenv(name.c_str());
}

}  // namespace

Environment::Environment(std::string name, std::optional<std::string> value) : name_(std::move(name)) {
  if (const char* before = std::getenv(name_.c_str())) before_ = before;
  set(name_, value);
}
Environment::~Environment() { set(name_, before_); }

TempFolder::TempFolder() {
  std::string pattern = (fs::temp_directory_path() / "strider-test-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder can be made");
  path_ = pattern;
}
TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

CacheFolder::CacheFolder(const std::string& name) : path_(parent_.path() / name) {}

std::vector<fs::path> CacheFolder::files() const {
  std::vector<fs::path> found;
  if (fs::exists(path_))
    for (const auto& entry : fs::directory_iterator(path_)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace strider::test
