// SPDX-License-Identifier: Apache-2.0
// The processor of this machine.
#pragma once

#include "backend/backend.h"

namespace strider {

Compiler& cpu_compiler();
Device& cpu_device();

}  // namespace strider
