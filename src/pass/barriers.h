// SPDX-License-Identifier: Apache-2.0
// Barriers: turns the `phase` marks that are needed into barriers and drops the others.
//
// Needs: lane form with assigned scratch. Accesses between two marks are known not to meet across threads.
// Leaves: no phase marks; a barrier stands between any two accesses of different phases that may touch the same bytes and of
// which one writes, on every path, loops included. No other pass writes barriers.
#pragma once

#include "ir/function.h"

namespace strider::pass {

ir::Function insert_barriers(const ir::Function& lanes);

}  // namespace strider::pass
