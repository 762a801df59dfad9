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
  template <class... A>
  std::string source(const A&... arguments) const {
    return get().source(arguments...);
  }
  template <class... A>
  std::string show(const Stage& stage, const A&... arguments) const {
    return get().show(stage, arguments...);
  }
  auto interpreted(const Interpretation& how = {}) const { return get().interpreted(how); }
  const std::string& name() const { return get().name(); }
  operator const Operator&() const { return get().untyped(); }
};

namespace schemas {
inline Schema one(Promotion kind) { return {.names = {"x"}, .promotion = {{{0}, kind}}}; }
inline Schema two(Promotion kind, NumberRule x = NumberRule::Rounded, NumberRule y = NumberRule::Rounded) {
  return {.names = {"x", "y"}, .promotion = {{{0, 1}, kind, {x, y}}}};
}
/// mul and div: a number keeps the digits of the maths.
inline Schema product(Promotion kind) { return two(kind, NumberRule::Exact, NumberRule::Exact); }
inline Schema difference() { return {.names = {"x", "y"}, .promotion = {{.arguments = {0, 1}, .takes_bool = false}}}; }
inline Schema power() { return two(Promotion::Default, NumberRule::Rounded, NumberRule::Natural); }
inline Schema where() { return {.names = {"condition", "x", "y"}, .promotion = {{{1, 2}, Promotion::NoOpmath}}}; }
inline Schema clamp() { return {.names = {"x", "low", "high"}, .promotion = {{{0, 1, 2}, Promotion::Default}}}; }
inline Schema lerp() {
  constexpr NumberRule kRounded = NumberRule::Rounded;
  return {.names = {"start", "end", "weight"},
          .promotion = {{{0, 1, 2}, Promotion::Default, {kRounded, kRounded, NumberRule::Exact}}}};
}
inline Schema scaled() {
  return {.is_tensor = {true, true, false},
          .names = {"x", "y", "alpha"},
          .promotion = {{{0, 1}, Promotion::Default}},
          .defaults = {{"alpha", 1}}};
}
inline Schema fill() {
  return {.is_tensor = {true, false}, .names = {"x", "value"}, .promotion = {{{0}, Promotion::NoOpmath}}};
}
}  // namespace schemas

namespace maths {
/// Asked while tracing; plain numbers are floats.
inline bool is_float(const Value& x) { return strider::is_float(x.dtype()); }
inline bool is_float(double) { return true; }
inline bool is_bool(const Value& x) { return x.dtype() == DType::Bool; }
inline bool is_bool(double) { return false; }
/// Integers stay as they are.
auto round_floats(auto x, auto round) { return is_float(x) ? round(x) : x; }
/// Sums and products of bool are or and and; b raised to the power of another is b or not the other.
auto sum(auto x, auto y) { return is_bool(x) && is_bool(y) ? strider::logical_or(x, y) : x + y; }
auto product(auto x, auto y) { return is_bool(x) && is_bool(y) ? strider::logical_and(x, y) : x * y; }
auto power(auto x, auto y) {
  return is_bool(x) && is_bool(y) ? strider::logical_or(x, strider::logical_not(y)) : strider::pow(x, y);
}
auto scaled_sum(auto x, auto y, auto alpha) {
  return is_bool(x) && is_bool(y) ? strider::logical_or(x, strider::logical_and(y, alpha)) : x + y * alpha;
}
/// Unlike minimum and maximum they leave the sign of a zero between equal zeros; a NaN among the three passes.
auto clamped(auto x, auto low, auto high) {
  if (!is_float(x)) return strider::clamp(x, low, high);
  auto raised = strider::where(strider::logical_or(x >= low, strider::isnan(x)), x, low);
  return strider::where(strider::logical_or(raised <= high, strider::isnan(raised)), raised, high);
}
/// x * 2^y, rounded once for whole y.
auto scaled(auto x, auto y) {
  auto whole = strider::trunc(y);
  return strider::ldexp(x * strider::exp2(strider::where(strider::isinf(y), y, y - whole)), whole);
}
/// Masks of u8 are taken beside those of bool.
inline Value condition(const Value& c) { return c.dtype() == DType::U8 ? cast(c, DType::Bool) : c; }
inline bool condition(double c) { return c != 0; }
}  // namespace maths

#define STRIDER_OPERATOR(id, schema_, parameters, ...)       \
  namespace maths {                                          \
  struct id {                                                \
    static constexpr std::string_view name = #id;            \
    static Schema schema() { return schema_; }               \
    auto operator() parameters const { return __VA_ARGS__; } \
  };                                                         \
  }                                                          \
  inline constexpr LibraryOperator<maths::id> id;
#include <strider/operators.def>

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
