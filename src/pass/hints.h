// SPDX-License-Identifier: Apache-2.0
// Hints leave the program before it is lowered.
#pragma once

#include "ir/function.h"

namespace strider::pass {

/// Drops assumptions and what is said of tiles; what is said of scalars stays, for the lanes pass.
ir::Function drop_hints(const ir::Function& tile);

}  // namespace strider::pass
