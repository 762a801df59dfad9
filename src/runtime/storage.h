// SPDX-License-Identifier: Apache-2.0
// What owns a tensor's memory.
#pragma once

#include <strider/tensor.h>

namespace strider {
inline namespace v0 {

class Tensor::Storage {
 public:
  Storage(Device& device, int64_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Device& device;
  void* memory;
  int64_t bytes;
};

}  // namespace v0

/// A tensor of uninitialised elements; the memory holds exactly what the strides reach.
Tensor empty_on(Device& device, const Dims& shape, const Dims& strides, DType dtype);

}  // namespace strider
