// SPDX-License-Identifier: Apache-2.0
// The tile language: what a kernel's body is written with. A program is one instance of the kernel in its grid; a tile is
// the block of elements it works on.
//
//   [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Constexpr BLOCK) {
//     auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
//     tl::store(out + i, tl::exp(tl::load(x + i, i < n)), i < n);
//   }
//
// Tiles are Values (strider/value.h has their operators and dtype rules). Control flow on run-time values is written with
// if_, range, while_ and return_if, whose bodies return what they compute; C++'s own `for` unrolls.
// A value made inside such a body lives there: return it to use it after.
//
// C++ leaves open in which order it evaluates the arguments of a function and the operands of `+`: where the order of loads,
// stores and atomics matters, give each a statement of its own.
#pragma once

#include <array>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <strider/value.h>

namespace strider {
inline namespace v0 {

namespace detail {

using Values = std::vector<Value>;
using Body = std::function<Values(const Values&)>;
using Place = std::source_location;

STRIDER_API Value ptr_add(const Value& pointer, const Operand& offset, bool subtract);
STRIDER_API Values trace_for(const Operand& lo, const Operand& hi, const Operand& step, const Values& carried, const Body& body);
STRIDER_API Values trace_while(const Values& carried, const Body& condition, const Body& body, Place where);
STRIDER_API Values trace_if(const Operand& condition, const Body& then, const Body& otherwise);
STRIDER_API Values trace_fold(bool scan, const Values& tiles, int axis, const Body& combine, Place where);

}  // namespace detail

namespace tl {

using Tile = Value;
using detail::Place;

// ---- arguments

/// A pointer, or a tile of pointers, to elements of one dtype. Adding an integer moves it by elements.
class Pointer {
 public:
  explicit Pointer(const Value& raw) : raw_(raw) {}
  DType dtype() const { return raw_.dtype(); }  // of the elements
  Dims shape() const { return raw_.shape(); }
  const Value& raw() const { return raw_; }

 private:
  Value raw_;
};

/// A kernel argument that points to elements of the C++ type T; Ptr<> takes the dtype of the tensor it is given.
template <class T = void>
class Ptr : public Pointer {
 public:
  using Pointer::Pointer;
  friend Ptr operator+(const Ptr& p, const Operand& offset) { return Ptr(detail::ptr_add(p.raw(), offset, false)); }
  friend Ptr operator+(const Operand& offset, const Ptr& p) { return p + offset; }
  friend Ptr operator-(const Ptr& p, const Operand& offset) { return Ptr(detail::ptr_add(p.raw(), offset, true)); }
  Ptr& operator+=(const Operand& offset) { return *this = *this + offset; }
};

/// A run-time number given at the launch, of a fixed dtype.
template <DType D>
struct Scalar : Value {
  explicit Scalar(const Value& value) : Value(value) {}
};
using boolean = Scalar<DType::Bool>;
using i8 = Scalar<DType::I8>;
using i16 = Scalar<DType::I16>;
using i32 = Scalar<DType::I32>;
using i64 = Scalar<DType::I64>;
using u8 = Scalar<DType::U8>;
using u16 = Scalar<DType::U16>;
using u32 = Scalar<DType::U32>;
using u64 = Scalar<DType::U64>;
using f32 = Scalar<DType::F32>;
using f64 = Scalar<DType::F64>;

/// Text usable as a template argument.
template <size_t N>
struct Name {
  constexpr Name(const char (&s)[N]) { std::copy_n(s, N, text); }
  char text[N];
};
/// A Constexpr that carries its name: tl::Const<"BLOCK"> BLOCK.
template <Name N>
struct Const : Constexpr {
  static constexpr std::string_view name = N.text;
};

// ---- indices and shapes

/// Which program this is, and how many there are, along axis 0, 1 or 2 of the grid: i32.
STRIDER_API Value program_id(int axis, Place where = Place::current());
STRIDER_API Value num_programs(int axis, Place where = Place::current());

/// The i32 tile begin, begin + 1, ..., end - 1.
STRIDER_API Value arange(int64_t begin, int64_t end, Place where = Place::current());
template <std::derived_from<Value> V>
Value arange(const auto&, const V& end) {
  static_assert(detail::never<V>, "the size of a tile is fixed when the kernel compiles: make it a tl::Constexpr");
  return end;
}
/// The same for shapes of run-time values.
template <class T = void, std::derived_from<Value> V>
Value zeros(std::initializer_list<V>, const auto&...) {
  static_assert(detail::never<V>, "the shape of a tile is fixed when the kernel compiles: make its sizes tl::Constexpr");
  return {};
}
template <class T = void, std::derived_from<Value> V>
Value full(std::initializer_list<V>, const auto&...) {
  static_assert(detail::never<V>, "the shape of a tile is fixed when the kernel compiles: make its sizes tl::Constexpr");
  return {};
}

STRIDER_API Value full(const Dims& shape, const Operand& value, DType dtype);
STRIDER_API Value zeros(const Dims& shape, DType dtype, Place where = Place::current());
template <class T>
Value full(const Dims& shape, const Operand& value) {
  return full(shape, value, dtype_of<T>);
}
template <class T>
Value zeros(const Dims& shape, Place where = Place::current()) {
  return zeros(shape, dtype_of<T>, where);
}

/// The tile repeated to `shape`, as in NumPy: missing leading axes and axes of size 1.
STRIDER_API Value broadcast_to(const Operand& x, const Dims& shape);
/// An axis of size 1 inserted so that it becomes axis `axis`; -1 puts it last.
STRIDER_API Value expand_dims(const Operand& x, int axis);
/// The same elements in row-major order under another shape.
STRIDER_API Value reshape(const Operand& x, const Dims& shape);
/// Axis k of the result is axis axes[k]; without axes their order is reversed.
STRIDER_API Value trans(const Operand& x, const Dims& axes = {});

// ---- memory

/// The elements at the pointers. A lane whose mask is false reads no memory and gives `other`, or zero without one.
STRIDER_API Value load(const Pointer& p, const Value& mask = {}, const Value& other = {}, Place where = Place::current());
/// Writes the elements; a lane whose mask is false writes nothing. A value is widened to the pointer's dtype where nothing
/// can be lost; else say what is meant with .to().
STRIDER_API void store(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());
/// Adds to memory, each lane as one indivisible step in no stated order, and gives the old elements.
STRIDER_API Value atomic_add(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());

/// What is no pointer does not compile.
template <std::convertible_to<Value> V>
Value load(const V& p, const Value& = {}, const Value& = {}) {
  static_assert(detail::never<V>, "load takes a pointer: a parameter tl::Ptr<float> x of the kernel, moved by offsets: x + i");
  return p;
}
template <std::convertible_to<Value> V>
void store(const V&, const Value&, const Value& = {}) {
  static_assert(detail::never<V>, "store takes a pointer: a parameter tl::Ptr<float> x of the kernel, moved by offsets: x + i");
}
template <std::convertible_to<Value> V>
Value atomic_add(const V& p, const Value&, const Value& = {}) {
  static_assert(detail::never<V>, "atomic_add takes a pointer: a parameter tl::Ptr<float> x of the kernel, moved by offsets: x + i");
  return p;
}

STRIDER_API Pointer where(const Operand& condition, const Pointer& a, const Pointer& b);

// ---- reductions and scans

inline constexpr bool keep_dims = true;

/// Over one axis, which is removed (or kept with size 1). Dtypes are kept; only bool is summed as i32.
/// Negative axes count from the last. max and min carry NaN.
STRIDER_API Value sum(const Operand& x, int axis, bool keep_dims = false);
STRIDER_API Value max(const Operand& x, int axis, bool keep_dims = false);
STRIDER_API Value min(const Operand& x, int axis, bool keep_dims = false);
/// Over all axes, to a scalar.
STRIDER_API Value sum(const Operand& x);
STRIDER_API Value max(const Operand& x);
STRIDER_API Value min(const Operand& x);
/// Running sums along an axis: element i is the sum of elements 0..i.
STRIDER_API Value cumsum(const Operand& x, int axis = 0);

}  // namespace tl

// ---- bodies: C++ callables as regions of the program

namespace detail {

/// What a value of type T is inside and after a body: pointers stay what they are, everything else is a Value.
template <class T>
struct carried {
  using type = Value;
};
template <std::derived_from<tl::Pointer> T>
struct carried<T> {
  using type = T;
};
template <class T>
using carried_t = typename carried<std::decay_t<T>>::type;

template <class T>
Value to_raw(const T& x) {
  if constexpr (std::derived_from<T, tl::Pointer>) return x.raw();
  else return Value(x);
}
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

/// What a body returned, as values: nothing, one, or a tuple.
template <class F, class... Args>
Values values_of(F&& f, Args&&... args) {
  using R = std::decay_t<std::invoke_result_t<F, Args...>>;
  if constexpr (std::is_void_v<R>) return f(std::forward<Args>(args)...), Values{};
  else if constexpr (TupleLike<R>)
    return std::apply([](const auto&... x) { return Values{to_raw(x)...}; }, f(std::forward<Args>(args)...));
  else return {to_raw(f(std::forward<Args>(args)...))};
}

/// The types of carried values, and calls of bodies with them.
template <class... C>
struct Carry {
  using Result = std::conditional_t<sizeof...(C) == 1, std::tuple_element_t<0, std::tuple<C..., void>>, std::tuple<C...>>;

  template <class F, class... First>
  static Values call(F& f, const Values& values, size_t skip, const First&... first) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return values_of(f, first..., C(values[skip + I])...);
    }(std::index_sequence_for<C...>());
  }
  static auto unpack(const Values& values) {
    if constexpr (sizeof...(C) > 0) return unpack(values, std::index_sequence_for<C...>());
  }
  template <size_t... I>
  static Result unpack(const Values& values, std::index_sequence<I...>) {
    return Result{C(values[I])...};
  }
};

template <class R>
struct carry_of_result {
  using type = Carry<carried_t<R>>;
};
template <>
struct carry_of_result<void> {
  using type = Carry<>;
};
template <TupleLike R>
struct carry_of_result<R> {
  template <size_t... I>
  static Carry<carried_t<std::tuple_element_t<I, R>>...> pick(std::index_sequence<I...>);
  using type = decltype(pick(std::make_index_sequence<std::tuple_size_v<R>>()));
};

template <class Tuple, size_t... I>
auto carry_front(const Tuple& all, std::index_sequence<I...>) {
  return std::pair(Carry<carried_t<std::tuple_element_t<I, Tuple>>...>(), Values{to_raw(std::get<I>(all))...});
}

}  // namespace detail

