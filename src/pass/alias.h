// SPDX-License-Identifier: Apache-2.0
// Which accesses may touch the same memory.
#pragma once

#include "ir/function.h"

namespace strider::pass {

/// False only if accesses through pointers with these roots (ir/roots.h) can never meet.
bool roots_may_alias(const ir::Function& f, ir::Value a, ir::Value b);

/// True if all lanes of a tile of addresses are known to be different.
bool lanes_differ(const ir::Function& f, ir::Value pointer);

}  // namespace strider::pass
