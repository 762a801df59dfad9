// SPDX-License-Identifier: Apache-2.0
// Whether two tensors are the same, and where they are not. They may lie on different devices and have any strides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <strider/tensor.h>

namespace strider {
inline namespace v0 {

/// Same dtype, same shape, and the same bits in every element: a NaN equals a NaN of the same bits, and -0 is not +0.
STRIDER_API bool equal(const TensorView& a, const TensorView& b);

/// NumPy's: |a - b| <= atol + rtol * |b| for every element, infinities only if they are the same, NaN only with `equal_nan` and
/// on both sides. Dtypes may differ: floats are compared in double, integers exactly. A user error when the shapes differ.
STRIDER_API bool all_close(const TensorView& a, const TensorView& b, double rtol = 1e-5, double atol = 1e-8,
                           bool equal_nan = false);

/// The greatest |a - b|; NaN if either is NaN somewhere where the other is not; 0 for equal infinities, two NaNs, and tensors
/// without elements. A user error when the shapes differ.
STRIDER_API double max_abs_difference(const TensorView& a, const TensorView& b);

struct Difference {
  Dims index;
  std::string a, b;  // both elements, in as many digits as tell them from others of their dtype

  /// "at (1, 2): 0.1 and 0.25".
  STRIDER_API std::string text() const;
};

/// The first element in row-major order at which the tensors have other bits, if any. A user error when shapes or dtypes differ.
STRIDER_API std::optional<Difference> first_difference(const TensorView& a, const TensorView& b);
/// The first one at which all_close() would fail.
STRIDER_API std::optional<Difference> first_difference(const TensorView& a, const TensorView& b, double rtol, double atol,
                                                       bool equal_nan = false);

}  // namespace v0
}  // namespace strider
