// SPDX-License-Identifier: Apache-2.0
// Split: gives programs whose tiles are full a body without bound masks.
//
// Needs: tile form. A bound mask is `index < bound` (or <=, >, >= either way round), where index is a lane number times a
// positive constant plus a scalar, and bound a scalar; or a conjunction of such masks.
// Leaves: tile form with at most two copies of each body: one in which these masks are true, run where all of them hold in
// every lane, and the masked one (an `if` with the flag kLikely). A loop whose masks depend on its index becomes two loops:
// the iterations that are full, then the rest.
#pragma once

#include "ir/function.h"

namespace strider::pass {

ir::Function split(const ir::Function& tile);

}  // namespace strider::pass
