// SPDX-License-Identifier: Apache-2.0
// The lane interpreter: runs lane form with Function::threads threads in lockstep, and reports what real threads would only
// sometimes show: races between threads since the last barrier, divergent barriers, scratch read before it is written.
#pragma once

#include "backend/backend.h"
#include "backend/interp/report.h"

namespace strider::interp {

/// Runs lane form. Scratch and local memory hold poison when a program starts; programs run in the order of their linear
/// ids. Two threads that store the same value to the same global byte do not race, because lanes of one tile store may
/// and its slots may be several statements; any other pair of accesses without a barrier between does unless both load or
/// both are atomic.
std::vector<Report> interpret_lanes(const ir::Function& f, const Grid& grid, std::span<const uint64_t> args,
                                    const InterpOptions& options = {});

}  // namespace strider::interp
