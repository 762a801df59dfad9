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
// if_, range, while_ and return_if; C++'s own `for` unrolls. Their bodies assign to values and pointers from outside, as in Triton,
// or return what they compute. A body runs up to three times while it is traced; what it leaves in other C++ variables must not
// change what it writes.
// A value made inside such a body lives there: assign or return it to use it after.
//
// C++ leaves open in which order it evaluates the arguments of a function and the operands of `+`: where the order of loads,
// stores and atomics matters, give each a statement of its own.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <strider/effects.h>
#include <strider/random.h>
#include <strider/value.h>

namespace strider {
inline namespace v0 {

namespace detail {

/// While it lives, integer operations of the current trace may wrap.
class Wrapping {
 public:
  STRIDER_API Wrapping();
  STRIDER_API ~Wrapping();
  Wrapping(const Wrapping&) = delete;
  Wrapping& operator=(const Wrapping&) = delete;

 private:
  void* trace_;
  bool before_;
};

using Values = std::vector<Value>;
using Body = std::function<Values(const Values&)>;
using Place = std::source_location;

STRIDER_API Value ptr_add(const Value& pointer, const Operand& offset, bool subtract);
STRIDER_API Values trace_for(const Operand& lo, const Operand& hi, const Operand& step, const Values& carried, const Body& body);
STRIDER_API Values trace_while(const Values& carried, const Body& condition, const Body& body, Place where);
STRIDER_API Values trace_if(const Operand& condition, const Body& then, const Body& otherwise);
/// Without an axis: over all of them.
STRIDER_API Values trace_reduce(const Values& tiles, std::optional<int> axis, bool keep_dims, const Body& combine, Place where);
STRIDER_API Values trace_scan(const Values& tiles, int axis, bool reverse, const Body& combine, Place where);

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
  Ptr& operator-=(const Operand& offset) { return *this = *this - offset; }
  /// A tile of pointers with new axes: `(x + i)[{colon, newaxis}]`.
  Ptr operator[](const Subscript& subscript) const { return Ptr(raw()[subscript]); }
};

/// A run-time number given at the launch, of a fixed dtype.
template <DType D>
struct Scalar : Value {
  explicit Scalar(const Value& value) : Value(value) {}
  Scalar(const Scalar&) = default;
  Scalar& operator=(const Scalar&) = default;
  using Value::operator=;
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
using f16 = Scalar<DType::F16>;
using bf16 = Scalar<DType::BF16>;
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
/// The same as trans, with the axes required.
STRIDER_API Value permute(const Operand& x, const Dims& axes);
/// All elements in row-major order, as one axis.
STRIDER_API Value ravel(const Operand& x);
/// Both values in the shape that they broadcast to; their dtypes stay.
STRIDER_API std::pair<Value, Value> broadcast(const Operand& a, const Operand& b);
/// Tiles of the shape and dtype of `x`.
STRIDER_API Value zeros_like(const Operand& x);
STRIDER_API Value full_like(const Operand& x, const Operand& value);

/// The elements of `a` and `b` side by side along a new last axis of size 2. They broadcast to one shape, of the common dtype.
STRIDER_API Value join(const Operand& a, const Operand& b);
/// The two halves of a last axis of size 2, which is removed: the inverse of join.
STRIDER_API std::array<Value, 2> split(const Operand& x);
/// join, with the two elements of each pair one after the other along the last axis: a0, b0, a1, b1, ...
STRIDER_API Value interleave(const Operand& a, const Operand& b);
/// `a` and then `b`, of one shape, along the axis; the dtype is the common one.
STRIDER_API Value cat(const Operand& a, const Operand& b, int axis = 0);
/// The elements in the opposite order along the axis.
STRIDER_API Value flip(const Operand& x, int axis = -1);
/// Element index[..i..] along the axis, for each lane of `index`: integers, in the shape of `x` but for the axis (it broadcasts
/// along the others). An index out of range gives 0.
STRIDER_API Value gather(const Operand& x, const Operand& index, int axis);

/// The numbers of a loop that unrolls: each is a constant, usable where a tl::Constexpr is.
///
///   for (auto k : tl::static_range(0, WIDTH, 2)) acc = acc + tl::load(x + k + lanes);
class StaticRange {
 public:
  class Iterator {
   public:
    Iterator(uint64_t value, uint64_t step, uint64_t left) : value_(value), step_(step), left_(left) {}
    Constexpr operator*() const { return {static_cast<int64_t>(value_)}; }
    Iterator& operator++() { return value_ += step_, --left_, *this; }
    bool operator!=(const Iterator& end) const { return left_ != end.left_; }

   private:
    uint64_t value_, step_, left_;  // unsigned: the last step may leave the range of i64
  };
  StaticRange(int64_t begin, int64_t end, int64_t step) : begin_(begin), step_(step) {
    auto distance = [](int64_t from, int64_t to) { return from < to ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from) : 0; };
    uint64_t span = step > 0 ? distance(begin, end) : distance(end, begin), stride = step > 0 ? step_ : 0 - step_;
    count_ = span / stride + (span % stride != 0);
  }
  Iterator begin() const { return {begin_, step_, count_}; }
  Iterator end() const { return {begin_, step_, 0}; }

 private:
  uint64_t begin_, step_, count_;
};
/// begin, begin + step, ... below the end, or above it if the step is negative. A step of 0 is an error.
STRIDER_API StaticRange static_range(int64_t begin, int64_t end, int64_t step = 1, Place where = Place::current());
inline StaticRange static_range(int64_t end) { return {0, end, 1}; }
template <class... A>
  requires(std::derived_from<A, Value> || ...)
StaticRange static_range(const A&...) {
  static_assert(detail::never<A...>, "the bounds of static_range are constants (tl::Constexpr); tl::range takes run-time ones");
  return {0, 0, 1};
}

// ---- memory

/// The elements at the pointers. A lane whose mask is false reads no memory and gives `other`, or zero without one.
STRIDER_API Value load(const Pointer& p, const Value& mask = {}, const Value& other = {}, Place where = Place::current());
/// Writes the elements; a lane whose mask is false writes nothing. A value is widened to the pointer's dtype where nothing
/// can be lost; else say what is meant with .to().
STRIDER_API void store(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());

// ---- atomics. Each lane changes its element in one indivisible step, in no stated order, and gets the old element; a lane whose
// mask is false touches no memory and gets zero. Pointer, value and mask may be scalars or tiles; the last two are broadcast to
// the pointer, and the value is widened as for store. They are relaxed: they order no other access, so no lock is built of them.
// Programs that touch an element by atomics alone do not race. A user error names a dtype that the kind does not take.

/// old + value: integers, which wrap, and floats, whose sum depends on the order.
STRIDER_API Value atomic_add(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());
/// The larger or smaller one: integers and floats, by the rules of `maximum` and `minimum`: NaN stays, -0 is below +0.
STRIDER_API Value atomic_max(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());
STRIDER_API Value atomic_min(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());
/// Bit by bit: integers and bool.
STRIDER_API Value atomic_and(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());
STRIDER_API Value atomic_or(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());
STRIDER_API Value atomic_xor(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());
/// The value in place of the old element: any dtype.
STRIDER_API Value atomic_xchg(const Pointer& p, const Value& value, const Value& mask = {}, Place where = Place::current());
/// The value where the old element has the bits of `compare`, else the old element: any dtype. Bits: a NaN equals itself, -0
/// and +0 differ; of bools, truth.
STRIDER_API Value atomic_cas(const Pointer& p, const Value& compare, const Value& value, const Value& mask = {},
                             Place where = Place::current());

// ---- hints: promises that change no result. The tile interpreter reports a broken one as misuse; elsewhere it has no meaning.

/// The condition, a scalar or a tile of bool, holds (in every lane).
STRIDER_API void assume(const Operand& condition);
/// The first element of every run of consecutive ones along an axis is a multiple of that axis' number; of pointers, in bytes.
/// Integers and pointers; one number for each axis, one for a scalar. Gives x. Lowering uses it for scalars: their divisibility
/// and alignment.
STRIDER_API Value multiple_of(const Operand& x, const Dims& numbers);
/// Along each axis, every n elements, from a multiple of n on, are consecutive.
STRIDER_API Value max_contiguous(const Operand& x, const Dims& numbers);
/// Along each axis, every n elements, from a multiple of n on, are equal: any dtype.
STRIDER_API Value max_constancy(const Operand& x, const Dims& numbers);
inline Value multiple_of(const Operand& x, int64_t n) { return multiple_of(x, Dims{n}); }
inline Value max_contiguous(const Operand& x, int64_t n) { return max_contiguous(x, Dims{n}); }
inline Value max_constancy(const Operand& x, int64_t n) { return max_constancy(x, Dims{n}); }
template <std::derived_from<Pointer> P>
P multiple_of(const P& p, int64_t n, Place where = Place::current()) {
  return P(multiple_of(Operand(p.raw(), where), Dims{n}));
}
template <std::derived_from<Pointer> P>
P max_contiguous(const P& p, int64_t n, Place where = Place::current()) {
  return P(max_contiguous(Operand(p.raw(), where), Dims{n}));
}

/// Tiles of pointers move their lanes as other tiles do.
template <std::derived_from<Pointer> P>
P broadcast_to(const P& p, const Dims& shape, Place where = Place::current()) {
  return P(broadcast_to(Operand(p.raw(), where), shape));
}
template <std::derived_from<Pointer> P>
P expand_dims(const P& p, int axis, Place where = Place::current()) {
  return P(expand_dims(Operand(p.raw(), where), axis));
}
template <std::derived_from<Pointer> P>
P reshape(const P& p, const Dims& shape, Place where = Place::current()) {
  return P(reshape(Operand(p.raw(), where), shape));
}
template <std::derived_from<Pointer> P>
P ravel(const P& p, Place where = Place::current()) {
  return P(ravel(Operand(p.raw(), where)));
}
template <std::derived_from<Pointer> P>
P trans(const P& p, const Dims& axes = {}, Place where = Place::current()) {
  return P(trans(Operand(p.raw(), where), axes));
}
template <std::derived_from<Pointer> P>
P permute(const P& p, const Dims& axes, Place where = Place::current()) {
  return P(permute(Operand(p.raw(), where), axes));
}

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
inline constexpr bool reverse = true;
inline constexpr bool descending = true;
inline constexpr bool smallest = false;

struct AllAxes {};
inline constexpr AllAxes all_axes;
/// The axis that a reduction folds: a number, negative ones counted from the last, or all of them, the last one first.
class FoldAxis {
 public:
  template <detail::StaticInt T>
  FoldAxis(T axis) : axis_(static_cast<int>(std::clamp<int64_t>(static_cast<int64_t>(axis), INT32_MIN, INT32_MAX))) {}
  FoldAxis(AllAxes) {}
  std::optional<int> number() const { return axis_; }

 private:
  std::optional<int> axis_;
};

/// What the largest and the smallest of several elements are if one is NaN: NaN, or that of the others.
enum class nan : uint8_t { carry, drop };
/// Which one of equal elements is meant: that of the lowest index, or of the highest.
enum class tie : uint8_t { lowest, highest };

/// clamp with a choice: with nan::carry NaN passes, with nan::drop it counts as absent, so that NaN gives `low`.
STRIDER_API Value clamp(const Operand& x, const Operand& low, const Operand& high, nan nans);

struct SumOptions {
  bool keep_dims = false;              // the folded axis stays, with size 1
  std::optional<DType> dtype = {};     // elements are converted to it first
};
struct ExtremeOptions {
  bool keep_dims = false;
  nan nans = nan::carry;
  tie ties = tie::lowest;              // of indices
};

/// The sum and the product of the elements along one axis, which is removed or kept with size 1, or along all axes. Bool and
/// integers narrower than 32 bits are folded as i32 or u32, floats in their dtype; `dtype` says another one.
/// The order of the fold is fixed (docs/ir.md), so every engine gives the same bits.
STRIDER_API Value sum(const Operand& x, FoldAxis axis = all_axes, const SumOptions& options = {});
STRIDER_API Value prod(const Operand& x, FoldAxis axis = all_axes, const SumOptions& options = {});
/// The largest and the smallest element, of any dtype, which is kept; -0 is below +0. They carry NaN, or drop it with
/// {.nans = tl::nan::drop}.
STRIDER_API Value max(const Operand& x, FoldAxis axis = all_axes, const ExtremeOptions& options = {});
STRIDER_API Value min(const Operand& x, FoldAxis axis = all_axes, const ExtremeOptions& options = {});
/// The index of the largest or smallest element along the axis (in row-major order over all axes), an i32. Of equal elements, as
/// -0 and +0 are, that of the lowest index, or the highest with {.ties = tl::tie::highest}. A NaN is found before any number;
/// with nan::drop, among NaNs only.
STRIDER_API Value argmax(const Operand& x, FoldAxis axis, const ExtremeOptions& options = {});
STRIDER_API Value argmin(const Operand& x, FoldAxis axis, const ExtremeOptions& options = {});
/// Both: {element, index}.
STRIDER_API std::array<Value, 2> max_with_indices(const Operand& x, FoldAxis axis, const ExtremeOptions& options = {});
STRIDER_API std::array<Value, 2> min_with_indices(const Operand& x, FoldAxis axis, const ExtremeOptions& options = {});
/// Whether some or all elements are not zero (NaN is not), as bool.
STRIDER_API Value any(const Operand& x, FoldAxis axis = all_axes, bool keep_dims = false);
STRIDER_API Value all(const Operand& x, FoldAxis axis = all_axes, bool keep_dims = false);
/// The exclusive or of integers or bools, in their dtype.
STRIDER_API Value xor_sum(const Operand& x, FoldAxis axis = all_axes, bool keep_dims = false);

inline Value sum(const Operand& x, FoldAxis axis, bool keep) { return sum(x, axis, SumOptions{.keep_dims = keep}); }
inline Value prod(const Operand& x, FoldAxis axis, bool keep) { return prod(x, axis, SumOptions{.keep_dims = keep}); }
inline Value max(const Operand& x, FoldAxis axis, bool keep) { return max(x, axis, ExtremeOptions{.keep_dims = keep}); }
inline Value min(const Operand& x, FoldAxis axis, bool keep) { return min(x, axis, ExtremeOptions{.keep_dims = keep}); }

/// Running sums and products along an axis: element i is that of elements 0..i, or with tl::reverse of i..n-1. cumsum has the
/// dtypes of sum, cumprod keeps its own; but bf16 runs in f32 in both, and bool in i32.
STRIDER_API Value cumsum(const Operand& x, int axis = 0, bool reverse = false, std::optional<DType> dtype = {});
STRIDER_API Value cumprod(const Operand& x, int axis = 0, bool reverse = false);

// ---- of whole tiles

/// The elements in rising order along the axis, or falling with tl::descending; up to 4096 along the axis, of any dtype.
/// NaN counts as the largest, -0 is below +0.
STRIDER_API Value sort(const Operand& x, int axis = -1, bool descending = false);
/// The k largest elements along the axis, falling, or with tl::smallest the k smallest, rising. NaN counts as the largest.
STRIDER_API Value topk(const Operand& x, int64_t k, int axis = -1, bool largest = true);
/// Both: {elements, i32 indices along the axis}. Equal elements come in rising order of their indices.
STRIDER_API std::array<Value, 2> topk_with_indices(const Operand& x, int64_t k, int axis = -1, bool largest = true);
/// How many elements of an integer tile are 0, 1, ..., bins - 1, as an i32 tile of `bins` (up to 4096) elements. Others are not
/// counted, nor are lanes whose mask is false.
STRIDER_API Value histogram(const Operand& x, int64_t bins, const Value& mask = {});
/// acc + a b, of tiles [m, k] and [k, n] of one dtype: f16, bf16 and f32 in f32, f64 in f64, integers below 32 bits in i32.
/// Products are added by fma, in the order of k. `acc` broadcasts to [m, n]; the result is converted to out_dtype.
STRIDER_API Value dot(const Operand& a, const Operand& b, const Value& acc = {}, std::optional<DType> out_dtype = {});

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
    if constexpr (sizeof...(C) == 0 && !std::invocable<F&, const First&...>) return values_of(f);
    else
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

/// A combine function of N tiles' elements, those of the lower index first, as a body.
template <size_t N, class F>
Body pairwise(const F& combine) {
  return [&combine](const Values& p) {
    return [&]<size_t... I>(std::index_sequence<I...>) { return values_of(combine, p[I]...); }(std::make_index_sequence<2 * N>());
  };
}
template <size_t N>
std::array<Value, N> first_of(const Values& values) {
  std::array<Value, N> result;
  std::copy_n(values.begin(), N, result.begin());
  return result;
}

template <class Tuple, size_t... I>
auto carry_front(const Tuple& all, std::index_sequence<I...>) {
  return std::pair(Carry<carried_t<std::tuple_element_t<I, Tuple>>...>(), Values{to_raw(std::get<I>(all))...});
}

}  // namespace detail

namespace tl {

/// A loop: range(lo, hi, step, body), counting down if the step is negative; body is called with i, or without arguments.
/// Values and pointers from outside that it assigns are carried from one iteration to the next, and hold the last ones after it.
/// They keep their dtype and shape; literals have the dtype that they have alone. A literal step of 0 is an error; at run time,
/// a step of 0 or of the least number of its dtype gives no iteration, and the interpreter reports it.
///
///   auto acc = tl::zeros<float>({BLOCK});
///   tl::range(0, n, BLOCK, [&](auto i) { acc += tl::load(x + i + lanes); });
///
/// Values may also be carried explicitly: range(lo, hi, step, carried..., body). `body(i, carried...)` returns those of the next
/// iteration, as a tuple if there are several; the loop gives the last ones.
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

/// A loop while a scalar bool holds: while_(carried..., condition, body), both called with the carried values. The body may assign,
/// as in range; the condition may not.
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

/// Runs one of two bodies, by a scalar bool. What one of them assigns to a value from outside, that value holds afterwards; if the
/// other one does not, it keeps the old one there. Both return values of the same types, which if_ gives.
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

/// An axis, or all of them, folded by `combine(a, b)` on scalars, which returns one. The order is fixed (docs/ir.md), and not
/// that of the indices: combine should be associative and commutative. The folded axis is removed, or kept with size 1.
template <class F>
Value reduce(const Operand& x, FoldAxis axis, const F& combine, bool keep_dims = false) {
  return detail::trace_reduce({x.value}, axis.number(), keep_dims, detail::pairwise<1>(combine), x.where)[0];
}
/// Several tiles of one shape at once: `combine(a0.., b0..)` returns a tuple.
///
///   auto [m, i] = tl::reduce(std::array{value, index}, 0, [](auto v, auto i, auto w, auto j) { ... return std::tuple{..}; });
template <size_t N, class F>
std::array<Value, N> reduce(const std::array<Value, N>& tiles, FoldAxis axis, const F& combine, bool keep_dims = false,
                            Place where = Place::current()) {
  return detail::first_of<N>(
      detail::trace_reduce({tiles.begin(), tiles.end()}, axis.number(), keep_dims, detail::pairwise<N>(combine), where));
}

/// Running folds along an axis: element i is the fold of elements 0..i, or with tl::reverse of n-1..i, the earlier ones on the
/// left. combine must be associative.
template <class F>
Value associative_scan(const Operand& x, int axis, const F& combine, bool reverse = false) {
  return detail::trace_scan({x.value}, axis, reverse, detail::pairwise<1>(combine), x.where)[0];
}
template <size_t N, class F>
std::array<Value, N> associative_scan(const std::array<Value, N>& tiles, int axis, const F& combine, bool reverse = false,
                                      Place where = Place::current()) {
  return detail::first_of<N>(
      detail::trace_scan({tiles.begin(), tiles.end()}, axis, reverse, detail::pairwise<N>(combine), where));
}

/// What `f` returns; integer operations that it writes wrap on purpose (hashes, random numbers), and the interpreter's lint of overflow
/// leaves them alone.
template <class F>
auto wrapping(const F& f) {
  detail::Wrapping scope;
  return f();
}

// Everything of strider/value.h under its name here, too.
#define STRIDER_OP(number, id, text, least, most, result, traits)
#define STRIDER_FN(number, id, name, least, most, result, traits) using strider::name;
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
