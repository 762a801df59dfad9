// SPDX-License-Identifier: Apache-2.0
// The type of a value: an element type or a pointer to one, and a shape. Rank 0 is a scalar.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <strider/dtype.h>

namespace strider::ir {

inline constexpr int kMaxRank = 6;              // of a tile
inline constexpr int64_t kMaxElements = 1 << 20;  // of a tile

/// The shape of a tile; inline, comparable.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[axis]; }
  int64_t& operator[](int axis) { return dims_[axis]; }
  int64_t elements() const;
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  void insert(int axis, int64_t size);
  void erase(int axis);
  bool operator==(const Shape&) const = default;

 private:
  std::array<int64_t, kMaxRank> dims_{};  // unused ones stay 0, so that == compares all
  int rank_ = 0;
};

/// Where a pointer points. None: the value is no pointer.
enum class Space : uint8_t { None, Global, Shared, Local };

struct Type {
  DType dtype = DType::Bool;  // of the element, or of the pointee
  Space space = Space::None;
  bool is_void = false;  // of a statement without a value
  Shape shape{};

  static Type none() { return {.is_void = true}; }
  static Type scalar(DType dtype) { return {.dtype = dtype}; }
  static Type tile(DType dtype, Shape shape) { return {.dtype = dtype, .shape = shape}; }
  static Type vector(DType dtype, int64_t lanes) { return {.dtype = dtype, .shape = {lanes}}; }
  static Type pointer(DType pointee, Space space = Space::Global, Shape shape = {}) {
    return {.dtype = pointee, .space = space, .shape = shape};
  }

  bool is_pointer() const { return space != Space::None; }
  bool is_scalar() const { return shape.rank() == 0; }
  int64_t elements() const { return shape.elements(); }
  /// Bytes of one element of a value of this type (8 for a pointer).
  int bytes() const { return is_pointer() ? 8 : size_of(dtype); }
  Type with_shape(Shape s) const {
    Type t = *this;
    t.shape = s;
    return t;
  }
  Type with_dtype(DType d) const {
    Type t = *this;
    t.dtype = d;
    return t;
  }
  /// The type that a load through this pointer type gives.
  Type pointee() const { return tile(dtype, shape); }
  bool operator==(const Type&) const = default;
};

/// "f32", "f32[8, 16]", "*f32", "*f32[128]", "*shared f32", "none".
std::string to_string(const Type& type);
std::string to_string(const Shape& shape);

}  // namespace strider::ir
