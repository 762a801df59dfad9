// SPDX-License-Identifier: Apache-2.0
// Which argument or allocation a pointer comes from.
#pragma once

#include <vector>

#include "ir/function.h"

namespace strider::ir {

/// The kernel parameter or alloc that a pointer is computed from by offsets, index maps and hints; invalid if it may be another one
/// (chosen at run time, carried by a loop).
Value root_of(const Function& f, Value pointer);

/// The same for every value, followed through loops and branches. By node id: the kernel parameter or alloc that all lanes of a pointer value come from; invalid for values that are no
/// pointers and for pointers of several or no known origins.
std::vector<Value> pointer_roots(const Function& f);

}  // namespace strider::ir
