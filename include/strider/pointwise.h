// SPDX-License-Identifier: Apache-2.0
// pointwise(): an operator from scalar maths alone, applied to tensors of any shapes and strides.
//
//   auto add = st::pointwise("add", [](auto x, auto y, auto alpha) { return x + y * alpha; },
//                            {.is_tensor = {true, true, false}});
//   st::Tensor c = add(a, b.t(), 0.5);       // shapes broadcast as in NumPy
//   add(a, b, 0.5, st::out(view));           // into given memory, which may be that of a or b
//   std::cout << add.source(a, b, 0.5);      // the tile kernel that runs
//   add(1.0, 2.0, 0.5);                      // plain numbers: the reference
//   st::Operator any = add;                  // to be kept where its type has no place
//
// The lambda runs once for each combination of dtypes, on values (strider/value.h), so an operator can be used in another
// operator's lambda. It may return several outputs as a tuple. Every argument may be a tensor or a number; numbers are
// run-time values and never compile anything. They can have defaults and be passed by name: `add(a, b, st::arg("alpha", 2))`.
//
// Dtypes follow PyTorch's promotion (docs/promotion.md): by the rules of the schema (strider/schema.h), or without them by
// Default over all tensors.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strider/argument.h>
#include <strider/callable.h>
#include <strider/interpret.h>
#include <strider/prepared.h>
#include <strider/schema.h>
#include <strider/stage.h>
#include <strider/stream.h>
#include <strider/tensor.h>
#include <strider/tile.h>

