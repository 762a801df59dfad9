// SPDX-License-Identifier: Apache-2.0
// Tensors put together: copies into views of a new one.
#include <algorithm>

#include "backend/backend.h"
#include "base/error.h"
#include "ir/promote.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

#include <strider/tensor.h>

namespace strider::inline v0 {
namespace {

/// A user error for parts of several devices, or whose shapes differ in an axis other than `free`.
void check_parts(std::string_view what, std::span<const TensorView> parts, int free) {
  const TensorView& first = parts[0];
  for (size_t k = 1; k < parts.size(); ++k) {
    const TensorView& part = parts[k];
    if (&part.device_object() != &first.device_object())
      user_error("{}: tensor 0 is on {}, tensor {} on {}", what, first.device(), k, part.device());
    bool fits = part.rank() == first.rank();
    for (int a = 0; fits && a < first.rank(); ++a) fits = a == free || part.shape()[a] == first.shape()[a];
    if (!fits)
      user_error("{}: tensor 0 has shape {}, tensor {} has {}{}", what, to_string(first.shape()), k, to_string(part.shape()),
                 free < 0 ? "" : fmt::format(": they may differ in axis {} alone", free));
  }
}

void check_some(std::string_view what, std::span<const TensorView> parts) {
  if (parts.empty()) user_error("{}: no tensors", what);
}

Tensor new_rows(Device& device, const Dims& shape, DType dtype) {
  count_elements(shape, dtype);
  return empty_on(device, shape, contiguous_strides(shape), dtype);
}

}  // namespace

Tensor cat(std::span<const TensorView> tensors, int axis) {
  check_some("cat", tensors);
  Dims shape = tensors[0].shape();
  axis = check_axis("cat", shape, axis);
  check_parts("cat", tensors, axis);
  DType dtype = tensors[0].dtype();
  shape[axis] = 0;
  for (const TensorView& t : tensors) {
    dtype = ir::promote_operator(dtype, t.dtype());
    if (__builtin_add_overflow(shape[axis], t.shape()[axis], &shape[axis])) user_error("cat: more than 2^63 elements");
  }
  Tensor result = new_rows(tensors[0].device_object(), shape, dtype);
  int64_t next = 0;
  for (const TensorView& t : tensors) {
    result.narrow(axis, next, t.shape()[axis]).copy_from(t);
    next += t.shape()[axis];
  }
  return result;
}

Tensor stack(std::span<const TensorView> tensors, int axis) {
  check_some("stack", tensors);
  check_parts("stack", tensors, -1);
  std::vector<TensorView> parts;
  for (const TensorView& t : tensors) parts.push_back(t.unsqueeze(axis));
  return cat(parts, axis);
}

Tensor detail::pad(const TensorView& x, std::span<const int64_t> widths, const Argument& value) {
  if (widths.size() % 2 != 0) user_error("pad: {} widths, expected two for each axis", widths.size());
  if (widths.size() / 2 > static_cast<size_t>(x.rank()))
    user_error("pad: {} widths for a tensor of shape {}, which has {} axes", widths.size(), to_string(x.shape()), x.rank());
  Dims shape = x.shape();
  for (size_t k = 0; k < widths.size(); ++k) {
    int64_t& size = shape[x.rank() - 1 - static_cast<int>(k / 2)];
    if (__builtin_add_overflow(size, widths[k], &size)) user_error("pad: more than 2^63 elements");
  }
  TensorView kept = x;
  for (size_t k = 0; k < widths.size(); k += 2) {
    int axis = x.rank() - 1 - static_cast<int>(k / 2);
    int64_t size = x.shape()[axis], before = std::min<int64_t>(widths[k], 0), after = std::min<int64_t>(widths[k + 1], 0);
    if (before < -size || after < -size - before)
      user_error("pad: the widths {} and {} cut more off axis {} of a tensor of shape {} than there is", widths[k],
                 widths[k + 1], axis, to_string(x.shape()));
    kept = kept.narrow(axis, -before, size + before + after);
  }
  Tensor result = full(shape, value, {x.dtype(), x.device()});
  TensorView inner = result;
  for (size_t k = 0; k < widths.size(); k += 2) {
    int axis = x.rank() - 1 - static_cast<int>(k / 2);
    inner = inner.narrow(axis, std::max<int64_t>(0, widths[k]), kept.shape()[axis]);
  }
  inner.copy_from(kept);
  return result;
}

}  // namespace strider::v0
