// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs by way of PTX and the driver.
#pragma once

#include "backend/backend.h"

namespace strider {

extern const BackEnd kCudaBackEnd;

inline constexpr size_t kMostCudaArguments = 512;  // of 8 bytes each: a kernel's parameters take 4 KiB at most

/// The processors, the oldest first; the level of each is its compute capability, 90 for 9.0.
std::vector<Target> cuda_targets();
Compiler& cuda_compiler();
/// How many devices the driver shows; 0 without a driver.
int cuda_device_count() noexcept;
/// Opens device `ordinal`. Throws a driver error when the driver cannot be opened.
std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace strider
