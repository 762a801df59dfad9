// SPDX-License-Identifier: Apache-2.0
// The way from tile form to lane form, as one list of named steps.
#pragma once

#include <functional>
#include <string_view>

#include "ir/function.h"
#include "ir/target.h"

namespace strider::pass {

/// Called with the name of each stage ("tile", "prepared", "split", "scheduled", "lanes", ...) and the program at that point.
using Watch = std::function<void(std::string_view stage, const ir::Function& program)>;

/// The half that decides every bit: simplify, contract, decompose, simplify. Its result is the program that both interpreters and
/// all targets run; equal bits everywhere follow from that. Ops that a target does not spell become others that give the same bits
/// (respell.h); where there are none, an unsupported error names the op.
ir::Function prepare(const ir::Function& tile, const Target& target, const Watch& watch = {});

/// The same without simplification, every integer operation of the program marked kAsWritten: for the lint of overflow, which is about
/// what was written, `x - 1` and not `x + (2^32 - 1)`.
ir::Function prepare_as_written(const ir::Function& tile);

/// The rest: split, schedule, lanes, scratch, barriers, tidy. `threads` is of a program, 0 lets the pipeline choose
/// within the target's limits. The result is lane form that the target can spell; else an unsupported error names the op. Where a
/// target takes tile form, `prepared` as it is.
ir::Function lower(const ir::Function& prepared, const Target& target, int threads = 0, const Watch& watch = {});

}  // namespace strider::pass
