// SPDX-License-Identifier: Apache-2.0
// The tracing DSL: values of a function that is being written down.
//
//   auto gelu = st::pointwise("gelu", [](auto x) { return 0.5 * x * (1.0 + st::erf(x * M_SQRT1_2)); });
//
// The C++ code of an operator or a kernel runs once, on Values instead of numbers, and every operation on a Value adds a
// node to the program under construction. A Value is a small handle: a node, or a literal that has no dtype yet.
// In an operator values are scalars; in a kernel (strider/tile.h) they are scalars or tiles, and shapes broadcast as in
// NumPy, aligned at the last axis.
//
// Dtypes. Literals are weak: they take the dtype of what they meet, unless their category (bool < integer < float) is
// higher; then an integer literal is i32 (i64, u64 when it does not fit) and a float literal f32, or in an operator that
// computes in another dtype of their category, that one. An integer literal outside the range of its dtype is an error.
// Between values: the higher category wins; in a category the wider dtype; f16 with bf16 gives f32. Integers of different
// signedness give the unsigned dtype if it is at least as wide in kernels (Triton's rule), and the signed dtype that holds
// both in operators (PyTorch's).
// `/` is true division: integers are converted to floats first (div rounds toward zero, floor_div down). `%` has the
// dividend's sign.
// `& | ^ ~` are bitwise, and logical on bool; && and || do not compile, nor does a Value as a condition: use where.
//
// Every function also takes plain numbers and then computes plainly in double, so that an operator's generic lambda is its
// own reference.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <type_traits>

#include <strider/dims.h>
#include <strider/dtype.h>

