// SPDX-License-Identifier: Apache-2.0
// Makes a program smaller without changing a bit of what it stores.
//
// Needs: tile form or lane form.
// Leaves: the same form, in which
//  - every value, load, carried value and control statement serves an effect (pass/used.h);
//  - constants are folded, equal pure values are computed once, and the algebra of pass/algebra.h has been applied;
//  - an `if` on a constant has become its branch, a `for` without iterations its initial values, one with a single
//    iteration its body, and values that a loop carries unchanged, or that both branches of an `if` share, come from outside.
// Which NaN an operation gives is not specified (docs/ir.md), so rules may change NaN payloads.
#pragma once

#include "ir/function.h"

namespace strider::pass {

ir::Function simplify(const ir::Function& program);

}  // namespace strider::pass