namespace tl {

/// A loop: range(lo, hi, step, carried..., body). `body(i, carried...)` returns the carried values of the next iteration, as a
/// tuple if there are several; the loop gives the last ones. The step is above zero.
///
///   auto acc = tl::range(0, n, BLOCK, tl::zeros<float>({BLOCK}), [&](auto i, auto acc) {
///     return acc + tl::load(x + i + lanes);
///   });
template <class... Rest>
auto range(const Operand& lo, const Operand& hi, const Operand& step, const Rest&... rest) {
  static_assert(sizeof...(Rest) > 0, "the last argument of range is its body");
  auto all = std::tie(rest...);
  auto& body = std::get<sizeof...(Rest) - 1>(all);
  auto [carry, values] = detail::carry_front(all, std::make_index_sequence<sizeof...(Rest) - 1>());
  using Carry = decltype(carry);
  return Carry::unpack(detail::trace_for(lo, hi, step, values,
                                         [&](const detail::Values& p) { return Carry::call(body, p, 1, p[0]); }));
}

/// A loop while a scalar bool holds: while_(carried..., condition, body), both called with the carried values.
template <class... Rest>
auto while_(const Rest&... rest) {
  static_assert(sizeof...(Rest) > 1, "the last arguments of while_ are its condition and its body");
  auto all = std::tie(rest...);
  auto& condition = std::get<sizeof...(Rest) - 2>(all);
  auto& body = std::get<sizeof...(Rest) - 1>(all);
  auto [carry, values] = detail::carry_front(all, std::make_index_sequence<sizeof...(Rest) - 2>());
  using Carry = decltype(carry);
  return Carry::unpack(detail::trace_while(
      values, [&](const detail::Values& p) { return Carry::call(condition, p, 0); },
      [&](const detail::Values& p) { return Carry::call(body, p, 0); }, {}));
}

/// Runs one of two bodies, by a scalar bool. Both return values of the same types, which if_ gives.
///
///   auto y = tl::if_(n > 0, [&] { return tl::load(x); }, [&] { return tl::zeros<float>({}); });
template <class Then, class Else>
auto if_(const Operand& condition, const Then& then, const Else& otherwise) {
  using Carry = typename detail::carry_of_result<std::decay_t<std::invoke_result_t<const Then&>>>::type;
  return Carry::unpack(detail::trace_if(
      condition, [&](const detail::Values&) { return detail::values_of(then); },
      [&](const detail::Values&) { return detail::values_of(otherwise); }));
}
template <class Then>
void if_(const Operand& condition, const Then& then) {
  if_(condition, [&] { then(); }, [] {});
}

/// Ends the program here if the scalar bool holds. Stands at the level of the kernel, not inside another body.
STRIDER_API void return_if(const Operand& condition);

/// The axis folded by `combine(a, b)`, which must be associative.
template <class F>
Value reduce(const Operand& x, int axis, const F& combine) {
  return detail::trace_fold(false, {x.value}, axis, [&](const detail::Values& p) {
    return detail::values_of(combine, p[0], p[1]);
  }, x.where)[0];
}
template <class F>
Value scan(const Operand& x, int axis, const F& combine) {
  return detail::trace_fold(true, {x.value}, axis, [&](const detail::Values& p) {
    return detail::values_of(combine, p[0], p[1]);
  }, x.where)[0];
}
/// Several tiles at once: `combine(a0.., b0..)` returns a tuple.
///
///   auto [m, i] = tl::reduce(std::array{value, index}, 0, [](auto v, auto i, auto w, auto j) { ... return std::tuple{..}; });
template <size_t N, class F>
std::array<Value, N> reduce(const std::array<Value, N>& tiles, int axis, const F& combine, Place where = Place::current()) {
  auto body = [&](const detail::Values& p) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return detail::values_of(combine, p[I]...);
    }(std::make_index_sequence<2 * N>());
  };
  detail::Values folded = detail::trace_fold(false, {tiles.begin(), tiles.end()}, axis, body, where);
  std::array<Value, N> result;
  std::copy_n(folded.begin(), N, result.begin());
  return result;
}

// Everything of strider/value.h under its name here, too.
#define STRIDER_OP(id, text, least, most, result, traits)
#define STRIDER_FN(id, name, least, most, result, traits) using strider::name;
#include <strider/ops.def>
using strider::bitcast;
using strider::cast;
using strider::cdiv;
using strider::clamp;
using strider::fmod;
using strider::logical_and;
using strider::logical_not;
using strider::logical_or;
using strider::logical_xor;
using strider::rint;
using strider::where;

}  // namespace tl

}  // namespace v0
}  // namespace strider
