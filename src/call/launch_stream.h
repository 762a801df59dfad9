// SPDX-License-Identifier: Apache-2.0
// Where a launch goes, and what its stream then uses.
#pragma once

#include <span>

#include <strider/argument.h>
#include <strider/tensor.h>

#include "tensor/stream.h"

namespace strider {

/// This thread's stream of the device, for a launch with these arguments: the memory of those that own theirs is kept for it.
inline StreamHandle launch_stream(Device& device, std::span<const Argument> arguments) {
  if (!device.has_streams()) return nullptr;
  const Stream stream = current_stream(device);
  for (const Argument& a : arguments)
    if (a.is_owner()) static_cast<const Tensor&>(a.view()).used_on(stream);
  return handle_of(stream);
}
inline StreamHandle launch_stream(Device& device, std::span<const Tensor> tensors) {
  if (!device.has_streams()) return nullptr;
  const Stream stream = current_stream(device);
  for (const Tensor& t : tensors) t.used_on(stream);
  return handle_of(stream);
}

}  // namespace strider