namespace strider {
inline namespace v0 {

class Value;
class Operand;

namespace detail {

/// The ops by number, as compiled programs hold them.
enum class OpId : uint8_t {
#define STRIDER_OP(number, id, text, least, most, result, traits) id = number,
#include <strider/ops.def>
};

template <class T>
concept Number = std::is_arithmetic_v<T>;
template <class...>
inline constexpr bool never = false;

/// What a Value holds: nothing, a node of the trace with a serial number, or a literal.
struct Handle {
  enum Kind : uint8_t { Empty, Node, Bool, Int, Unsigned, Float };  // Unsigned: a literal above the range of i64
  Kind kind = Empty;
  uint32_t node = 0;
  uint64_t bits = 0;  // the trace's serial number, or the literal's bits
  uint32_t body = 0;  // of a node: the body that it was handed out in
};
STRIDER_API Handle literal(bool value);
STRIDER_API Handle literal(int64_t value);
STRIDER_API Handle literal(uint64_t value);
STRIDER_API Handle literal(double value);

STRIDER_API Value apply(OpId op, const Operand& a);
STRIDER_API Value apply(OpId op, const Operand& a, const Operand& b);
STRIDER_API Value apply(OpId op, const Operand& a, const Operand& b, const Operand& c);
STRIDER_API Value true_divide(const Operand& a, const Operand& b);
STRIDER_API Value ceil_division(const Operand& a, const Operand& b);
/// The same op on plain doubles; of a bool, 0 or 1.
STRIDER_API double evaluate(OpId op, double a, double b = 0, double c = 0);

/// The serial number of the innermost body that is being traced, 0 outside of bodies: where a Value is born.
STRIDER_API uint64_t birthplace();
/// An assignment to a Value: the bodies that it was not born in carry it.
STRIDER_API void note_assignment(Value& value);
/// A Value that some body assigned is destroyed.
STRIDER_API void note_end(Value& value);
struct ValueState;

template <Number T>
Handle literal_of(T value) {
  if constexpr (std::same_as<T, bool>) return literal(value);
  else if constexpr (std::floating_point<T>) return literal(static_cast<double>(value));
  else if constexpr (std::is_signed_v<T>) return literal(static_cast<int64_t>(value));
  else return literal(static_cast<uint64_t>(value));
}

}  // namespace detail

namespace tl {
/// A compile-time integer of a kernel: every value is its own specialisation. Usable as an int, for example as a tile size.
/// Its name is given by the kernel's options, or use Const<"NAME">.
struct Constexpr {
  int64_t value = 0;
  constexpr operator int64_t() const { return value; }
};

}  // namespace tl

namespace detail {
template <class T>
concept StaticInt = std::integral<T> || std::derived_from<T, tl::Constexpr>;
}

namespace tl {
/// One axis of a subscript: `x[{colon, newaxis}]` is NumPy's x[:, None].
enum Axis : uint8_t { colon, newaxis };
/// A subscript, and where it was written.
struct Subscript {
  Subscript(std::initializer_list<Axis> list, std::source_location place = std::source_location::current())
      : axes(list), where(place) {}
  std::initializer_list<Axis> axes;  // lives as long as the subscript's expression
  std::source_location where;
};
}  // namespace tl

/// A value keeps the place of its birth: an assignment in a body (of if_, range, while_) to one that was born outside is carried
/// by the loop, or merged after the branch (strider/tile.h).
class Value {
 public:
  /// No value: leaves an optional argument out.
  Value() = default;
  Value(const Value& other) : handle_(other.handle_) {}
  Value& operator=(const Value& other) {
    detail::note_assignment(*this);
    handle_ = other.handle_;
    return *this;
  }
  ~Value() {
    if (assigned_) detail::note_end(*this);
  }
  template <detail::Number T>
  Value(T number) : handle_(detail::literal_of(number)) {}
  Value(tl::Constexpr constant) : handle_(detail::literal(constant.value)) {}
  explicit Value(const detail::Handle& handle) : handle_(handle) {}

  bool is_empty() const { return handle_.kind == detail::Handle::Empty; }
  bool is_literal() const { return handle_.kind > detail::Handle::Node; }
  /// The element type; a literal has the one it would get on its own.
  STRIDER_API DType dtype() const;
  /// The shape of a tile; a scalar has none.
  STRIDER_API Dims shape() const;
  STRIDER_API Value to(DType dtype, std::source_location where = std::source_location::current()) const;
  template <class T>
  Value to(std::source_location where = std::source_location::current()) const {
    return to(dtype_of<T>, where);
  }
  /// Axes of size 1 inserted at each `newaxis`; axes that are not named stay. A user error for more colons than axes.
  STRIDER_API Value operator[](const tl::Subscript& subscript) const;
  const detail::Handle& handle() const { return handle_; }

  friend Value operator+(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Add, a, b); }
  friend Value operator-(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Sub, a, b); }
  friend Value operator*(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Mul, a, b); }
  friend Value operator/(const Operand& a, const Operand& b) { return detail::true_divide(a, b); }
  friend Value operator%(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Rem, a, b); }
  friend Value operator&(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::And, a, b); }
  friend Value operator|(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Or, a, b); }
  friend Value operator^(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Xor, a, b); }
  friend Value operator<<(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Shl, a, b); }
  friend Value operator>>(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Shr, a, b); }
  friend Value operator==(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Eq, a, b); }
  friend Value operator!=(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Ne, a, b); }
  friend Value operator<(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Lt, a, b); }
  friend Value operator<=(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Le, a, b); }
  friend Value operator>(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Gt, a, b); }
  friend Value operator>=(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::Ge, a, b); }
  friend Value operator-(const Operand& a) { return detail::apply(detail::OpId::Neg, a); }
  friend Value operator~(const Operand& a) { return detail::apply(detail::OpId::Not, a); }
  Value operator+() const { return *this; }
  Value& operator+=(const Operand& b);
  Value& operator-=(const Operand& b);
  Value& operator*=(const Operand& b);
  Value& operator/=(const Operand& b);
  Value& operator%=(const Operand& b);
  Value& operator&=(const Operand& b);
  Value& operator|=(const Operand& b);
  Value& operator^=(const Operand& b);
  Value& operator<<=(const Operand& b);
  Value& operator>>=(const Operand& b);

  template <class T = void>
  explicit operator bool() const {
    static_assert(detail::never<T>, "a tile is no condition: use where(condition, a, b), or tl::if_ on a scalar");
    return false;
  }
  template <class B>
  friend Value operator&&(const Value& a, const B&) {
    static_assert(detail::never<B>, "&& cannot join masks: use a & b");
    return a;
  }
  template <class A>
    requires(!std::derived_from<A, Value>)
  friend Value operator&&(const A&, const Value& b) {
    static_assert(detail::never<A>, "&& cannot join masks: use a & b");
    return b;
  }
  template <class B>
  friend Value operator||(const Value& a, const B&) {
    static_assert(detail::never<B>, "|| cannot join masks: use a | b");
    return a;
  }
  template <class A>
    requires(!std::derived_from<A, Value>)
  friend Value operator||(const A&, const Value& b) {
    static_assert(detail::never<A>, "|| cannot join masks: use a | b");
    return b;
  }
  template <class T = void>
  Value operator!() const {
    static_assert(detail::never<T>, "! cannot invert a mask: use ~mask");
    return *this;
  }

 private:
  friend struct detail::ValueState;

  detail::Handle handle_;
  uint64_t born_ = detail::birthplace();
  bool assigned_ = false;  // in some body that it was not born in
};

/// An argument of an operation, with the place in the user's source where it was passed.
class Operand {
 public:
  template <class T>
    requires std::convertible_to<const T&, Value>
  Operand(const T& value, std::source_location where = std::source_location::current()) : value(value), where(where) {}

  Value value;
  std::source_location where;
};

#define STRIDER_ASSIGN(op, function, ...)                             \
  inline Value& Value::operator op##=(const Operand& b) {             \
    return *this = detail::function(__VA_ARGS__ Operand(*this, b.where), b); \
  }
