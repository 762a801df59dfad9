// SPDX-License-Identifier: Apache-2.0
// Emptying of caches between samples.
#pragma once

#include <cstdint>

#include "backend/backend.h"

#include <strider/tensor.h>

namespace strider::inline v0::testing {

/// Leaves in the caches of a device only memory of its own.
class CacheFlush {
 public:
  explicit CacheFlush(Device& device);
  /// On a CPU every thread reads its part of the memory, which leaves nothing that would have to be written back; a GPU fills it.
  void operator()() const;

  /// More than the last cache holds.
  static int64_t bytes_for(const Device& device);

 private:
  Device& device_;
  Tensor memory_;
};

}  // namespace strider::v0::testing
