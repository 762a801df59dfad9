// SPDX-License-Identifier: Apache-2.0
// Plain arithmetic on shapes and strides, checked for overflow in 64 bits.
#pragma once

#include <string_view>

#include <strider/dims.h>
#include <strider/dtype.h>

#include "base/kit.h"

namespace strider {

/// A user error for a dtype that is none of the table's.
STRIDER_KIT void check_known(DType dtype);
/// Sizes multiplied; a user error when one is negative, the product times the element size leaves 63 bits, or the dtype is
/// unknown.
STRIDER_KIT int64_t count_elements(const Dims& shape, DType dtype);
/// Row-major; of a shape that count_elements() refuses, some strides or other.
STRIDER_KIT Dims contiguous_strides(const Dims& shape);
bool is_contiguous(const Dims& shape, const Dims& strides);

/// The least and the greatest offset of any element, in elements. Of an empty tensor: 0 and -1.
struct Extent {
  int64_t low = 0, high = 0;
  int64_t elements() const { return high - low + 1; }
};
STRIDER_KIT Extent extent(const Dims& shape, const Dims& strides);

/// 0 <= result < rank; negative axes count from the last. A user error that names `what` otherwise.
int check_axis(std::string_view what, const Dims& shape, int64_t axis);

/// Calls `f(offset)` for every element in row-major order, with its offset in elements.
template <class F>
void for_each_offset(const Dims& shape, const Dims& strides, F&& f) {
  for (int64_t size : shape)
    if (size == 0) return;
  Dims index = Dims::filled(shape.rank(), 0);
  for (int64_t offset = 0;;) {
    f(offset);
    int k = shape.rank() - 1;
    for (; k >= 0; --k) {
      offset += strides[k];
      if (++index[k] < shape[k]) break;
      offset -= strides[k] * shape[k];
      index[k] = 0;
    }
    if (k < 0) return;
  }
}

}  // namespace strider
