// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs by way of PTX and the driver.
#pragma once

#include "backend/backend.h"

namespace strider {

Compiler& cuda_compiler();
/// How many devices the driver shows; 0 without a driver.
int cuda_device_count() noexcept;
/// Opens device `ordinal`. Throws a driver error when the driver cannot be opened.
std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace strider
