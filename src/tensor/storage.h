// SPDX-License-Identifier: Apache-2.0
// What owns a tensor's memory.
#pragma once

#include <functional>
#include <span>

#include <strider/tensor.h>

#include "base/kit.h"
#include "tensor/guard.h"

namespace strider {

class MemoryPool;

inline namespace v0 {

class Tensor::Storage {
 public:
  /// Memory of our own, from the device's pool.
  Storage(Device& device, int64_t bytes);
  /// Memory of somebody else, who is told when it is needed no more.
  Storage(void* memory, int64_t bytes, std::function<void()> release);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* memory = nullptr;
  int64_t bytes;

 private:
  MemoryPool* pool_ = nullptr;  // null: not ours
  int64_t capacity_ = 0;
  Guards guards_{GuardedMemory::current()};
  std::function<void()> release_;
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
