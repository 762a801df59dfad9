// SPDX-License-Identifier: Apache-2.0
// Schedule: tile form to scheduled form. One lowering for every target starts here.
//
// Needs: tile form without pointer tiles carried by loops or chosen by `if` (pass/offsets).
// Leaves: every region a list of steps in order: scalar statements, control flow, and nests. A nest is one pass over an
// index space (a tile shape without its axes of size 1); it holds the statements that run lane by lane in that pass.
//
// What is decided, and by which rules:
//  * Inline values (flag kInline): index arithmetic, addresses, masks and shape ops are recomputed where they are used.
//  * Everything else is placed exactly once, as late as possible: stores, atomics, reductions and scans are anchors, in
//    program order; an anchor pulls the loads and the arithmetic it needs into its nest.
//  * An anchor joins the last nest of its index space unless it needs something that is complete only after that nest:
//    a reduction's result, another lane's value, or memory order.
//  * Memory order: a load goes after every earlier store that may alias it, a store after every earlier access that may
//    alias it. Accesses through one and the same address value whose lanes all differ may share a nest, lane by lane;
//    others wait for the next one. A load that is still waiting when a store that may alias it comes is placed first.
//  * A value used by a later nest at the same lane is kept by its owner (kKeepPrivate); one used at another lane, through
//    a shape op, is kept where every lane can read it (kKeepShared). Values that enter regions are placed before them.
#pragma once

#include "ir/function.h"

namespace strider::pass {

ir::Function schedule(const ir::Function& tile);

}  // namespace strider::pass