namespace strider {
inline namespace v0 {

namespace detail {

/// What an operator is made of. Its maths are a function on values: a lambda of the user's, or what goes through a function in
/// the IR.
struct OperatorDecl {
  std::string name;
  Schema schema;
  size_t arguments, outputs;
  std::function<Values(std::span<const Value>)> body;
};

inline constexpr size_t kMostArguments = 64, kMostOutputs = 64;  // of an operator

template <size_t>
using ValueAt = Value;
template <class F, class I>
inline constexpr bool takes_values = false;
template <class F, size_t... I>
inline constexpr bool takes_values<F, std::index_sequence<I...>> = std::is_invocable_v<const F&, ValueAt<I>...>;

/// How many values F takes: the least number that it can be called with.
template <class F, size_t N = 1>
constexpr size_t arity() {
  constexpr bool is_operator = N <= kMostArguments;
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
concept IsValue = std::convertible_to<R, Value>;
template <class R, class I>
inline constexpr bool are_values = false;
template <class R, size_t... I>
inline constexpr bool are_values<R, std::index_sequence<I...>> = (IsValue<std::tuple_element_t<I, R>> && ...);

/// How many outputs a lambda has that returns R; 0 for what is no result.
template <class R>
constexpr size_t output_count() {
  if constexpr (IsValue<R>) return 1;
  else if constexpr (TupleLike<R>) return are_values<R, std::make_index_sequence<std::tuple_size_v<R>>> ? std::tuple_size_v<R> : 0;
  else return 0;
}

template <class T>
concept TensorLike = std::derived_from<T, TensorView>;
template <class T>
concept OutputLike = std::same_as<T, Out>;
template <class T>
inline constexpr bool is_named = false;
template <class T>
inline constexpr bool is_named<Named<T>> = true;
template <class T>
concept ListOfArguments = std::convertible_to<const T&, std::span<const Argument>>;

}  // namespace detail

/// An operator of any maths: what pointwise() gives without its C++ type, or operator_from_ir(). Copies share their code.
class Operator {
 public:
  /// None. A user error wherever an operator is needed.
  Operator() = default;
  STRIDER_API explicit Operator(detail::OperatorDecl declaration);
  Operator(const Operator&) = default;  // moving copies: an operator that was moved from is still one
  Operator& operator=(const Operator&) = default;

  bool is_empty() const { return !impl_; }
  const std::string& name() const { return declaration().name; }
  size_t arguments() const { return declaration().arguments; }
  size_t outputs() const { return declaration().outputs; }

  /// On tensors and numbers: the output as a new tensor, or nothing where all outputs are given by st::out(). On values: the maths,
  /// promoted by the schema's rules. User errors: those of a Pointwise; no tensor and no value; several outputs, for which there
  /// is all().
  template <class... A>
  auto operator()(const A&... arguments) const {
    if constexpr ((std::same_as<A, Value> || ...)) return only(all(arguments...));
    else if constexpr ((detail::OutputLike<A> || ...)) all(arguments...);
    else return only(all(arguments...));
  }
  /// The same with all outputs, in a vector; an empty one where they are given.
  template <class... A>
  auto all(const A&... arguments) const {
    if constexpr ((std::same_as<A, Value> || ...)) {
      detail::Values values(this->arguments());
      place(std::span<Value>(values), arguments...);
      return apply(values);
    } else {
      const Argument list[] = {Argument(arguments)..., Argument()};
      return run(std::span(list, sizeof...(A)));
    }
  }

  /// As Pointwise's.
  template <class... A>
    requires(!detail::ListOfArguments<A> && ...)
  PreparedCall prepare(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)..., Argument()};
    return prepare(std::span(list, sizeof...(A)));
  }
  template <class... A>
  std::string source(const A&... arguments) const {
    return show("tile", arguments...);
  }
  template <class... A>
    requires(!detail::ListOfArguments<A> && ...)
  std::string show(const Stage& stage, const A&... arguments) const {
    const Argument list[] = {Argument(arguments)..., Argument()};
    return show(stage, std::span(list, sizeof...(A)));
  }
  auto interpreted(const Interpretation& how = {}) const {
    return [op = *this, how](const auto&... arguments) {
      Interpreted scope(how);
      return op(arguments...);
    };
  }

  // ---- the same with a list of arguments

  /// Runs it. Outputs that are not among the arguments are allocated and returned.
  STRIDER_API std::vector<Tensor> run(std::span<const Argument> arguments) const;
  STRIDER_API PreparedCall prepare(std::span<const Argument> arguments) const;
  STRIDER_API std::string show(const Stage& stage, std::span<const Argument> arguments) const;
  /// The maths on values, promoted by the schema's rules.
  STRIDER_API detail::Values apply(std::span<const Value> arguments) const;
  STRIDER_API const detail::OperatorDecl& declaration() const;

  /// Arguments of values or plain numbers in order; those by name and those left out are in their places. User errors: too many
  /// arguments, unknown names, arguments without a default.
  template <class T, class... A>
  void place(std::span<T> all, const A&... arguments) const {
    if (sizeof...(A) > all.size()) too_many(sizeof...(A));
    std::array<bool, detail::kMostArguments> given{};
    size_t next = 0;
    auto put = [&](const auto& argument) {
      if constexpr (detail::is_named<std::remove_cvref_t<decltype(argument)>>) {
        size_t index = argument_named(argument.name);
        all[index] = T(argument.value), given[index] = true;
      } else {
        all[next] = T(argument), given[next++] = true;
      }
    };
    (put(arguments), ...);
    for (size_t k = 0; k < all.size(); ++k) {
      if (given[k]) continue;
      if constexpr (std::same_as<T, Value>) all[k] = default_of(k).as_value();
      else all[k] = default_of(k).as_double();
    }
  }

 private:
  struct Impl;
  Impl& impl() const;  // a user error if there is none
  STRIDER_API size_t argument_named(std::string_view name) const;
  STRIDER_API const Argument& default_of(size_t argument) const;
  [[noreturn]] STRIDER_API void too_many(size_t arguments) const;
  [[noreturn]] STRIDER_API void several_outputs() const;
  template <class T>
  T only(std::vector<T>&& results) const {
    if (results.size() != 1) several_outputs();
    return std::move(results[0]);
  }

  std::shared_ptr<Impl> impl_;
};

namespace detail {
using strider::v0::Operator;  // its name in programs that were written for 0.1.0
}

/// An operator from its maths as text of the IR (docs/ir.md): a function of scalars that ends in a yield of its outputs, as
/// `show("scalar", ...)` prints it. It computes in the dtypes that it is written in. Arguments are promoted as those of a lambda
/// are, and then converted to the dtypes of its parameters, which have to hold them: f16 for a parameter of f32, or i64, but not
/// f64. Parameters have the names of the text unless the schema names them. User errors: text that is none, with line and column;
/// tiles, memory or control flow in it; a schema that does not fit.
STRIDER_API Operator operator_from_ir(std::string_view text, const Schema& schema = {});

template <class F>
class Pointwise {
 public:
  static constexpr size_t kArguments = detail::arity<F>();
  using Result = detail::ResultOf<F>;
  static constexpr size_t kOutputs = detail::output_count<Result>();
  static_assert(!std::is_void_v<Result>, "an operator's lambda returns nothing: its maths need a return");
  static_assert(kOutputs > 0 || std::is_void_v<Result>, "an operator's lambda returns a value, or a tuple of values");
  static_assert(kOutputs <= detail::kMostOutputs, "an operator has at most 64 outputs");

