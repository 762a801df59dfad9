// SPDX-License-Identifier: Apache-2.0
// Offsets: takes tiles that loops move by steps out of the loops.
//
// Needs: tile form.
// Leaves: tile form in which no loop carries a tile of pointers, and a tile that a loop only adds a scalar to is written as
// its first value plus a scalar: `first + trip * step` where the step does not change, else a carried sum. What is known
// about the first value (contiguous, aligned) then holds in every iteration. Pointer tiles that move in other ways than by
// ptr_add are an unsupported error.
#pragma once

#include "ir/function.h"

namespace strider::pass {

ir::Function take_offsets_out(const ir::Function& tile);

}  // namespace strider::pass
