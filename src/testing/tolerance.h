// SPDX-License-Identifier: Apache-2.0
// How far results may lie from what is expected.
#pragma once

#include <algorithm>
#include <cmath>

#include <strider/testing/close.h>

#include "ir/semantics.h"
#include "tensor/compare.h"

namespace strider::inline v0::testing {

/// `largest`: the largest finite magnitude among what is expected. User errors: tolerances that are negative or NaN, summands below 1.
Tolerance tolerance_of(const CloseOptions& options, DType dtype, double largest);

/// Of `count` elements, given as bits by element; 0 if none is finite.
template <class Elements>
double largest_magnitude(DType dtype, int64_t count, const Elements& bits) {
  double largest = 0;
  for (int64_t i = 0; i < count && is_float(dtype); ++i) {
    double magnitude = std::fabs(ir::double_of_bits(dtype, bits[i]));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

}  // namespace strider::v0::testing
