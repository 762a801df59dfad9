// SPDX-License-Identifier: Apache-2.0
// Sorting and counting.
#pragma once

#include <array>

#include "front/lang/writer.h"

namespace strider::front {

/// Rising along the axis, or falling.
ir::Value sort(Writer& w, const Term& x, int axis, bool descending);
/// The k largest along the axis, falling, or the k smallest, rising.
ir::Value topk(Writer& w, const Term& x, int64_t k, int axis, bool largest);
/// And their i32 indices; equal ones in rising order of these.
std::array<ir::Value, 2> topk_with_indices(Writer& w, const Term& x, int64_t k, int axis, bool largest);
/// How many elements are 0, 1, ..., bins - 1; an empty mask counts every lane.
ir::Value histogram(Writer& w, const Term& x, int64_t bins, const Term& mask);

}  // namespace strider::front
