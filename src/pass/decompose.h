// SPDX-License-Identifier: Apache-2.0
// Replaces what targets cannot spell, or would not spell alike, by arithmetic that they share.
//
// Needs: tile form (contracted already: expansions write their fma themselves).
// Leaves: tile form without
//  - the functions that ops.def marks Approx, exp to pow: they become the expansions of pass/maths.h;
//  - the ops that it marks Composed, float rem and integer fma: pass/composed.h;
//  - arithmetic on f16 and bf16. It is done in f32 and rounded once per op, in the combine regions of reductions and scans
//    as well: each step rounds. For + - * / and sqrt that is the correctly rounded result, f32 having more than twice the
//    bits. fma goes through f64. neg and abs act on the bits. Loads, stores, casts, bitcasts, where and atomics stay.
// A program whose expansions would be long calls them instead (Op::Call): compile time is then linear in the number of
// functions, at well under a millisecond each. The bits are the same: what is called is the same expansion, written once.
// Every replacement gives the bits of ir/semantics.h (NaN payloads aside), except the functions that maths.h approximates.
#pragma once

#include "ir/builder.h"
#include "ir/function.h"

namespace strider::pass {

ir::Function decompose(const ir::Function& program);

/// fma of f16, bf16 or f32, correctly rounded, in arithmetic of f64.
ir::Value fma_by_f64(ir::Builder& b, std::span<const ir::Value> x);

}  // namespace strider::pass
