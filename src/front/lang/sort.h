// SPDX-License-Identifier: Apache-2.0
// Sorting and counting.
#pragma once

#include "front/lang/writer.h"

namespace strider::front {

/// Rising along the axis, or falling.
ir::Value sort(Writer& w, const Term& x, int axis, bool descending);
/// The k largest along the axis, falling.
ir::Value topk(Writer& w, const Term& x, int64_t k, int axis);
/// How many elements are 0, 1, ..., bins - 1; an empty mask counts every lane.
ir::Value histogram(Writer& w, const Term& x, int64_t bins, const Term& mask);

}  // namespace strider::front
