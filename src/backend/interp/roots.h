// SPDX-License-Identifier: Apache-2.0
// Which argument or allocation every pointer comes from, followed through the whole program.
#pragma once

#include <vector>

#include "ir/function.h"

namespace strider::interp {

/// By node id: the kernel parameter or alloc that all lanes of a pointer value come from; invalid for values that are no
/// pointers and for pointers of several or no known origins.
std::vector<ir::Value> pointer_roots(const ir::Function& f);

}  // namespace strider::interp
