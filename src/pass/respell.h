// SPDX-License-Identifier: Apache-2.0
// Ops for which a target has no code (Target::missing), in ops for which it has some. The bits stay the same.
//
// Needs: tile form, decomposed.
// Leaves: tile form, in which ops on short integers are done in 32 bits, and fma of f32 in f64, where the target asks for it.
// What has no such form stays; check_spelled names it.
#pragma once

#include "ir/function.h"
#include "ir/target.h"

namespace strider::pass {

ir::Function respell(const ir::Function& program, const Target& target);

}  // namespace strider::pass
