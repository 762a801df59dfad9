// SPDX-License-Identifier: Apache-2.0
// Subscripts of tensors.
#include <algorithm>

#include "base/error.h"

#include <strider/tensor.h>

namespace strider::inline v0 {
namespace {

bool is_word(const Index& i, AxisWord word) { return i.kind == Index::Word && i.word == word; }

/// How many axes of the tensor a subscript names.
int count_named(std::span<const Index> indices) {
  return static_cast<int>(std::count_if(indices.begin(), indices.end(), [](const Index& i) {
    return !is_word(i, AxisWord::NewAxis) && !is_word(i, AxisWord::Ellipsis);
  }));
}

TensorView sliced(const TensorView& v, int axis, const Slice& s) {
  bool forward = s.step > 0;
  return v.slice(axis, s.begin.value_or(forward ? 0 : INT64_MAX), s.end.value_or(forward ? INT64_MAX : INT64_MIN), s.step);
}

}  // namespace

TensorView TensorView::index(std::span<const Index> indices) const {
  int named = count_named(indices), own = 0, axis = 0;  // the next axis of this tensor, and of the view
  if (named > rank())
    user_error("a subscript names {} axes of a tensor of shape {}, which has {}", named, to_string(shape_), rank());
  if (std::count_if(indices.begin(), indices.end(), [](const Index& i) { return is_word(i, AxisWord::Ellipsis); }) > 1)
    user_error("a subscript has more than one ellipsis");
  TensorView v = *this;
  for (const Index& i : indices) {
    if (is_word(i, AxisWord::NewAxis)) {
      v = v.unsqueeze(axis++);
    } else if (is_word(i, AxisWord::Ellipsis)) {
      own += rank() - named, axis += rank() - named;
    } else if (i.kind == Index::Position) {
      if (i.position < -shape_[own] || i.position >= shape_[own])
        user_error("index {} is out of range for axis {} of a tensor of shape {}", i.position, own, to_string(shape_));
      v = v.select(axis, i.position), ++own;
    } else {
      if (i.kind == Index::Range) v = sliced(v, axis, i.range);
      ++own, ++axis;
    }
  }
  return v;
}

void detail::tensor_is_undefined() { user_error("a tensor that was never given one is used: Tensor() is undefined"); }

}  // namespace strider::v0
