// SPDX-License-Identifier: Apache-2.0
// Which accesses may touch the same memory.
#pragma once

#include "ir/function.h"

namespace strider::pass {

/// The kernel argument that an address is computed from, or an invalid value when it may be any of them
/// (chosen at run time, carried by a loop).
ir::Value pointer_root(const ir::Function& f, ir::Value pointer);

/// False only if accesses through pointers with these roots can never meet.
bool roots_may_alias(const ir::Function& f, ir::Value a, ir::Value b);

/// True if all lanes of a tile of addresses are known to be different.
bool lanes_differ(const ir::Function& f, ir::Value pointer);

}  // namespace strider::pass
