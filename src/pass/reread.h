// SPDX-License-Identifier: Apache-2.0
// Reread: a row that all rows of a tile use is read again for each of them.
//
// Needs: tile form.
// Leaves: tile form in which `broadcast(load(p))` is `load(broadcast(p))` where nothing else uses the load and its addresses are
// consecutive along the last axis. Where a program's scratch is memory like any other, keeping the row there would cost a copy
// and, for every row, a read as expensive as that of the row itself.
#pragma once

#include "ir/function.h"

namespace strider::pass {

ir::Function reread(const ir::Function& tile);

}  // namespace strider::pass
