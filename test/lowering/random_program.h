// SPDX-License-Identifier: Apache-2.0
// Random kernels: every op of the table on random dtypes and shapes, with loads, stores, folds, loops and branches, free of
// races and of accesses out of bounds by construction.
#pragma once

#include "lowering/kernels.h"

namespace strider::lowering {

/// The same kernel for the same seed.
Kernel random_kernel(uint64_t seed);

}  // namespace strider::lowering