#define STRIDER_ID(id) detail::OpId::id,
STRIDER_ASSIGN(+, apply, STRIDER_ID(Add))
STRIDER_ASSIGN(-, apply, STRIDER_ID(Sub))
STRIDER_ASSIGN(*, apply, STRIDER_ID(Mul))
STRIDER_ASSIGN(/, true_divide)
STRIDER_ASSIGN(%, apply, STRIDER_ID(Rem))
STRIDER_ASSIGN(&, apply, STRIDER_ID(And))
STRIDER_ASSIGN(|, apply, STRIDER_ID(Or))
STRIDER_ASSIGN(^, apply, STRIDER_ID(Xor))
STRIDER_ASSIGN(<<, apply, STRIDER_ID(Shl))
STRIDER_ASSIGN(>>, apply, STRIDER_ID(Shr))
#undef STRIDER_ASSIGN
#undef STRIDER_ID

// One function for each STRIDER_FN row of ops.def, and the same on doubles.
#define STRIDER_OP(number, id, text, least, most, result, traits)
#define STRIDER_FN(number, id, name, least, most, result, traits) STRIDER_FN_##most(id, name, STRIDER_PLAIN_##result)
#define STRIDER_PLAIN_Same double
#define STRIDER_PLAIN_Bool bool
#define STRIDER_FN_1(id, name, Plain)                                                   \
  inline Value name(const Operand& a) { return detail::apply(detail::OpId::id, a); } \
  inline Plain name(double a) { return static_cast<Plain>(detail::evaluate(detail::OpId::id, a)); }
#define STRIDER_FN_2(id, name, Plain)                                                                            \
  inline Value name(const Operand& a, const Operand& b) { return detail::apply(detail::OpId::id, a, b); } \
  inline Plain name(double a, double b) { return detail::evaluate(detail::OpId::id, a, b); }
#define STRIDER_FN_3(id, name, Plain)                                                   \
  inline Value name(const Operand& a, const Operand& b, const Operand& c) {      \
    return detail::apply(detail::OpId::id, a, b, c);                             \
  }                                                                              \
  inline Plain name(double a, double b, double c) { return detail::evaluate(detail::OpId::id, a, b, c); }
#include <strider/ops.def>
#undef STRIDER_FN_1
#undef STRIDER_FN_2
#undef STRIDER_FN_3
#undef STRIDER_PLAIN_Same
#undef STRIDER_PLAIN_Bool

/// `a` where the condition holds, else `b`; both are computed.
STRIDER_API Value where(const Operand& condition, const Operand& a, const Operand& b);
inline double where(bool condition, double a, double b) { return condition ? a : b; }

/// The dtype of a value while it is traced; that of a number is f64.
inline DType dtype(const Value& value) { return value.dtype(); }
inline DType dtype(double) { return DType::F64; }

/// The value converted: floats round, floats to integers truncate, integers wrap, to bool asks for != 0.
inline Value cast(const Operand& a, DType dtype) { return a.value.to(dtype, a.where); }
STRIDER_API double cast(double a, DType dtype);
/// The same bits as another dtype of that width.
STRIDER_API Value bitcast(const Operand& a, DType dtype);

/// C's names of rem and round.
inline Value fmod(const Operand& a, const Operand& b) { return rem(a, b); }
inline double fmod(double a, double b) { return rem(a, b); }
inline Value rint(const Operand& a) { return round(a); }
inline double rint(double a) { return round(a); }

/// Of truth values: whatever is not zero, NaN included, is true. The result is bool; `& | ^ ~` are bitwise on integers.
inline Value logical_not(const Operand& a) { return ~cast(a, DType::Bool); }
inline Value logical_and(const Operand& a, const Operand& b) {
  return Operand(cast(a, DType::Bool), a.where) & cast(b, DType::Bool);
}
inline Value logical_or(const Operand& a, const Operand& b) {
  return Operand(cast(a, DType::Bool), a.where) | cast(b, DType::Bool);
}
inline Value logical_xor(const Operand& a, const Operand& b) {
  return Operand(cast(a, DType::Bool), a.where) ^ cast(b, DType::Bool);
}
inline bool logical_not(double a) { return a == 0; }
inline bool logical_and(double a, double b) { return a != 0 && b != 0; }
inline bool logical_or(double a, double b) { return a != 0 || b != 0; }
inline bool logical_xor(double a, double b) { return (a != 0) != (b != 0); }

/// Integer quotients rounded up; floor_div rounds down, div toward zero. By zero: 0.
inline Value cdiv(const Operand& a, const Operand& b) { return detail::ceil_division(a, b); }
template <detail::StaticInt A, detail::StaticInt B>
constexpr int64_t cdiv(A a, B b) {
  int64_t n = static_cast<int64_t>(a), d = static_cast<int64_t>(b);
  if (d == 0) return 0;
  if (d == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(n));
  int64_t q = n / d;
  return q + (n % d != 0 && (n % d < 0) == (d < 0));
}

/// minimum(maximum(x, low), high): NaN passes, and `high` wins over `low`.
inline Value clamp(const Operand& x, const Operand& low, const Operand& high) {
  return minimum(Operand(maximum(x, low), x.where), high);
}
inline double clamp(double x, double low, double high) { return minimum(maximum(x, low), high); }

}  // namespace v0
}  // namespace strider
