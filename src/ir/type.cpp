// SPDX-License-Identifier: Apache-2.0
#include "ir/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "base/error.h"

namespace strider::ir {

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) user_error("tile has {} axes, at most {} are possible", dims.size(), kMaxRank);
  for (int64_t d : dims) dims_[rank_++] = d;
}

int64_t Shape::elements() const {
  int64_t n = 1;
  for (int64_t d : dims())
    if (__builtin_mul_overflow(n, d, &n)) return std::numeric_limits<int64_t>::max();  // beyond what any tile may have
  return n;
}

void Shape::insert(int axis, int64_t size) {
  if (rank_ == kMaxRank) user_error("tile would have {} axes, at most {} are possible", rank_ + 1, kMaxRank);
  for (int k = rank_++; k > axis; --k) dims_[k] = dims_[k - 1];
  dims_[axis] = size;
}

void Shape::erase(int axis) {
  --rank_;
  for (int k = axis; k < rank_; ++k) dims_[k] = dims_[k + 1];
  dims_[rank_] = 0;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape.dims(), ", ")); }

std::string to_string(const Type& type) {
  static constexpr std::string_view kPrefix[] = {"", "*", "*shared ", "*local "};
  if (type.is_void) return "none";
  std::string text = fmt::format("{}{}", kPrefix[static_cast<int>(type.space)], name_of(type.dtype));
  return type.is_scalar() ? text : text + to_string(type.shape);
}

}  // namespace strider::ir
