// SPDX-License-Identifier: Apache-2.0
// Two tiers of code for one kernel: what can run soon, then what runs fast. Both compute the same bits.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace strider {

/// Where the device's target loads code slowly (Target::in_tiers): code that compiles soon, at once, and fast code from the
/// background, which later launches use as soon as it is there. Elsewhere, and with STRIDER_TIERS=0, the same as compile().
std::unique_ptr<Executable> compile_in_tiers(const ir::Function& tile, Device& device);

/// Returns when nothing waits or is being compiled in the background.
void finish_background();

}  // namespace strider
