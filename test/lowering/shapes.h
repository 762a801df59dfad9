// SPDX-License-Identifier: Apache-2.0
// Tiles of any shape in kernels of the suite, and the same shapes in their references.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lowering/kernels.h"

namespace strider::lowering {

using Sizes = std::vector<int64_t>;

inline int64_t count_of(const Sizes& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

inline std::string text_of(const Sizes& shape) { return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x")); }

/// The elements of a tile of that shape, counted in row-major order.
inline tl::Tile row_major(const Sizes& shape) {
  if (shape.empty()) return tl::full<int32_t>({}, 0);
  return tl::reshape(tl::arange(0, count_of(shape)), shape);
}

/// The lines of a tile along an axis: `length` elements each, `step` apart. Without an axis, one line of all elements.
struct LinesAlong {
  LinesAlong(const Sizes& shape, int axis) {
    length = axis < 0 ? count_of(shape) : shape[static_cast<size_t>(axis)];
    for (size_t k = static_cast<size_t>(axis + 1); axis >= 0 && k < shape.size(); ++k) step *= shape[k];
    count = count_of(shape) / length;
  }
  int64_t at(int64_t line, int64_t i) const { return line / step * step * length + line % step + i * step; }

  int64_t length = 1, step = 1, count = 1;
};

/// A whole number as an element of T: integers wrap.
template <class T>
Real wrapped(Real value) {
  if constexpr (std::integral<T>) return static_cast<Real>(static_cast<T>(static_cast<int64_t>(value)));
  else return value;
}

/// The dtype as a word of a kernel's name.
template <class T>
std::string word_of() {
  return std::string(name_of(dtype_of<T>));
}

}  // namespace strider::lowering
