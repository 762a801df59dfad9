// SPDX-License-Identifier: Apache-2.0
// pointwise(): an operator from scalar maths alone, applied to tensors of any shapes and strides.
//
//   auto add = st::pointwise("add", [](auto x, auto y, auto alpha) { return x + y * alpha; },
//                            {.is_tensor = {true, true, false}});
//   st::Tensor c = add(a, b.t(), 0.5);       // shapes broadcast as in NumPy
//   add(a, b, 0.5, st::out(view));           // into given memory, which may be that of a or b
//   std::cout << add.source(a, b, 0.5);      // the tile kernel that runs
//   add(1.0, 2.0, 0.5);                      // plain numbers: the reference
//
// The lambda runs once for each combination of dtypes, on values (strider/value.h), so an operator can be used in another
// operator's lambda. It may return several outputs as a tuple. Every argument may be a tensor or a number; numbers are
// run-time values and never compile anything.
//
// Dtypes. The tensors' common dtype is that of the highest category (bool < integer < float), in it the widest; f16 with bf16
// gives f32, and signed with unsigned integers the signed dtype that holds both. A number counts only by a higher category.
// The maths run in that dtype, f16 and bf16 in f32; bool arguments stay bool. An output has the common dtype, unless the
// maths give another one (comparisons give bool).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strider/argument.h>
#include <strider/tensor.h>
#include <strider/tile.h>

namespace strider {
inline namespace v0 {

/// What an operator's arguments are. All of it may be left out: then every argument is a tensor.
struct Schema {
  std::vector<bool> is_tensor = {};      // false: always a number
  std::vector<std::string> names = {};   // of the arguments, for messages and sources
};

namespace detail {

struct OperatorDecl {
  std::string name;
  Schema schema;
  size_t arguments, outputs;
  std::function<Values(std::span<const Value>)> body;
};

/// An operator without its C++ type.
class Operator {
 public:
  STRIDER_API explicit Operator(OperatorDecl declaration);
  Operator(const Operator&) = default;  // moving copies: there is no empty operator
  Operator& operator=(const Operator&) = default;
  /// Runs it. Outputs that are not among the arguments are allocated and returned.
  STRIDER_API std::vector<Tensor> run(std::span<const Argument> arguments) const;
  STRIDER_API std::string source(std::span<const Argument> arguments) const;
  STRIDER_API const OperatorDecl& declaration() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

template <size_t>
using ValueAt = Value;
template <class F, class I>
inline constexpr bool takes_values = false;
template <class F, size_t... I>
inline constexpr bool takes_values<F, std::index_sequence<I...>> = std::is_invocable_v<const F&, ValueAt<I>...>;

/// How many values F takes: the least number that it can be called with.
template <class F, size_t N = 1>
constexpr size_t arity() {
  constexpr bool is_operator = N <= 64;
  static_assert(is_operator, "an operator takes 1 to 64 values: [](auto x, auto y) { return ...; }");
  if constexpr (!is_operator || takes_values<F, std::make_index_sequence<N>>) return N;
  else return arity<F, N + 1>();
}

template <class F, size_t... I>
auto call_with_values(const F& f, std::span<const Value> values, std::index_sequence<I...>) {
  return f(values[I]...);
}
template <class F>
using ResultOf = decltype(call_with_values(std::declval<const F&>(), {}, std::make_index_sequence<arity<F>()>()));

template <class R>
constexpr size_t output_count() {
  if constexpr (TupleLike<R>) return std::tuple_size_v<R>;
  else return 1;
}

template <class T>
concept TensorLike = std::derived_from<T, TensorView>;
template <class T>
concept OutputLike = std::same_as<T, Out>;

}  // namespace detail

template <class F>
class Pointwise {
 public:
  static constexpr size_t kOutputs = detail::output_count<detail::ResultOf<F>>();

  Pointwise(std::string_view name, F f, const Schema& schema)
      : f_(f), operator_({std::string(name), schema, detail::arity<F>(), kOutputs, body(f)}) {}

  /// On tensors: the output, or an array of them, or nothing when all outputs are given. On values and numbers: the maths.
  template <class... A>
  auto operator()(const A&... arguments) const {
    if constexpr ((detail::TensorLike<A> || ...)) return run<(detail::OutputLike<A> + ...)>(arguments...);
    else return f_(arguments...);
  }

  /// The tile kernel that a call with these arguments runs.
  template <class... A>
  std::string source(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)...};
    return operator_.source(list);
  }

  const detail::Operator& untyped() const { return operator_; }

 private:
  template <size_t Given, class... A>
  auto run(const A&... arguments) const {
    static_assert(Given == 0 || Given == kOutputs, "give all of an operator's outputs, or none");
    const Argument list[] = {Argument(arguments)...};
    std::vector<Tensor> results = operator_.run(list);
    if constexpr (Given == 0) return unpack(results, std::make_index_sequence<kOutputs>());
  }
  template <size_t... I>
  static auto unpack(std::vector<Tensor>& results, std::index_sequence<I...>) {
    if constexpr (kOutputs == 1) return std::move(results[0]);
    else return std::array<Tensor, kOutputs>{std::move(results[I])...};
  }
  static std::function<detail::Values(std::span<const Value>)> body(F f) {
    return [f](std::span<const Value> values) {
      return detail::values_of(
          [&] { return detail::call_with_values(f, values, std::make_index_sequence<detail::arity<F>()>()); });
    };
  }

  F f_;
  detail::Operator operator_;
};

/// An operator from a lambda on values, which also runs on plain numbers.
template <class F>
Pointwise<F> pointwise(std::string_view name, F f, const Schema& schema = {}) {
  return Pointwise<F>(name, std::move(f), schema);
}

}  // namespace v0
}  // namespace strider
