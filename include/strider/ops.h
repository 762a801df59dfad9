// SPDX-License-Identifier: Apache-2.0
// The operator library: functions of tensors, of values in other operators' lambdas, and of plain numbers.
//
//   st::Tensor y = st::ops::gelu(x);
//   st::Tensor z = (x + 1) * y;
//   auto fused = st::pointwise("fused", [](auto x, auto b, auto r) { return st::ops::gelu(x + b) * 1.5 + r; });
#pragma once

#include <strider/kernel.h>
#include <strider/pointwise.h>

namespace strider {
inline namespace v0 {
namespace ops {

/// An operator made of a callable type F, which has a name and a schema; one for the whole process, made at the first use and
/// never destroyed.
template <class F>
struct LibraryOperator {
  static const Pointwise<F>& get() {
    static const auto& op = *new Pointwise<F>(F::name, F(), F::schema());
    return op;
  }
  template <class... A>
  auto operator()(const A&... arguments) const {
    return get()(arguments...);
  }
  template <class... A>
  PreparedCall prepare(const A&... arguments) const {
    return get().prepare(arguments...);
  }
};

/// Schemas by promotion kind, over all arguments.
namespace schemas {
inline Schema one(Promotion kind) { return {.names = {"x"}, .promotion = {{{0}, kind}}}; }
inline Schema two(Promotion kind) { return {.names = {"x", "y"}, .promotion = {{{0, 1}, kind}}}; }
}  // namespace schemas

/// STRIDER_OPERATOR(name, schema, (parameters), maths): a row of the library.
#define STRIDER_OPERATOR(id, schema_, parameters, ...)      \
  namespace maths {                                         \
  struct id {                                               \
    static constexpr std::string_view name = #id;           \
    static Schema schema() { return schema_; }              \
    auto operator() parameters const { return __VA_ARGS__; } \
  };                                                        \
  }                                                         \
  inline constexpr LibraryOperator<maths::id> id;

// ---- arithmetic. Meaning and dtypes are those of the PyTorch functions of the same names.

STRIDER_OPERATOR(add, schemas::two(Promotion::Default), (auto x, auto y), x + y)
STRIDER_OPERATOR(sub, schemas::two(Promotion::Default), (auto x, auto y), x - y)
STRIDER_OPERATOR(mul, schemas::two(Promotion::Default), (auto x, auto y), x * y)
STRIDER_OPERATOR(div, schemas::two(Promotion::IntToFloat), (auto x, auto y), x / y)
STRIDER_OPERATOR(neg, schemas::one(Promotion::Default), (auto x), -x)
STRIDER_OPERATOR(abs, schemas::one(Promotion::ComplexToFloat), (auto x), strider::abs(x))
STRIDER_OPERATOR(sign, schemas::one(Promotion::Default), (auto x), strider::sign(x))
STRIDER_OPERATOR(minimum, schemas::two(Promotion::Default), (auto x, auto y), strider::minimum(x, y))
STRIDER_OPERATOR(maximum, schemas::two(Promotion::Default), (auto x, auto y), strider::maximum(x, y))
STRIDER_OPERATOR(clamp, (Schema{.names = {"x", "low", "high"}, .promotion = {{{0, 1, 2}, Promotion::Default}}}),
                 (auto x, auto low, auto high), strider::clamp(x, low, high))
/// x + y * alpha in one rounding; alpha is a number, 1 if it is left out.
STRIDER_OPERATOR(add_scaled,
                 (Schema{.is_tensor = {true, true, false},
                         .names = {"x", "y", "alpha"},
                         .promotion = {{{0, 1}, Promotion::Default}},
                         .defaults = {{"alpha", 1}}}),
                 (auto x, auto y, auto alpha), x + y * alpha)

// ---- choice and comparison

STRIDER_OPERATOR(where, (Schema{.names = {"condition", "x", "y"}, .promotion = {{{1, 2}, Promotion::NoOpmath}}}),
                 (auto condition, auto x, auto y), strider::where(condition, x, y))
STRIDER_OPERATOR(eq, schemas::two(Promotion::AlwaysBool), (auto x, auto y), x == y)
STRIDER_OPERATOR(ne, schemas::two(Promotion::AlwaysBool), (auto x, auto y), x != y)
STRIDER_OPERATOR(lt, schemas::two(Promotion::AlwaysBool), (auto x, auto y), x < y)
STRIDER_OPERATOR(le, schemas::two(Promotion::AlwaysBool), (auto x, auto y), x <= y)
STRIDER_OPERATOR(gt, schemas::two(Promotion::AlwaysBool), (auto x, auto y), x > y)
STRIDER_OPERATOR(ge, schemas::two(Promotion::AlwaysBool), (auto x, auto y), x >= y)

// ---- bits; logical on bool

STRIDER_OPERATOR(bitwise_and, schemas::two(Promotion::Default), (auto x, auto y), x & y)
STRIDER_OPERATOR(bitwise_or, schemas::two(Promotion::Default), (auto x, auto y), x | y)
STRIDER_OPERATOR(bitwise_xor, schemas::two(Promotion::Default), (auto x, auto y), x ^ y)
STRIDER_OPERATOR(bitwise_not, schemas::one(Promotion::Default), (auto x), ~x)

// ---- functions

STRIDER_OPERATOR(exp, schemas::one(Promotion::IntToFloat), (auto x), strider::exp(x))
STRIDER_OPERATOR(log, schemas::one(Promotion::IntToFloat), (auto x), strider::log(x))
STRIDER_OPERATOR(sqrt, schemas::one(Promotion::IntToFloat), (auto x), strider::sqrt(x))
STRIDER_OPERATOR(tanh, schemas::one(Promotion::IntToFloat), (auto x), strider::tanh(x))
STRIDER_OPERATOR(erf, schemas::one(Promotion::IntToFloat), (auto x), strider::erf(x))
STRIDER_OPERATOR(sigmoid, schemas::one(Promotion::IntToFloat), (auto x), strider::sigmoid(x))

// ---- activations

STRIDER_OPERATOR(relu, schemas::one(Promotion::Default), (auto x), strider::maximum(x, 0))
STRIDER_OPERATOR(silu, schemas::one(Promotion::Default), (auto x), x * strider::sigmoid(x))
/// The exact form.
STRIDER_OPERATOR(gelu, schemas::one(Promotion::Default), (auto x), 0.5 * x * (1.0 + strider::erf(x * 0.70710678118654752440)))
/// The approximation by tanh.
STRIDER_OPERATOR(gelu_tanh, schemas::one(Promotion::Default), (auto x),
                 0.5 * x * (1.0 + strider::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))))

// ---- memory

STRIDER_OPERATOR(copy, schemas::one(Promotion::NoOpmath), (auto x), x)
/// `value` in the shape and dtype of x, whose elements are not read: `fill(x, 3.0, st::out(x))`. Floats become integers as cast does.
STRIDER_OPERATOR(fill, (Schema{.is_tensor = {true, false}, .names = {"x", "value"}, .promotion = {{{0}, Promotion::NoOpmath}}}),
                 (auto x, auto value), strider::cast(value, strider::dtype(x)))

// ---- kernels by hand. Rows are along the last axis; results are new and contiguous.

/// The sum of absolute values of a contiguous f32 tensor, as a tensor of one element. Each program adds its part atomically.
STRIDER_API Tensor l1_norm(const TensorView& x);
/// exp(x) / sum(exp(x)) over the rows of a matrix of floats, computed in f32.
STRIDER_API Tensor softmax(const TensorView& x);
/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the rows of a matrix of floats, computed in f32.
STRIDER_API Tensor layer_norm(const TensorView& x, const TensorView& weight, const TensorView& bias, double epsilon = 1e-5);

}  // namespace ops

