// SPDX-License-Identifier: Apache-2.0
// Environment variables and a folder of compiled code for the length of a test.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace strider::test {

/// Sets a variable, or takes it away, and puts it back at the end.
class Environment {
 public:
  Environment(std::string name, std::optional<std::string> value);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// An empty folder, removed with all that is in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The disk cache is on, in a folder of its own that does not exist yet.
class CacheFolder {
 public:
  /// `name` is that of the folder, which lies in a temporary one.
  explicit CacheFolder(const std::string& name = "cache");
  const std::filesystem::path& path() const { return path_; }
  std::vector<std::filesystem::path> files() const;  // in the order of their names

 private:
  TempFolder parent_;
  std::filesystem::path path_;
  Environment on_{"STRIDER_CACHE", "1"};
  Environment folder_{"STRIDER_CACHE_DIR", path_.string()};
};

}  // namespace strider::test
