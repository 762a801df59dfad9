// SPDX-License-Identifier: Apache-2.0
// Lanes: scheduled form to lane form, the program of one thread.
//
// Needs: scheduled form (pass/schedule.h).
// Leaves: lane form with `phase` marks wherever accesses of different threads may meet (pass/barriers), and shared
// allocations without offsets (pass/scratch).
//
// Rules:
//  * Every nest walks its index space in the canonical layout (layout.h): all nests, all kept values, one layout a space.
//  * A privately kept value lives in an array of its owner; a shared one in scratch, row-major. Other lanes are read there only.
//  * Lanes that repeat others (more threads than elements) have one owner, which alone stores and does atomics.
//    Scalar loads and atomics are done by thread 0, which hands the result to all: conditions are uniform.
//  * Lanes beyond a ragged axis compute whatever, and neither load, store nor take part in a reduction.
//  * Reductions fold halves and scans double distances, as docs/ir.md states, for any number of threads.
#pragma once

#include "ir/function.h"
#include "ir/target.h"

namespace strider::pass {

/// `threads` of a program and `lanes` of a vector are powers of two.
ir::Function lower_to_lanes(const ir::Function& scheduled, const Target& target, int threads, int lanes);

}  // namespace strider::pass
