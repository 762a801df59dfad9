// SPDX-License-Identifier: Apache-2.0
// Elements of two tensors side by side.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "base/kit.h"
#include "tensor/storage.h"

namespace strider {

/// Elements in row-major order, on the host.
class Rows {
 public:
  explicit Rows(const TensorView& view) : view_(host_rows(view, &keep_)), bytes_(size_of(view.dtype())) {}

  uint64_t operator[](int64_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, at(i), static_cast<size_t>(bytes_));
    return bits;
  }
  bool same_bits(const Rows& other, int64_t begin, int64_t end) const {
    return std::memcmp(at(begin), other.at(begin), static_cast<size_t>((end - begin) * bytes_)) == 0;
  }
  DType dtype() const { return view_.dtype(); }

 private:
  const char* at(int64_t i) const { return static_cast<const char*>(view_.data()) + i * bytes_; }

  std::shared_ptr<Tensor> keep_;
  TensorView view_;
  int64_t bytes_;
};

/// |a - b|, of integers exactly and rounded once; 0 for two NaNs, NaN if just one is NaN.
STRIDER_KIT double distance(DType ta, uint64_t a, DType tb, uint64_t b);

struct STRIDER_KIT Tolerance {
  double rtol, atol;
  bool equal_nan;

  bool accepts(DType ta, uint64_t a, DType tb, uint64_t b) const;
};
/// A user error for tolerances that are negative or NaN.
STRIDER_KIT Tolerance checked_tolerance(double rtol, double atol, bool equal_nan);

/// The index of element i in row-major order.
STRIDER_KIT Dims index_of(int64_t i, const Dims& shape);

}  // namespace strider
