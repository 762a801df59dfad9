// SPDX-License-Identifier: Apache-2.0
// Memory with guards, for tests: code that writes past either end of a tensor, or uses what it reads there, is found out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/kit.h"

namespace strider {

class Device;

/// While one lives, what this thread allocates for tensors lies between guard bytes. Those and the tensor's own are 0xff at
/// first: NaN in every float dtype, -1 or the greatest number in integers.
class STRIDER_KIT GuardedMemory {
 public:
  /// Tensors begin `shift` bytes after an address that is a multiple of 64.
  explicit GuardedMemory(int64_t shift = 0);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  /// What was written outside of tensors so far, of those that are gone too: "4 bytes after the end of a tensor of 400 bytes,
  /// from byte 400 on"; empty if nothing was.
  std::string damage() const;

  /// What a tensor's memory keeps of it.
  struct State;
  static std::shared_ptr<State> current();

  struct Entry;

 private:
  std::shared_ptr<State> state_;
  Entry* entry_;
};

/// The guards of one tensor's memory.
class Guards {
 public:
  static constexpr int64_t kZone = 1 << 16;

  explicit Guards(std::shared_ptr<GuardedMemory::State> state) : state_(std::move(state)) {}
  bool is_on() const { return state_ != nullptr; }
  /// How many bytes more have to be allocated.
  int64_t extra_bytes() const;
  /// Where the tensor lies in what was allocated; poisons all of it.
  void* place(Device& device, void* allocated, int64_t bytes, void* stream);
  /// Looks at the guards, for the last time.
  void take_back() noexcept;

 private:
  std::shared_ptr<GuardedMemory::State> state_;
  void* allocated_ = nullptr;
};

}  // namespace strider
