// SPDX-License-Identifier: Apache-2.0
// The processor of this machine.
#pragma once

#include "backend/backend.h"

namespace strider {

Compiler& cpu_compiler();
/// The only one has number 0.
std::unique_ptr<Device> open_cpu_device(int ordinal);

}  // namespace strider
