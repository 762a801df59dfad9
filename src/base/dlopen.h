// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are opened at run time, such as GPU drivers.
#pragma once

#include <string>

namespace strider {

/// An open library, which stays open as long as the process.
class SharedLibrary {
 public:
  /// Throws a driver error that names the library and the reason when it cannot be opened.
  explicit SharedLibrary(std::string name);

  /// The address of `symbol`, or null.
  void* find(const char* symbol) const noexcept;
  /// The same; throws a driver error when it is missing.
  void* get(const char* symbol) const;

 private:
  std::string name_;
  void* handle_;
};

}  // namespace strider
