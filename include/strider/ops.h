// SPDX-License-Identifier: Apache-2.0
// The operator library: functions of tensors, of values in other operators' lambdas, and of plain numbers.
//
//   st::Tensor y = st::ops::gelu(x);
//   auto fused = st::pointwise("fused", [](auto x, auto b, auto r) { return st::ops::gelu(x + b) * 1.5 + r; });
#pragma once

#include <strider/kernel.h>
#include <strider/pointwise.h>

namespace strider {
inline namespace v0 {
namespace ops {

/// An operator made of a callable type F, which has a name; one for the whole process, made at the first use and never destroyed.
template <class F>
struct LibraryOperator {
  static const Pointwise<F>& get() {
    static const auto& op = *new Pointwise<F>(F::name, F(), {});
    return op;
  }
  template <class... A>
  auto operator()(const A&... arguments) const {
    return get()(arguments...);
  }
};

namespace maths {

struct Add {
  static constexpr std::string_view name = "add";
  auto operator()(auto x, auto y) const { return x + y; }
};
struct Sub {
  static constexpr std::string_view name = "sub";
  auto operator()(auto x, auto y) const { return x - y; }
};
struct Mul {
  static constexpr std::string_view name = "mul";
  auto operator()(auto x, auto y) const { return x * y; }
};
struct Div {
  static constexpr std::string_view name = "div";
  auto operator()(auto x, auto y) const { return x / y; }
};
struct Neg {
  static constexpr std::string_view name = "neg";
  auto operator()(auto x) const { return -x; }
};
struct Abs {
  static constexpr std::string_view name = "abs";
  auto operator()(auto x) const { return strider::abs(x); }
};
struct Copy {
  static constexpr std::string_view name = "copy";
  auto operator()(auto x) const { return x; }
};
struct Minimum {
  static constexpr std::string_view name = "minimum";
  auto operator()(auto x, auto y) const { return strider::minimum(x, y); }
};
struct Maximum {
  static constexpr std::string_view name = "maximum";
  auto operator()(auto x, auto y) const { return strider::maximum(x, y); }
};
struct Clamp {
  static constexpr std::string_view name = "clamp";
  auto operator()(auto x, auto low, auto high) const { return strider::clamp(x, low, high); }
};
struct Where {
  static constexpr std::string_view name = "where";
  auto operator()(auto condition, auto x, auto y) const { return strider::where(condition, x, y); }
};
struct Exp {
  static constexpr std::string_view name = "exp";
  auto operator()(auto x) const { return strider::exp(x); }
};
struct Log {
  static constexpr std::string_view name = "log";
  auto operator()(auto x) const { return strider::log(x); }
};
struct Sqrt {
  static constexpr std::string_view name = "sqrt";
  auto operator()(auto x) const { return strider::sqrt(x); }
};
struct Tanh {
  static constexpr std::string_view name = "tanh";
  auto operator()(auto x) const { return strider::tanh(x); }
};
struct Erf {
  static constexpr std::string_view name = "erf";
  auto operator()(auto x) const { return strider::erf(x); }
};
struct Sigmoid {
  static constexpr std::string_view name = "sigmoid";
  auto operator()(auto x) const { return strider::sigmoid(x); }
};
struct Relu {
  static constexpr std::string_view name = "relu";
  auto operator()(auto x) const { return strider::maximum(x, 0); }
};
struct Silu {
  static constexpr std::string_view name = "silu";
  auto operator()(auto x) const { return x * strider::sigmoid(x); }
};
struct Gelu {  // the exact form
  static constexpr std::string_view name = "gelu";
  auto operator()(auto x) const { return 0.5 * x * (1.0 + strider::erf(x * 0.70710678118654752440)); }
};
struct GeluTanh {  // the approximation by tanh
  static constexpr std::string_view name = "gelu_tanh";
  auto operator()(auto x) const {
    return 0.5 * x * (1.0 + strider::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  }
};

}  // namespace maths

inline constexpr LibraryOperator<maths::Add> add;
inline constexpr LibraryOperator<maths::Sub> sub;
inline constexpr LibraryOperator<maths::Mul> mul;
inline constexpr LibraryOperator<maths::Div> div;
inline constexpr LibraryOperator<maths::Neg> neg;
inline constexpr LibraryOperator<maths::Abs> abs;
inline constexpr LibraryOperator<maths::Copy> copy;
inline constexpr LibraryOperator<maths::Minimum> minimum;
inline constexpr LibraryOperator<maths::Maximum> maximum;
inline constexpr LibraryOperator<maths::Clamp> clamp;
inline constexpr LibraryOperator<maths::Where> where;
inline constexpr LibraryOperator<maths::Exp> exp;
inline constexpr LibraryOperator<maths::Log> log;
inline constexpr LibraryOperator<maths::Sqrt> sqrt;
inline constexpr LibraryOperator<maths::Tanh> tanh;
inline constexpr LibraryOperator<maths::Erf> erf;
inline constexpr LibraryOperator<maths::Sigmoid> sigmoid;
inline constexpr LibraryOperator<maths::Relu> relu;
inline constexpr LibraryOperator<maths::Silu> silu;
inline constexpr LibraryOperator<maths::Gelu> gelu;
inline constexpr LibraryOperator<maths::GeluTanh> gelu_tanh;

// ---- kernels by hand. Rows are along the last axis; results are new and contiguous.

/// The sum of absolute values of a contiguous f32 tensor, as a tensor of one element. Each program adds its part atomically.
STRIDER_API Tensor l1_norm(const TensorView& x);
/// exp(x) / sum(exp(x)) over the rows of a matrix of floats, computed in f32.
STRIDER_API Tensor softmax(const TensorView& x);
/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the rows of a matrix of floats, computed in f32.
STRIDER_API Tensor layer_norm(const TensorView& x, const TensorView& weight, const TensorView& bias, double epsilon = 1e-5);

}  // namespace ops
}  // namespace v0
}  // namespace strider
