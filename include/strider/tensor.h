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
#include <optional>
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

namespace detail {
[[noreturn]] STRIDER_API void tensor_is_undefined();
}

// ---- subscripts: x[{1, st::all, st::slice(0, 10, 2)}] is NumPy's x[1, :, 0:10:2]

/// All of an axis; an axis of size 1 that is new; all axes that the rest of a subscript does not name.
enum class AxisWord : uint8_t { All, NewAxis, Ellipsis };
inline constexpr AxisWord all = AxisWord::All, newaxis = AxisWord::NewAxis, ellipsis = AxisWord::Ellipsis;

/// Elements begin, begin + step, ... before end, as NumPy's begin:end:step; std::nullopt leaves a bound open.
struct Slice {
  std::optional<int64_t> begin, end;
  int64_t step = 1;
};
inline Slice slice(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step = 1) { return {begin, end, step}; }

/// One part of a subscript: a position, whose axis goes (negative ones count from the end), a slice, or a word.
struct Index {
  enum Kind : uint8_t { Position, Range, Word };
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T position) : kind(Position), position(static_cast<int64_t>(position)) {}
  Index(const Slice& range) : kind(Range), range(range) {}
  Index(AxisWord word) : kind(Word), word(word) {}

  Kind kind;
  AxisWord word = AxisWord::All;
  int64_t position = 0;
  Slice range;
};

/// What stands in the brackets: one index, or a list of them.
struct TensorSubscript {
  template <std::convertible_to<Index> T>
  TensorSubscript(const T& index) : indices{Index(index)} {}
  TensorSubscript(std::initializer_list<Index> list) : indices(list) {}
  std::vector<Index> indices;
};

class STRIDER_API TensorView {
 public:
  /// Memory of `device` seen as a tensor. Without strides it is contiguous in row-major order, on the CPU. User errors: a null
  /// pointer with elements, one that is not aligned for the dtype, sizes or strides that leave 2^59 elements.
  TensorView(void* data, DType dtype, const Dims& shape);
  TensorView(void* data, DType dtype, const Dims& shape, const Dims& strides, std::string_view device = "cpu");
  TensorView(void* data, DType dtype, const Dims& shape, const Dims& strides, Device& device);

  /// Whether it shows a tensor. Of one made by Tensor() everything else, but a copy of it and its text, is a user error.
  bool defined() const { return device_ != nullptr; }

  DType dtype() const { return checked().dtype_; }
  const Dims& shape() const { return checked().shape_; }
  const Dims& strides() const { return checked().strides_; }
  int rank() const { return shape().rank(); }
  int64_t size(int axis) const;
  int64_t elements() const;
  bool is_contiguous() const;

  /// The element at index 0 of every axis.
  void* data() const { return checked().data_; }
  /// The same with a type, which must store this dtype.
  template <class T>
  T* data() const {
    check_dtype(dtype_of<T>);
    return static_cast<T*>(data());
  }

  std::string device() const;  // "cpu", "cuda:0"
  Device& device_object() const { return *checked().device_; }

  /// Whether out(), copy_from() and what is built on them refuse to write here. Views of such a tensor are the same.
  bool is_read_only() const { return checked().read_only_; }
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

  /// NumPy's basic indexing, `x[{1, st::all, st::slice(0, 10, 2)}]`: axes that are not named stay. The view is const, so that
  /// an assignment to it, which would write nothing, does not compile: use copy_from. User errors: a position out of range, a
  /// step of 0, more indices than axes, two ellipses.
  const TensorView operator[](const TensorSubscript& subscript) const { return index(subscript.indices); }
  TensorView index(std::span<const Index> indices) const;
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
  TensorView() = default;
  const TensorView& checked() const {
    if (!device_) [[unlikely]] detail::tensor_is_undefined();
    return *this;
  }
  void check_dtype(DType wanted) const;
  void check_single() const;
  void copy_out(void* row_major) const;
  [[noreturn]] void no_host_memory() const;

  void* data_ = nullptr;
  Device* device_ = nullptr;
  DType dtype_ = DType::F32;
  bool read_only_ = false;
  Dims shape_, strides_;
};

class STRIDER_API Tensor : public TensorView {
 public:
  class Storage;
  /// An undefined tensor, until one is assigned to it: see defined().
  Tensor() = default;
  Tensor(const TensorView& view, std::shared_ptr<Storage> storage) : TensorView(view), storage_(std::move(storage)) {}
  Tensor(const Tensor&) = default;  // moving copies: a tensor that was moved from still shows its memory
  Tensor& operator=(const Tensor&) = default;

  const Tensor operator[](const TensorSubscript& subscript) const { return own(TensorView::index(subscript.indices)); }
  Tensor index(std::span<const Index> indices) const { return own(TensorView::index(indices)); }
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

inline Tensor ones(const Dims& shape, const TensorOptions& options = {}) { return full(shape, 1, options); }

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

// ---- joined and padded: new tensors in row-major order on the device of their parts

/// The tensors one after another along an axis, in their common dtype (torch.cat). User errors: none given, shapes that differ in
/// another axis, tensors without axes, several devices.
STRIDER_API Tensor cat(std::span<const TensorView> tensors, int axis = 0);
inline Tensor cat(std::initializer_list<TensorView> tensors, int axis = 0) {
  return cat(std::span(tensors.begin(), tensors.size()), axis);
}
inline Tensor cat(const std::vector<Tensor>& tensors, int axis = 0) {
  return cat(std::vector<TensorView>(tensors.begin(), tensors.end()), axis);
}
/// The same along a new axis that stands at `axis` of the result (torch.stack); all shapes are equal.
STRIDER_API Tensor stack(std::span<const TensorView> tensors, int axis = 0);
inline Tensor stack(std::initializer_list<TensorView> tensors, int axis = 0) {
  return stack(std::span(tensors.begin(), tensors.size()), axis);
}
inline Tensor stack(const std::vector<Tensor>& tensors, int axis = 0) {
  return stack(std::vector<TensorView>(tensors.begin(), tensors.end()), axis);
}

namespace detail {
STRIDER_API Tensor pad(const TensorView& x, std::span<const int64_t> widths, const Argument& value);
[[noreturn]] STRIDER_API void output_is_read_only(const TensorView& view);
}

/// `value` around x: widths are {before, after} of the last axis, then of the one before it, ..., as torch.nn.functional.pad has
/// them; negative ones cut off. User errors: an odd number of widths, more than x has axes, more cut off than there is.
template <detail::Number T = int>
Tensor pad(const TensorView& x, const std::vector<int64_t>& widths, T value = 0) {
  return detail::pad(x, widths, Argument(value));
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
