// SPDX-License-Identifier: Apache-2.0
// Scratch: gives every shared allocation its place.
//
// Needs: lane form with `phase` marks, or of one thread.
// Leaves: `aux` of every shared alloc is its byte offset, Function::scratch_bytes is what a program needs. Allocations
// whose lives do not meet share bytes. Lives are counted in phases, because within one phase threads run at will; one that
// is used in a loop and allocated before it lives through the whole loop.
#pragma once

#include "ir/function.h"
#include "ir/target.h"

namespace strider::pass {

/// Throws an unsupported error when the program needs more than the target has.
void assign_scratch(ir::Function& lanes, const Target& target);

}  // namespace strider::pass
