// SPDX-License-Identifier: Apache-2.0
// The meanings stand in `Meaning`, one small class per op. Everything below them turns 64-bit elements into C++ values and
// fills a table of loops, one per op and dtype.
#include "ir/semantics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/float16.h"

namespace strider::ir {
namespace {

// --- elements: the C++ type that stores each dtype, and the one it computes in

using AllStorage = std::tuple<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, Half, BFloat16,
                              float, double>;
static_assert(std::tuple_size_v<AllStorage> == kDTypeCount);

template <int dtype>
using StorageAt = std::tuple_element_t<dtype, AllStorage>;

template <class S>
concept Float16 = std::same_as<S, Half> || std::same_as<S, BFloat16>;
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept Real = std::floating_point<T>;
template <class T>
concept Number = Integer<T> || Real<T>;
template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;  // and bool

/// An element as it lies in memory, for ops that must keep its bits.
template <class S>
struct Raw {
  uint64_t bits;
};
template <class S>
inline constexpr uint64_t kSignBit = uint64_t{1} << (8 * sizeof(S) - 1);

template <class S>
auto decode(uint64_t bits) {
  if constexpr (std::same_as<S, Half>) return float_of_half(static_cast<uint16_t>(bits));
  else if constexpr (std::same_as<S, BFloat16>) return float_of_bfloat16(static_cast<uint16_t>(bits));
  else if constexpr (std::same_as<S, float>) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else if constexpr (std::same_as<S, double>) return std::bit_cast<double>(bits);
  else if constexpr (std::same_as<S, bool>) return bits != 0;
  else return static_cast<S>(bits);
}

template <class S>
using Compute = decltype(decode<S>(0));

template <class S, class T>
uint64_t encode(T value) {
  if constexpr (std::same_as<S, Half>) return half_of(value);
  else if constexpr (std::same_as<S, BFloat16>) return bfloat16_of(value);
  else if constexpr (std::same_as<S, float>) return std::bit_cast<uint32_t>(static_cast<float>(value));
  else if constexpr (std::same_as<S, double>) return std::bit_cast<uint64_t>(static_cast<double>(value));
  else if constexpr (std::same_as<S, bool>) return value != 0;
  else return static_cast<std::make_unsigned_t<S>>(value);
}

// --- helpers of the meanings

uint64_t wide(Integer auto x) { return static_cast<uint64_t>(x); }

template <Integer T>
bool is_minus_one(T x) {
  return std::is_signed_v<T> && x == static_cast<T>(-1);
}

/// The amount of a shift, or the width when that is smaller; a negative amount counts as a huge one.
template <Integer T>
int shift_amount(T amount) {
  return static_cast<int>(std::min<uint64_t>(static_cast<std::make_unsigned_t<T>>(amount), 8 * sizeof(T)));
}

/// Nearest, ties to even, whatever rounding mode is set.
template <Real T>
T round_half_even(T x) {
  T whole = std::trunc(x);
  T rest = std::fabs(x - whole);
  bool up = rest > T(0.5) || (rest == T(0.5) && std::fmod(whole, T(2)) != 0);
  return std::copysign(up ? std::fabs(whole) + 1 : std::fabs(whole), x);
}

/// a * b + c of 16-bit floats, such that one more rounding gives the exact answer's: the product is exact in a double, and
/// the sum is rounded to odd, which keeps a trace of whatever did not fit.
double fma_to_odd(double a, double b, double c) {
  double product = a * b;
  double sum = product + c;
  double part = sum - product;
  double lost = (product - (sum - part)) + (c - part);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (!std::isfinite(sum) || lost == 0 || (bits & 1)) return sum;
  return std::bit_cast<double>((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/// The smaller (or larger) of two; NaN if either is, and -0 below +0.
template <bool smaller, class T>
T extreme(T a, T b) {
  if constexpr (Real<T>) {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return std::signbit(a) == smaller ? a : b;
  }
  return (a < b) == smaller ? a : b;
}

/// The other one where one of the two is NaN, else as `extreme`.
template <bool smaller, class T>
T extreme_number(T a, T b) {
  if constexpr (Real<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  return extreme<smaller>(a, b);
}

template <Integer T>
T quotient_of(T a, T b) {
  if (b == 0) return 0;
  return is_minus_one(b) ? static_cast<T>(0 - wide(a)) : static_cast<T>(a / b);
}

template <Integer T>
T remainder_of(T a, T b) {
  return b == 0 || is_minus_one(b) ? T(0) : static_cast<T>(a % b);
}

/// A quotient or remainder of these signs must be moved by one divisor to be rounded toward -inf.
template <Number T>
bool is_below(T remainder, T divisor) {
  return remainder != 0 && (remainder < 0) != (divisor < 0);
}

/// The largest integer not above a / b, as far as T holds it: the rounded quotient can only have been rounded up to an integer,
/// and fma tells. Non-finite ones as Python and PyTorch have them: inf // 1 is NaN, 1 // 0 is inf, -1 // inf is -1.
template <Real T>
T floor_quotient(T a, T b) {
  T quotient = a / b;
  if (b == 0) return quotient;
  if (std::isinf(a)) return std::numeric_limits<T>::quiet_NaN();
  T whole = std::floor(quotient);
  return is_below(std::isinf(b) ? a : std::fma(-whole, b, a), b) ? whole - 1 : whole;
}

/// By squaring, wrapped; what has no integer value is 0, as in PyTorch.
template <Integer T>
T power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) return base == 1 || is_minus_one(base) ? (exponent % 2 ? base : T(1)) : T(0);
  }
  uint64_t result = 1, square = wide(base);
  for (uint64_t rest = wide(exponent); rest; rest >>= 1, square *= square)
    if (rest & 1) result *= square;
  return static_cast<T>(result);
}

template <Real T>
T gamma_logarithm(T x) {
  int sign;  // std::lgamma would write it to a global variable
  if constexpr (std::same_as<T, float>) return ::lgammaf_r(x, &sign);
  else return ::lgamma_r(x, &sign);
}

/// x * 2^trunc(n).
template <Real T>
T scaled(T x, T n) {
  constexpr T kMost = 5000;  // enough for any x
  return std::isnan(n) ? n : std::ldexp(x, static_cast<int>(std::clamp(n, -kMost, kMost)));
}

/// Truncation; what lies outside T's range, and NaN, gives the smallest integer.
template <Integer T>
T truncate(double value) {
  constexpr double kLimit = -static_cast<double>(std::numeric_limits<T>::min());
  double whole = std::trunc(value);
  return whole >= -kLimit && whole < kLimit ? static_cast<T>(whole) : std::numeric_limits<T>::min();
}

template <Integer To>
To float_to_int(double value) {
  if constexpr (std::same_as<To, uint64_t>)
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<uint64_t>(value);
  if constexpr (std::same_as<To, int32_t> || sizeof(To) < 4) return static_cast<To>(truncate<int32_t>(value));
  else return static_cast<To>(truncate<int64_t>(value));
}

template <class From, class To>
uint64_t convert(uint64_t bits) {
  if constexpr (std::same_as<From, To>) return bits;
  auto value = decode<From>(bits);
  if constexpr (Real<decltype(value)> && Integer<To>) return encode<To>(float_to_int<To>(value));
  else if constexpr (Integer<From> && Float16<To>)
    return encode<To>(static_cast<std::conditional_t<std::is_signed_v<From>, int64_t, uint64_t>>(value));
  else if constexpr (std::same_as<From, bool> && Float16<To>) return encode<To>(value ? 1.0f : 0.0f);
  else return encode<To>(value);
}

// --- the meanings: arguments of a Compute type, or Raw where bits are kept. An op that a dtype cannot call has none there.

template <Op>
struct Meaning;

#define MEANING(op) \
  template <>       \
  struct Meaning<Op::op>

MEANING(Neg) {
  template <Integer T> T operator()(T x) const { return static_cast<T>(0 - wide(x)); }
  template <class S> requires Float16<S> || Real<S>
  Raw<S> operator()(Raw<S> x) const { return {x.bits ^ kSignBit<S>}; }
};
MEANING(Abs) {
  template <Integer T> T operator()(T x) const { return x < 0 ? static_cast<T>(0 - wide(x)) : x; }
  template <class S> requires Float16<S> || Real<S>
  Raw<S> operator()(Raw<S> x) const { return {x.bits & ~kSignBit<S>}; }
};
MEANING(Sign) { template <Number T> T operator()(T x) const { return static_cast<T>((x > 0) - (x < 0)); } };
MEANING(Not) {
  bool operator()(std::same_as<bool> auto x) const { return !x; }
  template <Integer T> T operator()(T x) const { return static_cast<T>(~x); }
};
MEANING(IsNan) {
  bool operator()(std::integral auto) const { return false; }
  bool operator()(Real auto x) const { return std::isnan(x); }
};
MEANING(IsInf) {
  bool operator()(std::integral auto) const { return false; }
  bool operator()(Real auto x) const { return std::isinf(x); }
};
MEANING(IsFinite) {
  bool operator()(std::integral auto) const { return true; }
  bool operator()(Real auto x) const { return std::isfinite(x); }
};
MEANING(SignBit) {
  bool operator()(bool) const { return false; }
  bool operator()(Integer auto x) const { return x < 0; }
  template <class S> requires Float16<S> || Real<S>
  bool operator()(Raw<S> x) const { return (x.bits & kSignBit<S>) != 0; }
};
MEANING(Floor) { auto operator()(Real auto x) const { return std::floor(x); } };
MEANING(Ceil) { auto operator()(Real auto x) const { return std::ceil(x); } };
MEANING(Trunc) { auto operator()(Real auto x) const { return std::trunc(x); } };
MEANING(Round) { auto operator()(Real auto x) const { return round_half_even(x); } };
MEANING(Sqrt) { auto operator()(Real auto x) const { return std::sqrt(x); } };
MEANING(Rsqrt) { auto operator()(Real auto x) const { return 1 / std::sqrt(x); } };
MEANING(Cbrt) { auto operator()(Real auto x) const { return std::cbrt(x); } };
MEANING(Exp) { auto operator()(Real auto x) const { return std::exp(x); } };
MEANING(Exp2) { auto operator()(Real auto x) const { return std::exp2(x); } };
MEANING(Expm1) { auto operator()(Real auto x) const { return std::expm1(x); } };
MEANING(Log) { auto operator()(Real auto x) const { return std::log(x); } };
MEANING(Log2) { auto operator()(Real auto x) const { return std::log2(x); } };
MEANING(Log10) { auto operator()(Real auto x) const { return std::log10(x); } };
MEANING(Log1p) { auto operator()(Real auto x) const { return std::log1p(x); } };
MEANING(Sin) { auto operator()(Real auto x) const { return std::sin(x); } };
MEANING(Cos) { auto operator()(Real auto x) const { return std::cos(x); } };
MEANING(Tan) { auto operator()(Real auto x) const { return std::tan(x); } };
MEANING(Asin) { auto operator()(Real auto x) const { return std::asin(x); } };
MEANING(Acos) { auto operator()(Real auto x) const { return std::acos(x); } };
MEANING(Atan) { auto operator()(Real auto x) const { return std::atan(x); } };
MEANING(Sinh) { auto operator()(Real auto x) const { return std::sinh(x); } };
MEANING(Cosh) { auto operator()(Real auto x) const { return std::cosh(x); } };
MEANING(Asinh) { auto operator()(Real auto x) const { return std::asinh(x); } };
MEANING(Acosh) { auto operator()(Real auto x) const { return std::acosh(x); } };
MEANING(Atanh) { auto operator()(Real auto x) const { return std::atanh(x); } };
MEANING(Tanh) { auto operator()(Real auto x) const { return std::tanh(x); } };
MEANING(Erf) { auto operator()(Real auto x) const { return std::erf(x); } };
MEANING(Erfc) { auto operator()(Real auto x) const { return std::erfc(x); } };
MEANING(Lgamma) { auto operator()(Real auto x) const { return gamma_logarithm(x); } };
MEANING(Tgamma) { auto operator()(Real auto x) const { return std::tgamma(x); } };
MEANING(Sigmoid) { template <Real T> T operator()(T x) const { return 1 / (1 + std::exp(-x)); } };
MEANING(Gelu) {
  template <Real T> T operator()(T x) const { return static_cast<T>(x * std::erfc(x * -std::numbers::sqrt2_v<long double> / 2) / 2); }
};
MEANING(Bitcast) { template <class S> Raw<S> operator()(Raw<S> x) const { return x; } };

MEANING(Add) {
  template <Integer T> T operator()(T a, T b) const { return static_cast<T>(wide(a) + wide(b)); }
  template <Real T> T operator()(T a, T b) const { return a + b; }
};
MEANING(Sub) {
  template <Integer T> T operator()(T a, T b) const { return static_cast<T>(wide(a) - wide(b)); }
  template <Real T> T operator()(T a, T b) const { return a - b; }
};
MEANING(Mul) {
  template <Integer T> T operator()(T a, T b) const { return static_cast<T>(wide(a) * wide(b)); }
  template <Real T> T operator()(T a, T b) const { return a * b; }
};
MEANING(Div) {
  template <Integer T> T operator()(T a, T b) const { return quotient_of(a, b); }
  template <Real T> T operator()(T a, T b) const { return a / b; }
};
MEANING(Rem) {
  template <Integer T> T operator()(T a, T b) const { return remainder_of(a, b); }
  template <Real T> T operator()(T a, T b) const { return std::fmod(a, b); }
};
MEANING(FloorDiv) {
  template <Integer T> T operator()(T a, T b) const {
    return static_cast<T>(wide(quotient_of(a, b)) - is_below(remainder_of(a, b), b));
  }
  template <Real T> T operator()(T a, T b) const { return floor_quotient(a, b); }
};
MEANING(Remainder) {
  template <Integer T> T operator()(T a, T b) const {
    T rest = remainder_of(a, b);
    return is_below(rest, b) ? static_cast<T>(rest + b) : rest;
  }
  template <Real T> T operator()(T a, T b) const {
    T rest = std::fmod(a, b);
    return is_below(rest, b) ? rest + b : rest;
  }
};
MEANING(Minimum) { template <Arithmetic T> T operator()(T a, T b) const { return extreme<true>(a, b); } };
MEANING(Maximum) { template <Arithmetic T> T operator()(T a, T b) const { return extreme<false>(a, b); } };
MEANING(FMin) { template <Arithmetic T> T operator()(T a, T b) const { return extreme_number<true>(a, b); } };
MEANING(FMax) { template <Arithmetic T> T operator()(T a, T b) const { return extreme_number<false>(a, b); } };
MEANING(CopySign) {
  template <class S> requires Float16<S> || Real<S>
  Raw<S> operator()(Raw<S> x, Raw<S> sign) const { return {(x.bits & ~kSignBit<S>) | (sign.bits & kSignBit<S>)}; }
};
MEANING(NextAfter) {
  template <class S> requires Float16<S> || Real<S>
  Raw<S> operator()(Raw<S> x, Raw<S> y) const {
    auto from = decode<S>(x.bits), to = decode<S>(y.bits);
    if (std::isnan(from) || std::isnan(to)) return {encode<S>(from + to)};
    if (from == to) return y;
    if (from == 0) return {(y.bits & kSignBit<S>) | 1};
    return {(from < to) == (from > 0) ? x.bits + 1 : x.bits - 1};
  }
};
MEANING(Ldexp) { template <Real T> T operator()(T x, T n) const { return scaled(x, n); } };
MEANING(Atan2) { template <Real T> T operator()(T y, T x) const { return std::atan2(y, x); } };
MEANING(Hypot) { template <Real T> T operator()(T x, T y) const { return std::hypot(x, y); } };
MEANING(Pow) {
  template <Integer T> T operator()(T x, T y) const { return power(x, y); }
  template <Real T> T operator()(T x, T y) const { return std::pow(x, y); }
};
MEANING(And) { template <std::integral T> T operator()(T a, T b) const { return static_cast<T>(a & b); } };
MEANING(Or) { template <std::integral T> T operator()(T a, T b) const { return static_cast<T>(a | b); } };
MEANING(Xor) { template <std::integral T> T operator()(T a, T b) const { return static_cast<T>(a ^ b); } };
MEANING(Shl) {
  template <Integer T> T operator()(T a, T b) const {
    int amount = shift_amount(b);
    return amount < 64 ? static_cast<T>(wide(a) << amount) : T(0);
  }
};
MEANING(Shr) {
  template <Integer T> T operator()(T a, T b) const {
    int amount = shift_amount(b);
    if (amount < static_cast<int>(8 * sizeof(T))) return static_cast<T>(a >> amount);
    return a < 0 ? static_cast<T>(-1) : T(0);
  }
};
MEANING(Eq) { template <Arithmetic T> bool operator()(T a, T b) const { return a == b; } };
MEANING(Ne) { template <Arithmetic T> bool operator()(T a, T b) const { return a != b; } };
MEANING(Lt) { template <Arithmetic T> bool operator()(T a, T b) const { return a < b; } };
MEANING(Le) { template <Arithmetic T> bool operator()(T a, T b) const { return a <= b; } };
MEANING(Gt) { template <Arithmetic T> bool operator()(T a, T b) const { return a > b; } };
MEANING(Ge) { template <Arithmetic T> bool operator()(T a, T b) const { return a >= b; } };

MEANING(Where) {
  template <class S> Raw<S> operator()(Raw<bool> condition, Raw<S> yes, Raw<S> no) const { return condition.bits ? yes : no; }
};
MEANING(Fma) {
  template <Integer T> T operator()(T a, T b, T c) const { return static_cast<T>(wide(a) * wide(b) + wide(c)); }
  template <Float16 S> Raw<S> operator()(Raw<S> a, Raw<S> b, Raw<S> c) const {
    return {encode<S>(fma_to_odd(decode<S>(a.bits), decode<S>(b.bits), decode<S>(c.bits)))};
  }
  template <Real T> T operator()(T a, T b, T c) const { return std::fma(a, b, c); }
};
#undef MEANING

// --- every pointwise op has a meaning

/// Cast has a table of its own, by two dtypes; addresses are the interpreters' affair, calls that of ir/evaluate.h.
constexpr bool is_elsewhere(Op op) { return op == Op::Cast || op == Op::PtrAdd || op == Op::Call; }

template <Op op>
concept Meant = requires { Meaning<op>{}; };

template <Op op>
constexpr bool check_meaning() {
  static_assert(!is_pointwise(op) || is_elsewhere(op) || Meant<op>, "a pointwise op of ops.def has no meaning in semantics.cpp");
  return true;
}

// --- loops over lanes

using Lanes = void (*)(const uint64_t* const* args, const int* strides, uint64_t* out, size_t count);

template <Op op, class S, size_t k>
using Storage = std::conditional_t<op == Op::Where && k == 0, bool, S>;

template <class S, class R>
uint64_t result_bits(R result) {
  if constexpr (requires { result.bits; }) return result.bits;
  else if constexpr (std::same_as<R, bool>) return result;
  else return encode<S>(result);
}

template <Op op, class S, size_t... k>
constexpr bool keeps_bits(std::index_sequence<k...>) {
  return std::invocable<Meaning<op>, Raw<Storage<op, S, k>>...>;
}

template <Op op, class S, size_t... k>
constexpr bool computes(std::index_sequence<k...>) {
  return std::invocable<Meaning<op>, Compute<Storage<op, S, k>>...>;
}

template <Op op, class S, size_t... k>
void run_raw(const uint64_t* const* args, const int* strides, uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i)
    out[i] = result_bits<S>(Meaning<op>{}(Raw<Storage<op, S, k>>{args[k][i * static_cast<size_t>(strides[k])]}...));
}

template <Op op, class S, size_t... k>
void run_values(const uint64_t* const* args, const int* strides, uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i)
    out[i] = result_bits<S>(Meaning<op>{}(decode<Storage<op, S, k>>(args[k][i * static_cast<size_t>(strides[k])])...));
}

template <Op op, class S, size_t... k>
constexpr Lanes lanes_of(std::index_sequence<k...> operands) {
  if constexpr (keeps_bits<op, S>(operands)) return run_raw<op, S, k...>;
  else if constexpr (computes<op, S>(operands)) return run_values<op, S, k...>;
  else return nullptr;
}

template <class From, class To>
void run_cast(const uint64_t* const* args, const int* strides, uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = convert<From, To>(args[0][i * static_cast<size_t>(strides[0])]);
}

// --- the tables

using Row = std::array<Lanes, kDTypeCount>;

template <Op op, int... dtype>
constexpr Row meanings_of(std::integer_sequence<int, dtype...>) {
  check_meaning<op>();
  if constexpr (is_pointwise(op) && !is_elsewhere(op) && Meant<op>)
    return {lanes_of<op, StorageAt<dtype>>(std::make_index_sequence<info(op).least>{})...};
  else return {};
}

template <int... op>
constexpr std::array<Row, kOpCount> rows(std::integer_sequence<int, op...>) {
  return {meanings_of<op_at(op)>(std::make_integer_sequence<int, kDTypeCount>{})...};
}

template <class From, int... to>
constexpr Row casts_from(std::integer_sequence<int, to...>) {
  return {run_cast<From, StorageAt<to>>...};
}

template <int... dtype>
constexpr std::array<Row, kDTypeCount> casts(std::integer_sequence<int, dtype...> all) {
  static_assert(((dtype_of<StorageAt<dtype>> == dtype_at(dtype)) && ...));  // AllStorage has the order of the rows
  return {casts_from<StorageAt<dtype>>(all)...};
}

constexpr auto kLanes = rows(std::make_integer_sequence<int, kOpCount>{});
constexpr auto kCasts = casts(std::make_integer_sequence<int, kDTypeCount>{});

Lanes find(Op op, DType dtype, DType result) {
  if (op == Op::Cast) return kCasts[row_of(dtype)][row_of(result)];
  Lanes lanes = kLanes[static_cast<int>(op)][row_of(dtype)];
  if (!lanes) internal_error("{} has no meaning on {}", name_of(op), name_of(dtype));
  return lanes;
}

/// One conversion, chosen by the dtype alone.
template <class Fn>
auto with_storage(DType dtype, Fn&& fn) {
  using Result = decltype(fn.template operator()<float>());
  return [&]<int... k>(std::integer_sequence<int, k...>) {
    using Call = Result (*)(Fn&);
    constexpr Call calls[] = {[](Fn& f) { return f.template operator()<StorageAt<k>>(); }...};
    return calls[row_of(dtype)](fn);
  }(std::make_integer_sequence<int, kDTypeCount>{});
}

/// Truncated, modulo 2^64; 0 for what is not finite.
uint64_t wrapped(double value) {
  if (!std::isfinite(value)) return 0;
  double rest = std::fmod(std::trunc(value), 0x1p64);
  return rest < 0 ? 0 - static_cast<uint64_t>(-rest) : static_cast<uint64_t>(rest);
}

int64_t saturated(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  return value < -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

}  // namespace

uint64_t bits_of_double(DType dtype, double value) {
  return with_storage(dtype, [&]<class S>() -> uint64_t {
    if constexpr (Integer<S>) return encode<S>(wrapped(value));
    else return encode<S>(value);
  });
}

uint64_t bits_of_int(DType dtype, int64_t value) {
  return with_storage(dtype, [&]<class S>() -> uint64_t { return encode<S>(value); });
}

double double_of_bits(DType dtype, uint64_t bits) {
  return with_storage(dtype, [&]<class S>() -> double { return static_cast<double>(decode<S>(bits)); });
}

int64_t int_of_bits(DType dtype, uint64_t bits) {
  return with_storage(dtype, [&]<class S>() -> int64_t {
    if constexpr (std::integral<S>) return static_cast<int64_t>(decode<S>(bits));
    else return saturated(decode<S>(bits));
  });
}

uint64_t evaluate(Op op, DType dtype, DType result, const uint64_t* args) {
  constexpr int kMost = 3;
  static constexpr int kStrides[kMost] = {};
  const uint64_t* pointers[kMost] = {};
  for (int k = 0; k < info(op).least; ++k) pointers[k] = args + k;
  uint64_t out;
  find(op, dtype, result)(pointers, kStrides, &out, 1);
  return out;
}

void evaluate_lanes(Op op, DType dtype, DType result, const uint64_t* const* args, const int* strides, uint64_t* out,
                    size_t count) {
  find(op, dtype, result)(args, strides, out, count);
}

uint64_t evaluate_atomic(AtomicKind kind, DType dtype, uint64_t old, uint64_t value, uint64_t compare) {
  constexpr Op kOps[] = {Op::Add, Op::Maximum, Op::Minimum, Op::And, Op::Or, Op::Xor};
  if (kind == AtomicKind::Exchange) return value;
  if (kind == AtomicKind::CompareExchange) return old == compare ? value : old;
  const uint64_t args[] = {old, value};
  return evaluate(kOps[static_cast<int>(kind)], dtype, dtype, args);
}

}  // namespace strider::ir
