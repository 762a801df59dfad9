// SPDX-License-Identifier: Apache-2.0
// Functions of all three forms, for tests of printer, parser and verifier: three written by hand and any number at random.
#pragma once

#include "ir/builder.h"

namespace strider::ir::samples {

/// A tile kernel with every op of the tile form that is not plain arithmetic.
Function tile_kernel();
/// Nests with kept and inlined values, and a reduction.
Function scheduled_kernel();
/// Vectors, shared and local memory, shuffles, exchange, barriers.
Function lane_kernel();

/// A valid tile program of about `size` statements, the same for the same seed. It is for reading, not for running.
Function random_tile_program(uint32_t seed, int size);

}  // namespace strider::ir::samples
