// SPDX-License-Identifier: Apache-2.0
// What a finished kernel tells of its arguments.
#pragma once

#include <vector>

#include "ir/function.h"

namespace strider::front {

/// Marks the pointer parameters through which the program writes nothing.
void mark_read_only(ir::Function& f);

/// Lets stores of tiles bypass the caches where the parameter is large memory, by `streams`, that the program does nothing else
/// with.
void mark_streaming(ir::Function& f, std::vector<bool> streams);

}  // namespace strider::front
