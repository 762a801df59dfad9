// SPDX-License-Identifier: Apache-2.0
// Object files in memory become callable; releasing one frees its code.
#pragma once

#include <memory>
#include <span>
#include <string>

namespace strider::cpu {

/// Code in memory, freed by the destructor.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  virtual void* entry() const = 0;
};

/// Loads an object file and finds `entry` in it. Safe to call from several threads.
std::unique_ptr<LoadedCode> load_object(std::span<const char> object, const std::string& entry);

}  // namespace strider::cpu
