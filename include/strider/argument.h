// SPDX-License-Identifier: Apache-2.0
// An argument of a call to an operator or a kernel: a tensor, a number, perhaps by name, an output, or a list of constants.
// Lives no longer than the call: it points to what it was made from.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include <strider/value.h>

namespace strider {
inline namespace v0 {

class TensorView;
class Tensor;
namespace detail {
using OwningTensor = Tensor;  // inside Argument the name means a kind
}

/// A compile-time constant given at a launch: {"BLOCK", 1024}.
struct Constant {
  std::string_view name;
  int64_t value;
};

/// A tensor that an operator writes to; see out().
struct Out {
  const TensorView* view;
  bool is_owner = false;  // it is a Tensor
};

/// A number for the argument of that name: `add(a, b, st::arg("alpha", 0.5))`.
template <detail::Number T>
struct Named {
  std::string_view name;
  T value;
};
template <detail::Number T>
Named<T> arg(std::string_view name, T value) {
  return {name, value};
}

class Argument {
 public:
  enum Kind : uint8_t { None, Tensor, Output, Bool, Int, Unsigned, Float, Constants };

  Argument() = default;
  Argument(const TensorView& view) : kind_(Tensor), view_(&view) {}
  template <std::same_as<detail::OwningTensor> T>
  Argument(const T& tensor) : Argument(static_cast<const TensorView&>(tensor)) {
    is_owner_ = true;
  }
  Argument(Out out) : kind_(Output), is_owner_(out.is_owner), view_(out.view) {}
  Argument(std::initializer_list<Constant> constants) : kind_(Constants) {
    constants_ = constants.begin();
    count_ = static_cast<uint32_t>(constants.size());
  }
  template <detail::Number T>
  Argument(T number) {
    if constexpr (std::same_as<T, bool>) kind_ = Bool;
    else if constexpr (std::floating_point<T>) kind_ = Float;
    else kind_ = static_cast<T>(-1) < T{0} || number <= static_cast<T>(INT64_MAX) ? Int : Unsigned;
    if constexpr (std::floating_point<T>) float_ = static_cast<double>(number);
    else int_ = static_cast<int64_t>(number);
  }

  template <detail::Number T>
  Argument(const Named<T>& named) : Argument(named.value) {
    name_ = named.name;
  }

  Kind kind() const { return kind_; }
  /// Empty for arguments that are given by their place.
  std::string_view name() const { return name_; }
  /// A tensor or an output that owns its memory: its view is a Tensor.
  bool is_owner() const { return is_owner_; }
  bool is_number() const { return kind_ >= Bool && kind_ <= Float; }
  const TensorView& view() const { return *view_; }
  int64_t as_int() const { return int_; }
  double as_float() const { return float_; }
  /// Any number, rounded to double.
  double as_double() const {
    if (kind_ == Float) return float_;
    return kind_ == Unsigned ? static_cast<double>(static_cast<uint64_t>(int_)) : static_cast<double>(int_);
  }
  /// A number as a literal.
  Value as_value() const {
    switch (kind_) {
      case Bool: return Value(int_ != 0);
      case Int: return Value(int_);
      case Unsigned: return Value(static_cast<uint64_t>(int_));
      default: return Value(float_);
    }
  }
  std::span<const Constant> constants() const { return {constants_, count_}; }

 private:
  Kind kind_ = None;
  bool is_owner_ = false;
  uint32_t count_ = 0;
  union {
    int64_t int_ = 0;  // Bool, Int, and the bits of Unsigned
    double float_;
    const TensorView* view_;
    const Constant* constants_;
  };
  std::string_view name_;
};

}  // namespace v0
}  // namespace strider
