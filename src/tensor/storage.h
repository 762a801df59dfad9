// SPDX-License-Identifier: Apache-2.0
// What owns a tensor's memory.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include <strider/tensor.h>

#include "base/kit.h"
#include "tensor/allocator.h"
#include "tensor/guard.h"

namespace strider {

inline namespace v0 {

class Tensor::Storage {
 public:
  /// Memory of our own, from the device's pool, for this thread's stream there.
  Storage(Device& device, int64_t bytes);
  /// Memory of somebody else, who is told when it is needed no more: `home`, the stream that theirs is ordered by, waits for the
  /// others that used it.
  Storage(void* memory, int64_t bytes, const Stream& home, std::function<void()> release);
  /// The same, when what may fail is done.
  void take_over(std::function<void()> release) { release_ = std::move(release); }
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  /// Work of that stream uses the memory: it is not handed out again before that is done.
  void used_on(const Stream& stream);

  void* memory = nullptr;
  int64_t bytes;

 private:
  void tell_owner() noexcept;

  Device& device_;
  MemoryPool* pool_ = nullptr;  // null: not ours
  MemoryPool::Loan loan_;
  Guards guards_{GuardedMemory::current()};
  std::function<void()> release_;
  std::mutex uses_mutex_;
};

}  // namespace v0

/// The device called `name`, which for the CPU costs nothing.
Device& device_of(std::string_view name);
STRIDER_KIT bool is_host(const Device& device);

/// A tensor of uninitialised elements; the memory holds exactly what the strides reach.
STRIDER_KIT Tensor empty_on(Device& device, const Dims& shape, const Dims& strides, DType dtype);

/// The bytes from a tensor's lowest element to its highest. Of an empty tensor: none.
STRIDER_KIT std::span<char> bytes_of(const TensorView& view);

/// `view`, or a row-major copy of it on the host: what can be read through data() in one run.
STRIDER_KIT TensorView host_rows(const TensorView& view, std::shared_ptr<Tensor>* keep);

}  // namespace strider
