// SPDX-License-Identifier: Apache-2.0
// Object files in memory become callable; releasing one frees its code.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace strider::cpu {

/// The code of an object file, linked and executable. Safe to make and to destroy in several threads.
class LoadedCode {
 public:
  /// Links `object` and finds `entry` in it. Throws an internal error if the object is damaged, or a driver error when the system
  /// gives no more memory for code.
  LoadedCode(std::span<const char> object, const std::string& entry);
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  void* entry() const { return entry_; }

 private:
  char* memory_ = nullptr;
  size_t bytes_ = 0;
  void* entry_ = nullptr;
};

}  // namespace strider::cpu