  Pointwise(std::string_view name, F f, const Schema& schema)
      : f_(f), operator_({std::string(name), schema, kArguments, kOutputs, body(f)}) {}

  /// On tensors: the output, or an array of them, or nothing when all outputs are given. On values: the maths, promoted by the
  /// schema's rules. On plain numbers: the maths.
  template <class... A>
  auto operator()(const A&... arguments) const {
    if constexpr ((detail::TensorLike<A> || ...)) return run<(detail::OutputLike<A> + ...)>(arguments...);
    else if constexpr ((std::same_as<A, Value> || ...)) return compose(placed<Value>(arguments...));
    else if constexpr (sizeof...(A) == kArguments && !(detail::is_named<A> || ...)) return f_(arguments...);
    else return std::apply(f_, placed<double>(arguments...));
  }

  /// A call with these arguments that is checked and planned once and then only launches; strider/prepared.h. Outputs that are
  /// not given are made now, and each launch writes them again. Throws what the call itself would.
  template <class... A>
  PreparedCall prepare(const A&... arguments) const {
    static constexpr size_t kGiven = (detail::OutputLike<A> + ...);
    static_assert(kGiven == 0 || kGiven == kOutputs, "give all of an operator's outputs, or none");
    return operator_.prepare(arguments...);
  }

  /// `op.interpreted(how)(arguments...)`: the same call in the interpreter, which checks every access: strider/interpret.h. User
  /// errors: a tensor is not on the CPU, and what the interpreter finds.
  auto interpreted(const Interpretation& how = {}) const {
    return [op = *this, how](const auto&... arguments) {
      Interpreted scope(how);
      return op(arguments...);
    };
  }

  /// `op.on(stream)(arguments...)`: the same call on a stream of the tensors' device: strider/stream.h.
  auto on(const Stream& stream) const {
    return [op = *this, stream](const auto&... arguments) {
      StreamScope scope(stream);
      return op(arguments...);
    };
  }

  /// The tile kernel that a call with these arguments runs.
  template <class... A>
  std::string source(const A&... arguments) const {
    return operator_.source(arguments...);
  }

  /// The text of a stage of that kernel, for the processor of the tensors or another: `op.show({"ptx", "cuda:sm_90"}, a, b)`.
  template <class... A>
  std::string show(const Stage& stage, const A&... arguments) const {
    return operator_.show(stage, arguments...);
  }

  const std::string& name() const { return operator_.name(); }
  const Operator& untyped() const { return operator_; }
  operator const Operator&() const { return operator_; }

 private:
  template <size_t Given, class... A>
  auto run(const A&... arguments) const {
    static_assert(Given == 0 || Given == kOutputs, "give all of an operator's outputs, or none");
    const Argument list[] = {Argument(arguments)...};
    std::vector<Tensor> results = operator_.run(list);
    if constexpr (Given == 0) return unpack(results, std::make_index_sequence<kOutputs>());
  }
  template <class T, class... A>
  std::array<T, kArguments> placed(const A&... arguments) const {
    static_assert(sizeof...(A) <= kArguments, "more arguments than the operator's lambda takes");
    std::array<T, kArguments> all{};
    operator_.place(std::span<T>(all), arguments...);
    return all;
  }
  auto compose(const std::array<Value, kArguments>& all) const {
    detail::Values results = operator_.apply(all);
    if constexpr (kOutputs == 1) return results[0];
    else return array_of(results, std::make_index_sequence<kOutputs>());
  }
  template <size_t... I>
  static auto array_of(const detail::Values& values, std::index_sequence<I...>) {
    return std::array<Value, kOutputs>{values[I]...};
  }
  template <size_t... I>
  static auto unpack(std::vector<Tensor>& results, std::index_sequence<I...>) {
    if constexpr (kOutputs == 1) return std::move(results[0]);
    else return std::array<Tensor, kOutputs>{std::move(results[I])...};
  }
  static std::function<detail::Values(std::span<const Value>)> body(F f) {
    if constexpr (kOutputs == 0) return {};
    else {
      if (!detail::has_body(f)) return {};
      return [f](std::span<const Value> values) {
        return detail::values_of(
            [&] { return detail::call_with_values(f, values, std::make_index_sequence<kArguments>()); });
      };
    }
  }

  F f_;
  Operator operator_;
};

/// An operator from a lambda on values, which also runs on plain numbers. A user error if it is a null pointer.
template <class F>
Pointwise<F> pointwise(std::string_view name, F f, const Schema& schema = {}) {
  return detail::out_of_memory_is_an_error([&] { return Pointwise<F>(name, std::move(f), schema); });
}

}  // namespace v0
}  // namespace strider
