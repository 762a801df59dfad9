// SPDX-License-Identifier: Apache-2.0
// Tensor owns memory on a device, TensorView points to memory of somebody else. Both have a dtype, a shape, and strides in
// elements, which may be zero or negative.
//
//   st::Tensor a = st::randn({64, 128}), b = a.t().slice(0, 0, 128, 2);   // b shares a's memory
//   st::Tensor c = a.to("cuda");
//
// Views copy nothing. Axes may be counted from the last one by negative numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <strider/argument.h>
#include <strider/dims.h>
#include <strider/dtype.h>
#include <strider/export.h>

namespace strider {

class Device;  // of the implementation

inline namespace v0 {

class STRIDER_API TensorView {
 public:
  /// Memory of `device` seen as a tensor. Without strides it is contiguous in row-major order, on the CPU.
  TensorView(void* data, DType dtype, const Dims& shape);
  TensorView(void* data, DType dtype, const Dims& shape, const Dims& strides, std::string_view device = "cpu");
  TensorView(void* data, DType dtype, const Dims& shape, const Dims& strides, Device& device);

  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  const Dims& strides() const { return strides_; }
  int rank() const { return shape_.rank(); }
  int64_t size(int axis) const;
  int64_t elements() const;
  bool is_contiguous() const;

  /// The element at index 0 of every axis.
  void* data() const { return data_; }
  /// The same with a type, which must store this dtype.
  template <class T>
  T* data() const {
    check_dtype(dtype_of<T>);
    return static_cast<T*>(data_);
  }

  std::string device() const;  // "cpu", "cuda:0"
  Device& device_object() const { return *device_; }

  /// The elements in row-major order, on the host.
  template <class T>
  std::vector<T> to_vector() const {
    check_dtype(dtype_of<T>);
    std::vector<T> result(static_cast<size_t>(elements()));
    copy_out(result.data());
    return result;
  }
  std::vector<double> to_doubles() const;
  /// The bytes of each element, zero-extended.
  std::vector<uint64_t> to_bits() const;
  /// The only element.
  double item() const;

  TensorView t() const { return transpose(-2, -1); }
  TensorView transpose(int a, int b) const;
  TensorView permute(const Dims& axes) const;
  /// Elements begin, begin + step, ... before end; for a negative step, those after end. Bounds are clipped as in NumPy.
  TensorView slice(int axis, int64_t begin, int64_t end, int64_t step = 1) const;
  TensorView flip(int axis) const;
  TensorView expand(const Dims& shape) const;
  /// Fails where the elements cannot be numbered in row-major order by strides. One size may be -1.
  TensorView reshape(const Dims& shape) const;
  TensorView squeeze(int axis) const;
  TensorView unsqueeze(int axis) const;

 protected:
  void check_dtype(DType wanted) const;
  void copy_out(void* row_major) const;

  void* data_;
  Device* device_;
  DType dtype_;
  Dims shape_, strides_;
};

class STRIDER_API Tensor : public TensorView {
 public:
  class Storage;
  Tensor(const TensorView& view, std::shared_ptr<Storage> storage) : TensorView(view), storage_(std::move(storage)) {}
  Tensor(const Tensor&) = default;  // moving copies: a tensor that was moved from still shows its memory
  Tensor& operator=(const Tensor&) = default;

  Tensor t() const { return own(TensorView::t()); }
  Tensor transpose(int a, int b) const { return own(TensorView::transpose(a, b)); }
  Tensor permute(const Dims& axes) const { return own(TensorView::permute(axes)); }
  Tensor slice(int axis, int64_t begin, int64_t end, int64_t step = 1) const {
    return own(TensorView::slice(axis, begin, end, step));
  }
  Tensor flip(int axis) const { return own(TensorView::flip(axis)); }
  Tensor expand(const Dims& shape) const { return own(TensorView::expand(shape)); }
  Tensor reshape(const Dims& shape) const { return own(TensorView::reshape(shape)); }
  Tensor squeeze(int axis) const { return own(TensorView::squeeze(axis)); }
  Tensor unsqueeze(int axis) const { return own(TensorView::unsqueeze(axis)); }
  /// Any shape and strides from element `offset` of this tensor's memory on; stays inside that memory.
  Tensor as_strided(const Dims& shape, const Dims& strides, int64_t offset = 0) const;
  /// In elements from the start of the memory.
  int64_t offset() const;

  /// The same elements on another device, with the same strides; this tensor itself if it is there already.
  Tensor to(std::string_view device) const;
  Tensor to_host() const { return to("cpu"); }

 private:
  Tensor own(const TensorView& view) const { return Tensor(view, storage_); }
  std::shared_ptr<Storage> storage_;
};

struct TensorOptions {
  DType dtype = DType::F32;
  std::string_view device = "cpu";
};

STRIDER_API Tensor empty(const Dims& shape, const TensorOptions& options = {});
STRIDER_API Tensor empty_strided(const Dims& shape, const Dims& strides, const TensorOptions& options = {});
STRIDER_API Tensor zeros(const Dims& shape, const TensorOptions& options = {});
STRIDER_API Tensor full(const Dims& shape, double value, const TensorOptions& options = {});
/// 0, 1, ..., count - 1.
STRIDER_API Tensor arange(int64_t count, const TensorOptions& options = {});
/// Normally distributed, mean 0, deviation 1; the same for the same seed.
STRIDER_API Tensor randn(const Dims& shape, const TensorOptions& options = {}, uint64_t seed = 0);

namespace detail {
STRIDER_API Tensor tensor_from(const void* values, size_t count, DType dtype, const Dims& shape);
}

/// A tensor on the CPU with these elements in row-major order: `st::tensor<float>({1, 2, 3, 4}, {2, 2})`.
template <class T>
Tensor tensor(std::initializer_list<T> values, const Dims& shape) {
  return detail::tensor_from(values.begin(), values.size(), dtype_of<T>, shape);
}
template <class T>
Tensor tensor(std::initializer_list<T> values) {
  return tensor(values, {static_cast<int64_t>(values.size())});
}
template <class T>
Tensor tensor(const std::vector<T>& values, const Dims& shape) {
  return detail::tensor_from(values.data(), values.size(), dtype_of<T>, shape);
}
template <class T>
Tensor tensor(const std::vector<T>& values) {
  return tensor(values, {static_cast<int64_t>(values.size())});
}

/// Names a tensor as an operator's output: `add(a, b, st::out(c))`.
inline Out out(const TensorView& view) { return {&view}; }
inline Out out(const Tensor& tensor) {
  Out o = out(static_cast<const TensorView&>(tensor));
  o.is_owner = true;
  return o;
}

/// Nested brackets as in NumPy; long axes are shortened.
STRIDER_API std::ostream& operator<<(std::ostream& stream, const TensorView& tensor);
STRIDER_API std::string to_string(const TensorView& tensor);

}  // namespace v0
}  // namespace strider
