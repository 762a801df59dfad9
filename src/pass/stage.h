// SPDX-License-Identifier: Apache-2.0
// Stage: lets accesses that run along another axis than their tile walk in their own order.
//
// Needs: tile form.
// Leaves: tile form in which a load or store whose addresses are consecutive along another axis than the last is written on
// the transposed tile: `trans(load(trans(pointer)))`. The schedule gives it a nest of its own in that order and hands the
// tile over through scratch. Such loads carry the flag kStaged: their kept tile is best laid out in the reader's order.
#pragma once

#include "ir/function.h"

namespace strider::pass {

ir::Function stage(const ir::Function& tile);

}  // namespace strider::pass
