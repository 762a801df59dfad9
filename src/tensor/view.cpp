// SPDX-License-Identifier: Apache-2.0
// Views: new shapes and strides over the same memory.
#include "backend/backend.h"
#include "base/error.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

#include <strider/tensor.h>

namespace strider {
inline namespace v0 {
namespace {

char* advanced(void* data, DType dtype, int64_t elements) { return static_cast<char*>(data) + elements * size_of(dtype); }

}  // namespace

TensorView::TensorView(void* data, DType dtype, const Dims& shape) : TensorView(data, dtype, shape, contiguous_strides(shape)) {}

TensorView::TensorView(void* data, DType dtype, const Dims& shape, const Dims& strides, std::string_view device)
    : TensorView(data, dtype, shape, strides, device_of(device)) {}

TensorView::TensorView(void* data, DType dtype, const Dims& shape, const Dims& strides, Device& device)
    : data_(data), device_(&device), dtype_(dtype), shape_(shape), strides_(strides) {
  if (shape.rank() != strides.rank()) user_error("shape {} and strides {} differ in rank", to_string(shape), to_string(strides));
  int64_t count = count_elements(shape, dtype);
  extent(shape, strides);
  if (count == 0) return;
  if (!data) user_error("a tensor of {} of shape {} has no memory: its pointer is null", name_of(dtype), to_string(shape));
  auto address = reinterpret_cast<uintptr_t>(data);
  if (address % static_cast<uintptr_t>(size_of(dtype)) != 0)
    user_error("a tensor of {} of shape {} lies at {:#x}, which is no multiple of {} bytes", name_of(dtype), to_string(shape),
               address, size_of(dtype));
}

int64_t TensorView::size(int axis) const { return shape()[check_axis("size", shape(), axis)]; }
int64_t TensorView::elements() const {
  int64_t n = 1;
  for (int64_t size : shape()) n *= size;
  return n;
}
bool TensorView::is_contiguous() const { return strider::is_contiguous(shape(), strides()); }
std::string TensorView::device() const { return device_object().name(); }

TensorView TensorView::transpose(int a, int b) const {
  TensorView v = *this;
  a = check_axis("transpose", shape(), a);
  b = check_axis("transpose", shape(), b);
  std::swap(v.shape_[a], v.shape_[b]);
  std::swap(v.strides_[a], v.strides_[b]);
  return v;
}

TensorView TensorView::permute(const Dims& axes) const {
  TensorView v = *this;
  uint64_t seen = 0;
  for (int64_t a : axes) seen |= uint64_t{1} << check_axis("permute", shape(), a);
  if (axes.rank() != rank() || seen != (uint64_t{1} << rank()) - 1)
    user_error("permute: axes {} are no permutation of those of a tensor of shape {}", to_string(axes), to_string(shape()));
  for (int k = 0; k < rank(); ++k) {
    int from = check_axis("permute", shape(), axes[k]);
    v.shape_[k] = shape()[from];
    v.strides_[k] = strides()[from];
  }
  return v;
}

TensorView TensorView::movedim(int from, int to) const {
  from = check_axis("movedim", shape(), from);
  to = check_axis("movedim", shape(), to);
  TensorView v = *this;
  v.shape_.erase(from);
  v.strides_.erase(from);
  v.shape_.insert(to, shape()[from]);
  v.strides_.insert(to, strides()[from]);
  return v;
}

TensorView TensorView::slice(int axis, int64_t begin, int64_t end, int64_t step) const {
  if (step == 0 || step == INT64_MIN) user_error("slice: the step is {}, expected one other than 0", step);
  axis = check_axis("slice", shape(), axis);
  int64_t size = shape()[axis];
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto clip = [&](int64_t i) { return std::clamp(i < 0 ? i + size : i, low, high); };
  int64_t from = clip(begin), to = clip(end);
  int64_t distance = step > 0 ? to - from : from - to, stride = step > 0 ? step : -step;
  int64_t count = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  TensorView v = *this;
  v.shape_[axis] = count;
  if (elements() == 0 || count == 0) return v;  // strides that lead nowhere may be of any size
  if (count > 1) v.strides_[axis] = strides()[axis] * step;
  if (from > 0) v.data_ = advanced(data(), dtype(), from * strides()[axis]);
  return v;
}

TensorView TensorView::narrow(int axis, int64_t begin, int64_t size) const {
  axis = check_axis("narrow", shape(), axis);
  if (begin < 0 || size < 0 || begin > shape()[axis] || size > shape()[axis] - begin)
    user_error("narrow: {} elements from {} on leave axis {} of a tensor of shape {}", size, begin, axis, to_string(shape()));
  return slice(axis, begin, begin + size);
}

TensorView TensorView::select(int axis, int64_t index) const {
  axis = check_axis("select", shape(), axis);
  int64_t from_front = index < 0 ? index + shape()[axis] : index;
  if (from_front < 0 || from_front >= shape()[axis])
    user_error("select: index {} is out of range for axis {} of a tensor of shape {}", index, axis, to_string(shape()));
  return slice(axis, from_front, from_front + 1).squeeze(axis);
}

TensorView TensorView::flip(int axis) const {
  axis = check_axis("flip", shape(), axis);
  TensorView v = *this;
  if (elements() == 0 || shape()[axis] == 1) return v;
  v.data_ = advanced(data(), dtype(), (shape()[axis] - 1) * strides()[axis]);
  v.strides_[axis] = -strides()[axis];
  return v;
}

TensorView TensorView::expand(const Dims& shape) const {
  TensorView v = *this;
  int added = shape.rank() - rank();
  if (added < 0)
    user_error("expand: a tensor of shape {} does not expand to {}, which has fewer axes", to_string(shape_), to_string(shape));
  v.shape_ = shape;
  v.strides_ = Dims::filled(shape.rank(), 0);
  for (int k = 0; k < shape.rank(); ++k) {
    int from = k - added;
    if (shape[k] == -1 && from >= 0) v.shape_[k] = shape_[from];
    bool fits = from >= 0 && shape_[from] == v.shape_[k];
    if (fits) v.strides_[k] = strides()[from];
    else if (from >= 0 && shape_[from] != 1)
      user_error("expand: a tensor of shape {} does not expand to {}", to_string(shape_), to_string(shape));
  }
  count_elements(v.shape_, dtype());
  return v;
}

TensorView TensorView::squeeze() const {
  TensorView v = *this;
  for (int k = rank() - 1; k >= 0; --k) {
    if (shape()[k] != 1) continue;
    v.shape_.erase(k);
    v.strides_.erase(k);
  }
  return v;
}

TensorView TensorView::squeeze(int axis) const {
  axis = check_axis("squeeze", shape(), axis);
  if (shape()[axis] != 1)
    user_error("squeeze: axis {} of a tensor of shape {} has size {}", axis, to_string(shape()), shape()[axis]);
  TensorView v = *this;
  v.shape_.erase(axis);
  v.strides_.erase(axis);
  return v;
}

TensorView TensorView::unsqueeze(int axis) const {
  int at = axis < 0 ? axis + rank() + 1 : axis;
  if (at < 0 || at > rank()) user_error("unsqueeze: axis {} is out of range for a tensor of shape {}", axis, to_string(shape()));
  TensorView v = *this;
  v.shape_.insert(at, 1);
  int64_t stride = 1;  // that of an axis which merges with the next one; of no meaning otherwise
  if (at < rank() && __builtin_mul_overflow(strides()[at], shape()[at], &stride)) stride = 1;
  v.strides_.insert(at, stride);
  return v;
}

// --- reshape

namespace {

/// `shape` with a -1 replaced by what is left of `count` elements.
Dims completed(Dims shape, int64_t count) {
  int64_t known = 1;
  int missing = -1;
  for (int k = 0; k < shape.rank(); ++k) {
    if (shape[k] != -1) {
      if (__builtin_mul_overflow(known, shape[k], &known)) return shape;
    } else if (missing >= 0) {
      return shape;
    } else {
      missing = k;
    }
  }
  if (missing >= 0 && known > 0 && count % known == 0) shape[missing] = count / known;
  return shape;
}

/// Strides that number the same elements under `to`, or false: groups of axes with equal products must be mergeable.
bool reshaped_strides(const Dims& from, const Dims& strides, const Dims& to, Dims* result) {
  *result = contiguous_strides(to);
  int last = from.rank() - 1;
  int k = to.rank() - 1;
  while (last >= 0) {
    if (from[last] == 1) {
      --last;
      continue;
    }
    int64_t stride = strides[last], group = from[last];
    while (last > 0 && (from[last - 1] == 1 || strides[last - 1] == stride * group)) group *= from[--last];
    int64_t done = 1;
    for (; k >= 0 && done < group; --k) {
      (*result)[k] = stride * done;
      done *= to[k];
    }
    if (done != group) return false;
    --last;
  }
  return true;
}

}  // namespace

TensorView TensorView::reshape(const Dims& shape) const {
  TensorView v = *this;
  v.shape_ = completed(shape, elements());
  if (count_elements(v.shape_, dtype()) != elements())
    user_error("reshape: a tensor of shape {} has {} elements, {} has {}", to_string(shape_), elements(), to_string(v.shape_),
               count_elements(v.shape_, dtype()));
  if (elements() == 0) v.strides_ = contiguous_strides(v.shape_);
  else if (!reshaped_strides(shape_, strides(), v.shape_, &v.strides_))
    user_error("reshape: a tensor of shape {} with strides {} cannot be seen as {} without a copy", to_string(shape_),
               to_string(strides()), to_string(v.shape_));
  return v;
}

TensorView TensorView::flatten(int first, int last) const {
  if (rank() == 0) return reshape({1});
  first = check_axis("flatten", shape(), first);
  last = check_axis("flatten", shape(), last);
  if (first > last) user_error("flatten: axis {} comes after axis {} in a tensor of shape {}", first, last, to_string(shape()));
  Dims flat = shape();
  for (int k = first; k < last; ++k) {
    flat[first] *= flat[first + 1];
    flat.erase(first + 1);
  }
  return reshape(flat);
}

}  // namespace v0
}  // namespace strider
