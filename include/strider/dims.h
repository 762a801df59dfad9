// SPDX-License-Identifier: Apache-2.0
// A short list of sizes, strides or indices, stored inline: the shape of a tensor or of a tile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <strider/export.h>

namespace strider {
inline namespace v0 {

inline constexpr int kMaxDims = 32;  // axes of a tensor

namespace detail {
[[noreturn]] STRIDER_API void too_many_dims(size_t count);
}

/// Converts from braces, spans and vectors: `st::empty({2, 3})`. Copies move only what is used.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(values.begin(), values.size()) {}
  Dims(std::span<const int64_t> values) : Dims(values.data(), values.size()) {}
  Dims(const std::vector<int64_t>& values) : Dims(values.data(), values.size()) {}
  Dims(const int64_t* values, size_t count) : rank_(static_cast<int>(count)) {
    if (count > kMaxDims) detail::too_many_dims(count);
    std::copy_n(values, count, values_);
  }
  Dims(const Dims& other) : rank_(other.rank_) { std::copy_n(other.values_, rank_, values_); }
  Dims& operator=(const Dims& other) {
    rank_ = other.rank_;
    std::copy_n(other.values_, rank_, values_);
    return *this;
  }
  /// `rank` times `value`.
  static Dims filled(int rank, int64_t value) {
    if (rank < 0 || rank > kMaxDims) detail::too_many_dims(static_cast<size_t>(rank));
    Dims d;
    d.rank_ = rank;
    std::fill_n(d.values_, rank, value);
    return d;
  }

  int rank() const { return rank_; }
  int64_t operator[](int k) const { return values_[k]; }
  int64_t& operator[](int k) { return values_[k]; }
  const int64_t* data() const { return values_; }
  const int64_t* begin() const { return values_; }
  const int64_t* end() const { return values_ + rank_; }
  int64_t* begin() { return values_; }
  int64_t* end() { return values_ + rank_; }
  void push_back(int64_t value) { insert(rank_, value); }
  void insert(int axis, int64_t value) {
    if (rank_ == kMaxDims) detail::too_many_dims(kMaxDims + 1);
    std::copy_backward(values_ + axis, values_ + rank_, values_ + rank_ + 1);
    values_[axis] = value;
    ++rank_;
  }
  void erase(int axis) {
    std::copy(values_ + axis + 1, values_ + rank_, values_ + axis);
    --rank_;
  }
  bool operator==(const Dims& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  int rank_ = 0;
  int64_t values_[kMaxDims];
};

/// "(2, 3)".
STRIDER_API std::string to_string(const Dims& dims);

}  // namespace v0
}  // namespace strider
