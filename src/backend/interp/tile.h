// SPDX-License-Identifier: Apache-2.0
// The tile interpreter: the reference for what a kernel means. Statements run in order, each over the whole tile; programs
// run in the order of their linear ids.
//
// Folds have a fixed order. reduce over n elements, h from the power of two below n down to 1:
//   x[i] = combine(x[i], x[i + h]) for every i < h with i + h present; the result is x[0].
// scan, d = 1, 2, 4, ... below n:  y[i] = combine(y[i - d], y[i]) for every i >= d, all from the y before.
#pragma once

#include "backend/backend.h"
#include "backend/interp/report.h"

namespace strider::interp {

/// Runs tile form, before or after pass::prepare, and scheduled form. Memory is read and written in place.
///
///   const uint64_t args[] = {reinterpret_cast<uint64_t>(x), n};
///   auto reports = interpret_tiles(f, {4, 1, 1}, args, {.memories = {{"x", x, 400}}});
std::vector<Report> interpret_tiles(const ir::Function& f, const Grid& grid, std::span<const uint64_t> args,
                                    const InterpOptions& options = {});

}  // namespace strider::interp
