// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"

#include "base/error.h"

namespace strider {

void check_known(DType dtype) {
  if (!is_known(dtype)) user_error("there is no dtype number {}", static_cast<int>(dtype));
}

int64_t count_elements(const Dims& shape, DType dtype) {
  check_known(dtype);
  int64_t n = 1, bytes;
  bool is_empty = false, overflows = false;
  for (int64_t size : shape) {
    if (size < 0) user_error("shape {} has a negative size", to_string(shape));
    is_empty |= size == 0;
    overflows |= __builtin_mul_overflow(n, std::max<int64_t>(size, 1), &n);
  }
  if (overflows || __builtin_mul_overflow(n, size_of(dtype), &bytes))
    user_error("shape {} of {} needs more than 2^63 bytes", to_string(shape), name_of(dtype));
  return is_empty ? 0 : n;
}

Dims contiguous_strides(const Dims& shape) {
  Dims strides = Dims::filled(shape.rank(), 1);
  for (int k = shape.rank() - 1; k > 0; --k)
    if (__builtin_mul_overflow(strides[k], std::max<int64_t>(shape[k], 1), &strides[k - 1])) strides[k - 1] = 0;
  return strides;
}

bool is_contiguous(const Dims& shape, const Dims& strides) {
  int64_t expected = 1;
  for (int k = shape.rank() - 1; k >= 0; --k) {
    if (shape[k] == 0) return true;
    if (shape[k] != 1 && strides[k] != expected) return false;
    expected *= shape[k];
  }
  return true;
}

Extent extent(const Dims& shape, const Dims& strides) {
  Extent e;
  bool overflows = false;
  for (int k = 0; k < shape.rank(); ++k) {
    if (shape[k] == 0) return {0, -1};
    int64_t reach;
    overflows |= __builtin_mul_overflow(shape[k] - 1, strides[k], &reach);
    int64_t& end = reach < 0 ? e.low : e.high;
    overflows |= __builtin_add_overflow(end, reach, &end);
  }
  constexpr int64_t kMost = int64_t{1} << 59;  // so that bytes fit, too
  if (overflows || e.high > kMost || e.low < -kMost || e.high - e.low > kMost)
    user_error("a tensor of shape {} with strides {} reaches over more than 2^59 elements", to_string(shape), to_string(strides));
  return e;
}

int check_axis(std::string_view what, const Dims& shape, int64_t axis) {
  int64_t from_front = axis < 0 ? axis + shape.rank() : axis;
  if (from_front < 0 || from_front >= shape.rank())
    user_error("{}: axis {} is out of range for a tensor of shape {}", what, axis, to_string(shape));
  return static_cast<int>(from_front);
}

}  // namespace strider