// ---- tensors in expressions. Each operation is a kernel of its own; write one lambda to have one kernel.

namespace detail {
template <class A, class B>
concept TensorAndOperand = (TensorLike<A> && (TensorLike<B> || Number<B>)) || (Number<A> && TensorLike<B>);
}

#define STRIDER_TENSOR_BINARY(symbol, op)                  \
  template <class A, class B>                              \
    requires detail::TensorAndOperand<A, B>                \
  Tensor operator symbol(const A& a, const B& b) {         \
    return ops::op(a, b);                                  \
  }
STRIDER_TENSOR_BINARY(+, add)
STRIDER_TENSOR_BINARY(-, sub)
STRIDER_TENSOR_BINARY(*, mul)
STRIDER_TENSOR_BINARY(/, div)
STRIDER_TENSOR_BINARY(==, eq)
STRIDER_TENSOR_BINARY(!=, ne)
STRIDER_TENSOR_BINARY(<, lt)
STRIDER_TENSOR_BINARY(<=, le)
STRIDER_TENSOR_BINARY(>, gt)
STRIDER_TENSOR_BINARY(>=, ge)
STRIDER_TENSOR_BINARY(&, bitwise_and)
STRIDER_TENSOR_BINARY(|, bitwise_or)
STRIDER_TENSOR_BINARY(^, bitwise_xor)
#undef STRIDER_TENSOR_BINARY

/// In place: the memory of `a` is written, which keeps its shape and dtype.
#define STRIDER_TENSOR_ASSIGN(symbol, op)                  \
  template <detail::TensorLike A, class B>                 \
    requires detail::TensorAndOperand<A, B>                \
  const A& operator symbol(const A& a, const B& b) {       \
    ops::op(a, b, out(a));                                 \
    return a;                                              \
  }
STRIDER_TENSOR_ASSIGN(+=, add)
STRIDER_TENSOR_ASSIGN(-=, sub)
STRIDER_TENSOR_ASSIGN(*=, mul)
STRIDER_TENSOR_ASSIGN(/=, div)
#undef STRIDER_TENSOR_ASSIGN

template <detail::TensorLike A>
Tensor operator-(const A& a) {
  return ops::neg(a);
}
template <detail::TensorLike A>
Tensor operator~(const A& a) {
  return ops::bitwise_not(a);
}

}  // namespace v0
}  // namespace strider
