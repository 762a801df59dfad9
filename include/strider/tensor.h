// SPDX-License-Identifier: Apache-2.0
// Tensor owns memory on a device, TensorView points to memory of somebody else. Both have a dtype, a shape, and strides in
// elements, which may be zero or negative.
//
//   st::Tensor a = st::randn({64, 128}), b = a.t().slice(0, 0, 128, 2);   // b shares a's memory
//   st::Tensor c = a.to("cuda"), d = a.to(st::f16);                       // new memory
//
// Views copy nothing, and a const tensor is one whose shape stays, not its elements. Axes may be counted from the last one by
// negative numbers. Mistakes are user errors, thrown before anything is written. See docs/tensors.md.
#pragma once

#include <cstdint>
#include <exception>
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
#include <strider/stream.h>

namespace strider {

class Device;  // of the implementation

inline namespace v0 {

class Tensor;

class STRIDER_API TensorView {
 public:
  /// Memory of `device` seen as a tensor. Without strides it is contiguous in row-major order, on the CPU. User errors: a null
  /// pointer with elements, one that is not aligned for the dtype, sizes or strides that leave 2^59 elements.
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

  /// Whether out(), copy_from() and what is built on them refuse to write here. Views of such a tensor are the same.
  bool is_read_only() const { return read_only_; }
  TensorView read_only() const;

  /// The elements in row-major order, on the host.
  template <class T>
  std::vector<T> to_vector() const;
  std::vector<double> to_doubles() const;
  /// The bytes of each element, zero-extended.
  std::vector<uint64_t> to_bits() const;
  /// The only element; a user error if there is not exactly one.
  double item() const;
  /// The same exactly, as the type that stores this dtype.
  template <class T>
  T item() const {
    check_dtype(dtype_of<T>);
    check_single();
    T value;
    copy_out(&value);
    return value;
  }

  // ---- views

  TensorView t() const { return transpose(-2, -1); }
  TensorView transpose(int a, int b) const;
  TensorView permute(const Dims& axes) const;
  /// Axis `from` becomes axis `to`; the others keep their order.
  TensorView movedim(int from, int to) const;
  /// Elements begin, begin + step, ... before end; for a negative step, those after end. Bounds are clipped as in NumPy.
  TensorView slice(int axis, int64_t begin, int64_t end, int64_t step = 1) const;
  /// `size` elements from `begin` on, all of which must be there.
  TensorView narrow(int axis, int64_t begin, int64_t size) const;
  /// One element of an axis, which goes. Negative indices count from the end.
  TensorView select(int axis, int64_t index) const;
  TensorView flip(int axis) const;
  /// Axes of size 1 are repeated, new ones come in front; -1 keeps a size.
  TensorView expand(const Dims& shape) const;
  /// Fails where the elements cannot be numbered in row-major order by strides. One size may be -1.
  TensorView reshape(const Dims& shape) const;
  /// Axes first to last become one, as by reshape; a 0-d tensor becomes one of shape (1).
  TensorView flatten(int first = 0, int last = -1) const;
  /// Without an axis, all axes of size 1 go. A given axis must have that size.
  TensorView squeeze() const;
  TensorView squeeze(int axis) const;
  TensorView unsqueeze(int axis) const;

  // ---- new memory

  /// The elements converted, by an operator of Strider on this device: floats round to nearest even and truncate toward zero
  /// on their way to integers, integers wrap, bool asks for != 0. The order of axes in memory stays (PyTorch's
  /// preserve_format). Floats become narrow integers by way of i32, others by way of i64; NaN and what leaves those give an
  /// integer that depends on the device, never a fault.
  Tensor to(DType dtype) const;
  /// The same elements on another device, with the same strides.
  Tensor to(std::string_view device) const;
  Tensor to(DType dtype, std::string_view device) const;
  Tensor to_host() const;
  /// A copy in row-major order.
  Tensor contiguous() const;
  /// A copy, bit for bit, that keeps the order of axes in memory.
  Tensor clone() const;
  /// Writes `source`, broadcast to this shape and converted as by to(), over this tensor's elements. They may share memory: the
  /// source is read as it was before. User errors: shapes, a read-only tensor, one that overlaps itself.
  void copy_from(const TensorView& source) const;

 protected:
  void check_dtype(DType wanted) const;
  void check_single() const;
  void copy_out(void* row_major) const;
  [[noreturn]] void no_host_memory() const;

  void* data_;
  Device* device_;
  DType dtype_;
  bool read_only_ = false;
  Dims shape_, strides_;
};

class STRIDER_API Tensor : public TensorView {
 public:
  class Storage;
  Tensor(const TensorView& view, std::shared_ptr<Storage> storage) : TensorView(view), storage_(std::move(storage)) {}
  Tensor(const Tensor&) = default;  // moving copies: a tensor that was moved from still shows its memory
  Tensor& operator=(const Tensor&) = default;

  Tensor read_only() const { return own(TensorView::read_only()); }
  Tensor t() const { return own(TensorView::t()); }
  Tensor transpose(int a, int b) const { return own(TensorView::transpose(a, b)); }
  Tensor permute(const Dims& axes) const { return own(TensorView::permute(axes)); }
  Tensor movedim(int from, int to) const { return own(TensorView::movedim(from, to)); }
  Tensor slice(int axis, int64_t begin, int64_t end, int64_t step = 1) const {
    return own(TensorView::slice(axis, begin, end, step));
  }
  Tensor narrow(int axis, int64_t begin, int64_t size) const { return own(TensorView::narrow(axis, begin, size)); }
  Tensor select(int axis, int64_t index) const { return own(TensorView::select(axis, index)); }
  Tensor flip(int axis) const { return own(TensorView::flip(axis)); }
  Tensor expand(const Dims& shape) const { return own(TensorView::expand(shape)); }
  Tensor reshape(const Dims& shape) const { return own(TensorView::reshape(shape)); }
  Tensor flatten(int first = 0, int last = -1) const { return own(TensorView::flatten(first, last)); }
  Tensor squeeze() const { return own(TensorView::squeeze()); }
  Tensor squeeze(int axis) const { return own(TensorView::squeeze(axis)); }
  Tensor unsqueeze(int axis) const { return own(TensorView::unsqueeze(axis)); }
  /// Any shape and strides from element `offset` of this tensor's memory on; a user error if they leave that memory.
  Tensor as_strided(const Dims& shape, const Dims& strides, int64_t offset = 0) const;
  /// In elements from the start of the memory.
  int64_t offset() const;

  /// Work on that stream uses the memory, by code that Strider does not know: the memory is not handed out again before it is done.
  /// Calls of operators and kernels say so themselves. On devices without streams, and for memory of no tensor's: nothing.
  void used_on(const Stream& stream) const;

  /// As in TensorView; but where nothing changes, this tensor itself.
  Tensor to(DType dtype) const;
  Tensor to(std::string_view device) const;
  Tensor to(DType dtype, std::string_view device) const;
  Tensor to_host() const { return to("cpu"); }
  Tensor contiguous() const;

 private:
  Tensor own(const TensorView& view) const { return Tensor(view, storage_); }
  std::shared_ptr<Storage> storage_;
};

template <class T>
std::vector<T> TensorView::to_vector() const {
  check_dtype(dtype_of<T>);
  std::vector<std::conditional_t<std::same_as<T, bool>, uint8_t, T>> result;
  try {
    result.resize(static_cast<size_t>(elements()));
  } catch (const std::exception&) {
    no_host_memory();
  }
  copy_out(result.data());
  if constexpr (std::same_as<T, bool>) return std::vector<bool>(result.begin(), result.end());
  else return result;
}

// ---- factories. Each throws user errors for sizes below 0 and products beyond 2^63 bytes, unknown dtypes and devices, and a
// driver error that names the shape when there is not that much memory.

struct TensorOptions {
  DType dtype = DType::F32;
  std::string_view device = "cpu";
};

/// Elements that nobody has written.
STRIDER_API Tensor empty(const Dims& shape, const TensorOptions& options = {});
STRIDER_API Tensor empty_strided(const Dims& shape, const Dims& strides, const TensorOptions& options = {});
STRIDER_API Tensor zeros(const Dims& shape, const TensorOptions& options = {});

namespace detail {
STRIDER_API Tensor tensor_from(const void* values, size_t count, DType dtype, const Dims& shape);
STRIDER_API Tensor full(const Dims& shape, const Argument& value, const TensorOptions& options);
STRIDER_API Tensor arange(const Argument& begin, const Argument& end, const Argument& step, const TensorOptions& options);
}  // namespace detail

/// All elements alike: `value`, exact up to 64 bits, converted to the dtype as Tensor::to does.
template <detail::Number T>
Tensor full(const Dims& shape, T value, const TensorOptions& options = {}) {
  return detail::full(shape, Argument(value), options);
}

/// 0, 1, ..., count - 1.
STRIDER_API Tensor arange(int64_t count, const TensorOptions& options = {});
/// begin, begin + step, ... before end (after it for a negative step), as NumPy's: exact for integers; with a float among the
/// three, begin + k * step in double, rounded to the dtype. A user error for a step of 0 and what is not finite.
template <detail::Number B, detail::Number E, detail::Number S>
Tensor arange(B begin, E end, S step, const TensorOptions& options = {}) {
  return detail::arange(Argument(begin), Argument(end), Argument(step), options);
}
template <detail::Number B, detail::Number E>
Tensor arange(B begin, E end, const TensorOptions& options = {}) {
  return detail::arange(Argument(begin), Argument(end), Argument(1), options);
}

/// Uniform in [0, 1): multiples of 2^-n, n being the bits of the dtype's significand; floats only. The same for the same seed.
STRIDER_API Tensor rand(const Dims& shape, const TensorOptions& options = {}, uint64_t seed = 0);
/// Normally distributed, mean 0, deviation 1; the same for the same seed.
STRIDER_API Tensor randn(const Dims& shape, const TensorOptions& options = {}, uint64_t seed = 0);
/// Uniform integers in [low, high), converted to the dtype; the same for the same seed.
STRIDER_API Tensor randint(const Dims& shape, int64_t low, int64_t high, const TensorOptions& options = {DType::I64, "cpu"},
                           uint64_t seed = 0);

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
  if constexpr (std::same_as<T, bool>) {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return detail::tensor_from(bytes.data(), bytes.size(), DType::Bool, shape);
  } else {
    return detail::tensor_from(values.data(), values.size(), dtype_of<T>, shape);
  }
}
template <class T>
Tensor tensor(const std::vector<T>& values) {
  return tensor(values, {static_cast<int64_t>(values.size())});
}

namespace detail {
[[noreturn]] STRIDER_API void output_is_read_only(const TensorView& view);
}

/// Names a tensor as an operator's output: `add(a, b, st::out(c))`. A user error if it is read-only.
inline Out out(const TensorView& view) {
  if (view.is_read_only()) detail::output_is_read_only(view);
  return {&view};
}
inline Out out(const Tensor& tensor) {
  Out o = out(static_cast<const TensorView&>(tensor));
  o.is_owner = true;
  return o;
}

/// As NumPy prints: nested brackets in aligned columns, floats with the digits that tell them apart (at most 8 after the point,
/// scientific where they differ widely), the middle of long axes left out; then dtype and shape. The same in every locale.
STRIDER_API std::ostream& operator<<(std::ostream& stream, const TensorView& tensor);
STRIDER_API std::string to_string(const TensorView& tensor);

}  // namespace v0
}  // namespace strider
