// SPDX-License-Identifier: Apache-2.0
// The expansions of maths.h, evaluated on scalars, against MPFR.
#include "pass/maths.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace strider::maths {
namespace {

// --- a builder that computes at once

/// F is float or double. Compiled without contraction, each operation rounds once.
template <class F>
struct Scalar {
  using I = std::conditional_t<sizeof(F) == 4, int32_t, int64_t>;
  using U = std::make_unsigned_t<I>;

  F constant(F, double value) { return static_cast<F>(value); }
  I iconstant(I, int64_t value) { return static_cast<I>(value); }
  F add(F x, F y) { return x + y; }
  F sub(F x, F y) { return x - y; }
  F mul(F x, F y) { return x * y; }
  F div(F x, F y) { return x / y; }
  I add(I x, I y) { return static_cast<I>(U(x) + U(y)); }
  I sub(I x, I y) { return static_cast<I>(U(x) - U(y)); }
  I mul(I x, I y) { return static_cast<I>(U(x) * U(y)); }
  F fma(F x, F y, F z) { return std::fma(x, y, z); }
  F neg(F x) { return -x; }
  F abs(F x) { return std::fabs(x); }
  F sqrt(F x) { return std::sqrt(x); }
  F round_even(F x) { return std::nearbyint(x); }
  I bit_and(I x, I y) { return x & y; }
  I bit_or(I x, I y) { return x | y; }
  I bit_xor(I x, I y) { return x ^ y; }
  I shl(I x, I count) { return static_cast<I>(U(x) << in_range(count)); }
  I shr(I x, I count) { return x >> in_range(count); }
  bool logical_and(bool x, bool y) { return x && y; }
  bool logical_or(bool x, bool y) { return x || y; }
  bool logical_not(bool x) { return !x; }
  F to_float(I x) { return static_cast<F>(x); }
  I bitcast_int(F x) { return std::bit_cast<I>(x); }
  F bitcast_float(I x) { return std::bit_cast<F>(x); }

  template <class T>
  bool lt(T x, T y) { return x < y; }
  template <class T>
  bool le(T x, T y) { return x <= y; }
  template <class T>
  bool eq(T x, T y) { return x == y; }
  template <class T>
  bool ne(T x, T y) { return x != y; }
  template <class T>
  T where(bool condition, T x, T y) { return condition ? x : y; }

  I to_int(F x) {
    EXPECT_LT(std::fabs(x), std::ldexp(F(1), 8 * sizeof(I) - 1)) << "conversion out of range";
    return static_cast<I>(x);
  }

  I in_range(I count) {
    EXPECT_TRUE(count >= 0 && count < I(8 * sizeof(I))) << "shift count out of range";
    return count & I(8 * sizeof(I) - 1);
  }
};

// --- the reference

using Mpfr = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);
using Mpfr2 = int (*)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

int mpfr_sigmoid(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
  mpfr_neg(result, x, rounding);
  mpfr_exp(result, result, rounding);
  mpfr_add_ui(result, result, 1, rounding);
  return mpfr_ui_div(result, 1, result, rounding);
}

/// x erfc(-x / sqrt 2) / 2.
int mpfr_gelu(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
  mpfr_set_d(result, 0.5, rounding);
  mpfr_sqrt(result, result, rounding);
  mpfr_mul(result, result, x, rounding);
  mpfr_neg(result, result, rounding);
  mpfr_erfc(result, result, rounding);
  mpfr_mul(result, result, x, rounding);
  return mpfr_div_ui(result, result, 2, rounding);
}

/// IEEE's: MPFR has inf for -0.
int mpfr_inverse_root(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
  if (mpfr_zero_p(x)) return mpfr_ui_div(result, 1, x, rounding);
  return mpfr_rec_sqrt(result, x, rounding);
}

int mpfr_log_gamma(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
  int sign;
  return mpfr_lgamma(result, &sign, x, rounding);
}

/// Keeps the worst distance from MPFR, in units of the last place of the exact value.
template <class F>
class Worst {
 public:
  /// Of results below 2^(least + 53) the error is absolute, in units of 2^least.
  explicit Worst(long least = kLeast) : least_(std::max<long>(least, kLeast)) { mpfr_inits2(kPrecision, x_, y_, exact_, nullptr); }
  Worst(const Worst&) = delete;
  ~Worst() { mpfr_clears(x_, y_, exact_, nullptr); }

  void add(F x, F computed, Mpfr f) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    f(exact_, x_, MPFR_RNDN);
    compare(computed, "x = ", x, 0);
  }

  void add(F x, F y, F computed, Mpfr2 f) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_set_d(y_, y, MPFR_RNDN);
    f(exact_, x_, y_, MPFR_RNDN);
    compare(computed, "(x, y) = ", x, y);
  }

  double ulp() const { return worst_; }
  const std::string& where() const { return where_; }

 private:
  static constexpr int kPrecision = 100;
  static constexpr int kDigits = std::numeric_limits<F>::digits, kMost = std::numeric_limits<F>::max_exponent;
  static constexpr int kLeast = std::numeric_limits<F>::min_exponent - kDigits;

  void compare(F computed, const char* prefix, double x, double y) {
    auto must = [&](bool right) { record(right ? 0 : HUGE_VAL, prefix, x, y); };
    if (mpfr_nan_p(exact_) || std::isnan(computed)) return must(mpfr_nan_p(exact_) && std::isnan(computed));
    if (std::signbit(computed) != (mpfr_signbit(exact_) != 0) && least_ == kLeast) return must(false);
    if (mpfr_inf_p(exact_) || mpfr_zero_p(exact_)) return must(computed == mpfr_get_d(exact_, MPFR_RNDN));
    long exponent = std::min<long>(mpfr_get_exp(exact_), kMost);  // beyond the largest number, that number's unit
    if (std::isinf(computed)) mpfr_set_si_2exp(x_, computed > 0 ? 1 : -1, kMost, MPFR_RNDN);
    else mpfr_set_d(x_, computed, MPFR_RNDN);
    if (std::isinf(computed) && mpfr_cmpabs(exact_, x_) >= 0) return must(true);
    mpfr_sub(x_, x_, exact_, MPFR_RNDN);
    mpfr_mul_2si(x_, x_, -std::max<long>(exponent - kDigits, least_), MPFR_RNDN);
    record(std::fabs(mpfr_get_d(x_, MPFR_RNDN)), prefix, x, y);
  }

  void record(double error, const char* prefix, double x, double y) {
    if (error <= worst_) return;
    worst_ = error;
    char text[96];
    std::snprintf(text, sizeof text, "%s%a, %a", prefix, x, y);
    where_ = text;
  }

  mpfr_t x_, y_, exact_;
  long least_;
  double worst_ = 0;
  std::string where_;
};

// --- the functions and their bounds

/// As pass/decompose expands functions of f32 that have no expansion of their own.
template <double (*f)(Scalar<double>&, double)>
float in_double(Scalar<float>&, float x) {
  Scalar<double> b;
  return static_cast<float>(f(b, x));
}

struct Case {
  const char* name;
  float (*f32)(Scalar<float>&, float);
  double (*f64)(Scalar<double>&, double);  // may be null
  Mpfr exact;
  double ulp32, ulp64;
  long least64 = std::numeric_limits<long>::min();

  /// In MPFR.
  bool is_slow() const { return exact == mpfr_gamma || exact == mpfr_log_gamma; }
};

constexpr Case kCases[] = {
    {"exp", exp<F32>, exp<F64>, mpfr_exp, 1.5, 2},
    {"exp2", exp2<F32>, exp2<F64>, mpfr_exp2, 1.5, 2},
    {"expm1", expm1<F32>, expm1<F64>, mpfr_expm1, 2, 2},
    {"log", log<F32>, log<F64>, mpfr_log, 1.5, 2},
    {"log2", log2<F32>, log2<F64>, mpfr_log2, 1.5, 2},
    {"log1p", log1p<F32>, log1p<F64>, mpfr_log1p, 2, 2},
    {"tanh", tanh<F32>, tanh<F64>, mpfr_tanh, 1.5, 2},
    {"sigmoid", sigmoid<F32>, sigmoid<F64>, mpfr_sigmoid, 1.5, 2},
    {"erf", erf<F32>, erf<F64>, mpfr_erf, 1.5, 2},
    {"gelu", gelu<F32>, gelu<F64>, mpfr_gelu, 4, 4},

    {"log10", log10<F32>, log10<F64>, mpfr_log10, 2, 2},
    {"sin", sin<F32>, sin<F64>, mpfr_sin, 2, 2},
    {"cos", cos<F32>, cos<F64>, mpfr_cos, 2, 2},
    {"tan", tan<F32>, tan<F64>, mpfr_tan, 2, 2},
    {"asin", asin<F32>, asin<F64>, mpfr_asin, 2, 2},
    {"acos", acos<F32>, acos<F64>, mpfr_acos, 2, 2},
    {"atan", atan<F32>, atan<F64>, mpfr_atan, 2, 2},
    {"sinh", sinh<F32>, sinh<F64>, mpfr_sinh, 2, 2},
    {"cosh", cosh<F32>, cosh<F64>, mpfr_cosh, 2, 2},
    {"asinh", asinh<F32>, asinh<F64>, mpfr_asinh, 2, 2},
    {"acosh", acosh<F32>, acosh<F64>, mpfr_acosh, 2, 2},
    {"atanh", atanh<F32>, atanh<F64>, mpfr_atanh, 2, 2},
    {"erfc", erfc<F32>, erfc<F64>, mpfr_erfc, 2, 2},
    {"cbrt", cbrt<F32>, cbrt<F64>, mpfr_cbrt, 2, 2},
    {"rsqrt", rsqrt<F32>, rsqrt<F64>, mpfr_inverse_root, 2, 2},
    {"tgamma", in_double<tgamma<F64>>, tgamma<F64>, mpfr_gamma, 1, 4},
    {"lgamma", in_double<lgamma<F64>>, lgamma<F64>, mpfr_log_gamma, 1, 4, -56},  // its zeros below 0 need more than two doubles
};

/// Where expansions change their method or results leave the range of numbers; each is tested with its neighbours.
constexpr double kCorners[] = {
    0, 0x1p-149, 0x1p-126, 0x1p-100, 0x1p-24, 0x1p-12, 0.34657359, 0.5, 0.6, M_SQRT1_2, M_PI_4, 0.875, 1, 1.03972077,
    M_SQRT2, M_PI_2, 2, M_PI, 4, 9.1, 10.05, 16.63553, 17.32868, 24, 87.33654, 88.02969, 88.72284, 89.41599, 103.97208,
    126, 128, 149, 150, 0x1p12, 0x1p17, 0x1p23, 0x1p24, 0x1p30, 0x1p36, 0x1p60, 0x1p84, 0x1p108,
    0x1.f37c8ap95,  // within 2^-29 of a multiple of pi/2, the closest of all
    0x1.fffffep127};

constexpr double kCorners64[] = {
    0, 0x1p-1074, 0x1p-1022, 0x1p-100, 0x1p-53, 0.34657359027997264, 0.5, 0.6, M_SQRT1_2, 0.875, 1, 1.0397207708399179,
    M_SQRT2, 2, 5.9, 6, 19.1, 36.7, 37.43, 52, 708.39641853226408, 709.09, 709.78271289338397, 745.13321910194122,
    1022, 1024, 1074, 1075, 0x1p52, 0x1p53, 0x1.fffffffffffffp1023,
    0x1p-60, 0x1p-27, 0.25, 0.75, 1.25, 1.75, 2.25, 9.9, 10, 27.2, 171.62, 0x1p30, 0x1p52 - 0.5, 0x1p100, 0x1p500, 0x1p900,
    0x1.754d9278b51a7p1014, M_PI_4, M_PI_2, M_PI, 1000 * M_PI, 0x1p40 * M_PI, 0x1p300 * M_PI,
    0x1.6ac5b262ca1ffp849,  // within 2^-61 of a multiple of pi/2, the closest of all
    2.4570247382208006, 2.7476826467274127, 3.1435808883499799, 3.9552942848585976, 170.5, 178.5, 183.5};

/// Calls `f` with each corner, its 40 neighbours on both sides, and all of that negated; inf and NaN among them.
template <class F, size_t N, class Fn>
void for_corners(const double (&corners)[N], Fn f) {
  using I = typename Scalar<F>::I;
  for (double corner : corners)
    for (I offset = -40; offset <= 40; ++offset) {
      F x = std::bit_cast<F>(static_cast<I>(std::bit_cast<I>(static_cast<F>(corner)) + offset));
      f(x);
      f(-x);
    }
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

// --- f32: all exponents, evenly

class MathsF32 : public ::testing::TestWithParam<Case> {};

TEST_P(MathsF32, IsWithinItsBound) {
  const Case& c = GetParam();
  const uint64_t stride = c.is_slow() ? 288221 : 14411;  // primes: about 15,000 or 300,000 inputs
  Scalar<float> b;
  Worst<float> worst;
  auto check = [&](float x) { worst.add(x, c.f32(b, x), c.exact); };
  for_corners<float>(kCorners, check);
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += stride)
    check(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  EXPECT_LE(worst.ulp(), c.ulp32) << worst.where();
  RecordProperty("ulp", std::to_string(worst.ulp()));
}

INSTANTIATE_TEST_SUITE_P(, MathsF32, ::testing::ValuesIn(kCases), name_of);

// --- f64: random over exponents, and dense where the results are ordinary

class MathsF64 : public ::testing::TestWithParam<Case> {};

TEST_P(MathsF64, IsWithinItsBound) {
  const Case& c = GetParam();
  const int samples = c.is_slow() ? 20'000 : 400'000;
  Scalar<double> b;
  Worst<double> worst(c.least64);
  auto check = [&](double x) { worst.add(x, c.f64(b, x), c.exact); };
  for_corners<double>(kCorners64, check);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int k = 0; k < samples / 4; ++k) {
    check(std::bit_cast<double>(random()));
    check(std::ldexp(unit(random), static_cast<int>(random() % 64) - 52));
    check(4 * unit(random));
    check(760 * unit(random));
  }
  EXPECT_LE(worst.ulp(), c.ulp64) << worst.where();
  RecordProperty("ulp", std::to_string(worst.ulp()));
}

std::vector<Case> cases_f64() {
  std::vector<Case> cases;
  for (const Case& c : kCases)
    if (c.f64) cases.push_back(c);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(, MathsF64, ::testing::ValuesIn(cases_f64()), name_of);

// --- two arguments

template <class F>
constexpr F kInf = std::numeric_limits<F>::infinity();
template <class F>
std::vector<F> special_numbers() {
  using Limits = std::numeric_limits<F>;
  return {0, F(0.5), 1, F(1.5), 2, F(2.5), 3, 127, 128, 149, 150, 1023, 1074, F(1e10), Limits::denorm_min(), Limits::min(),
          1 - Limits::epsilon() / 2, 1 + Limits::epsilon(), F(0x1p22 + 0.5), F(0x1p23), F(0x1p24 - 1), F(0x1p24), F(0x1p25),
          F(0x1p53 - 1), F(0x1p64), Limits::max(), kInf<F>, Limits::quiet_NaN()};
}

template <class F, class Fn>
void for_special_pairs(Fn f) {
  for (F x : special_numbers<F>())
    for (F y : special_numbers<F>())
      for (int signs = 0; signs < 4; ++signs) f(signs & 1 ? -x : x, signs & 2 ? -y : y);
}

/// Random numbers of a format.
template <class F>
struct Random {
  std::mt19937_64 bits{2};
  std::uniform_real_distribution<double> distribution{-1, 1};

  F any() { return std::bit_cast<F>(static_cast<typename Scalar<F>::I>(bits())); }
  double unit() { return distribution(bits); }
  int below(int n) { return static_cast<int>(bits() % static_cast<uint64_t>(n)); }
};

template <class F, class Check>
void for_pow_pairs(Check check) {
  constexpr double kExponents = std::numeric_limits<F>::max_exponent * 1.2;
  Random<F> random;
  for_special_pairs<F>(check);
  for (int k = 0; k < 60'000; ++k) {
    check(random.any(), random.any());
    check(static_cast<F>(std::exp(10 * random.unit())), static_cast<F>(10 * random.unit()));
    check(-static_cast<F>(std::exp(10 * random.unit())), static_cast<F>(random.below(41) - 20));
    auto to_result = [&](F x) {  // over the whole range of results
      check(x, static_cast<F>(kExponents * random.unit() / std::log2(x)));
    };
    to_result(std::fabs(random.any()));
    to_result(static_cast<F>(1 + std::ldexp(random.unit(), -random.below(std::numeric_limits<F>::digits))));
  }
}

template <class F, class Check>
void for_plane_pairs(Check check) {
  Random<F> random;
  for_special_pairs<F>(check);
  for (int k = 0; k < 60'000; ++k) {
    check(random.any(), random.any());
    check(static_cast<F>(random.unit()), static_cast<F>(random.unit()));
    F y = random.any();
    check(y, static_cast<F>(y * std::ldexp(random.unit(), random.below(9) - 4)));
  }
}

template <class F, class Format>
void expect_two_argument_bounds() {
  Scalar<F> b;
  Worst<F> power, angle, length;
  for_pow_pairs<F>([&](F x, F y) { power.add(x, y, pow<Format>(b, x, y), mpfr_pow); });
  for_plane_pairs<F>([&](F y, F x) {
    angle.add(y, x, atan2<Format>(b, y, x), mpfr_atan2);
    length.add(y, x, hypot<Format>(b, y, x), mpfr_hypot);
  });
  EXPECT_LE(power.ulp(), 1.5) << "pow " << power.where();
  EXPECT_LE(angle.ulp(), 2) << "atan2 " << angle.where();
  EXPECT_LE(length.ulp(), 1.5) << "hypot " << length.where();
}

TEST(Maths, F32FunctionsOfTwoArgumentsAreWithinTheirBounds) { expect_two_argument_bounds<float, F32>(); }
TEST(Maths, F64FunctionsOfTwoArgumentsAreWithinTheirBounds) { expect_two_argument_bounds<double, F64>(); }

// --- exact results

TEST(Maths, F32PowersOfTwoAreExact) {
  Scalar<float> b;
  for (int n = -149; n < 128; ++n) {
    float power = std::ldexp(1.0f, n);
    EXPECT_EQ(exp2<F32>(b, static_cast<float>(n)), power);
    EXPECT_EQ(log2<F32>(b, power), static_cast<float>(n));
    EXPECT_EQ(pow<F32>(b, 2.0f, static_cast<float>(n)), power);
  }
}

TEST(Maths, F64PowersOfTwoAreExact) {
  Scalar<double> b;
  for (int n = -1074; n < 1024; ++n) {
    double power = static_cast<double>(n);
    EXPECT_EQ(exp2<F64>(b, power), std::ldexp(1.0, n));
    EXPECT_EQ(log2<F64>(b, std::ldexp(1.0, n)), power);
  }
}

// --- the shape of the expansions

/// A builder that counts, and looks at the operands of sums.
struct Shape {
  struct V {
    enum Kind { Power, Product, Other } kind;  // a power of two; what a sum could be contracted with; the rest
  };

  int operations = 0, sums_of_products = 0;

  static bool is_power_of_two(double x) {
    int exponent;
    return std::fabs(std::frexp(x, &exponent)) == 0.5;
  }

  V made(V::Kind kind = V::Other) {
    ++operations;
    return {kind};
  }
  V sum(V x, V y) {
    sums_of_products += x.kind == V::Product || y.kind == V::Product;
    return made();
  }

  V constant(V, double value) { return {is_power_of_two(value) ? V::Power : V::Other}; }
  V iconstant(V, int64_t) { return {V::Other}; }
  V add(V x, V y) { return sum(x, y); }
  V sub(V x, V y) { return sum(x, y); }
  V mul(V x, V y) { return made(x.kind == V::Power || y.kind == V::Power ? V::Other : V::Product); }
  V fma(V, V, V) { return made(); }
  V neg(V x) { return x; }
  V bitcast_int(V) { return {V::Other}; }
  V bitcast_float(V) { return {V::Other}; }
  V where(V, V, V) { return made(); }

#define STRIDER_UNARY(name) \
  V name(V) { return made(); }
#define STRIDER_BINARY(name) \
  V name(V, V) { return made(); }
  STRIDER_UNARY(abs) STRIDER_UNARY(sqrt) STRIDER_UNARY(round_even) STRIDER_UNARY(logical_not)
  STRIDER_UNARY(to_int) STRIDER_UNARY(to_float)
  STRIDER_BINARY(div) STRIDER_BINARY(lt) STRIDER_BINARY(le) STRIDER_BINARY(eq) STRIDER_BINARY(ne)
  STRIDER_BINARY(logical_and) STRIDER_BINARY(logical_or)
  STRIDER_BINARY(bit_and) STRIDER_BINARY(bit_or) STRIDER_BINARY(bit_xor) STRIDER_BINARY(shl) STRIDER_BINARY(shr)
#undef STRIDER_UNARY
#undef STRIDER_BINARY
};

struct ShapeCase {
  const char* name;
  Shape::V (*f)(Shape&, Shape::V);
  int most;  // operations: a change that costs some should be seen
  bool has_pairs = false;  // exact_sum of products, which nothing may contract
};

constexpr ShapeCase kShapes[] = {
    {"exp", exp<F32>, 19},          {"exp2", exp2<F32>, 17},         {"expm1", expm1<F32>, 22},
    {"log", log<F32>, 24},          {"log2", log2<F32>, 25},         {"log1p", log1p<F32>, 25},
    {"tanh", tanh<F32>, 27},        {"sigmoid", sigmoid<F32>, 27},   {"erf", erf<F32>, 34},
    {"gelu", gelu<F32>, 48},
    {"log10", log10<F32>, 26},      {"sin", sin<F32>, 125},          {"cos", cos<F32>, 126},
    {"tan", tan<F32>, 136},         {"asin", asin<F32>, 19},         {"acos", acos<F32>, 27},
    {"atan", atan<F32>, 20},        {"sinh", sinh<F32>, 30},         {"cosh", cosh<F32>, 25},
    {"asinh", asinh<F32>, 40},      {"acosh", acosh<F32>, 39},       {"atanh", atanh<F32>, 36},
    {"erfc", erfc<F32>, 60},        {"cbrt", cbrt<F32>, 29},         {"rsqrt", rsqrt<F32>, 2},

    {"exp of f64", exp<F64>, 25},   {"exp2 of f64", exp2<F64>, 23},  {"expm1 of f64", expm1<F64>, 28},
    {"log of f64", log<F64>, 40},   {"log2 of f64", log2<F64>, 41},  {"log1p of f64", log1p<F64>, 41},
    {"tanh of f64", tanh<F64>, 38}, {"erf of f64", erf<F64>, 56}, {"gelu of f64", gelu<F64>, 72},    {"sigmoid of f64", sigmoid<F64>, 32},
    {"rsqrt of f64", rsqrt<F64>, 2}, {"log10 of f64", log10<F64>, 41}, {"sin of f64", sin<F64>, 248, true},
    {"cos of f64", cos<F64>, 249, true}, {"tan of f64", tan<F64>, 256, true}, {"asin of f64", asin<F64>, 27},
    {"acos of f64", acos<F64>, 34}, {"atan of f64", atan<F64>, 32}, {"sinh of f64", sinh<F64>, 34},
    {"cosh of f64", cosh<F64>, 29}, {"asinh of f64", asinh<F64>, 63}, {"acosh of f64", acosh<F64>, 62},
    {"atanh of f64", atanh<F64>, 59}, {"erfc of f64", erfc<F64>, 96, true}, {"cbrt of f64", cbrt<F64>, 38},
    {"lgamma of f64", lgamma<F64>, 523, true}, {"tgamma of f64", tgamma<F64>, 381, true},
};

constexpr Shape::V kArgument = {Shape::V::Other};

TEST(Maths, NoSumCanBeContracted) {
  for (const ShapeCase& c : kShapes) {
    Shape b;
    c.f(b, kArgument);
    EXPECT_TRUE(b.sums_of_products == 0 || c.has_pairs) << c.name;
    EXPECT_LE(b.operations, c.most) << c.name;
  }
  Shape b;
  pow<F32>(b, kArgument, kArgument);
  atan2<F32>(b, kArgument, kArgument), atan2<F64>(b, kArgument, kArgument);
  hypot<F32>(b, kArgument, kArgument), hypot<F64>(b, kArgument, kArgument);
  EXPECT_EQ(b.sums_of_products, 0);
}

/// A builder that can branch: it must give the same bits, and ask for the slow part only where it is needed.
struct Branching : Scalar<float> {
  int slow_parts = 0;

  template <class Slow, size_t N>
  std::array<float, N> rarely(bool common, Slow slow, std::array<float, N> fast) {
    slow_parts += !common;
    return common ? fast : slow();
  }
};

TEST(Maths, F32LargeAnglesMayBeBranchedAround) {
  Scalar<float> plain;
  Branching b;
  for (uint64_t bits = 0; bits < 0x7f800000; bits += 999'983) {
    float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    int before = b.slow_parts;
    EXPECT_EQ(sin<F32>(b, x), sin<F32>(plain, x));
    EXPECT_EQ(cos<F32>(b, x), cos<F32>(plain, x));
    EXPECT_EQ(tan<F32>(b, x), tan<F32>(plain, x));
    EXPECT_EQ(b.slow_parts - before, x >= 0x1p17f ? 3 : x >= 0x1p12f ? 1 : 0) << x;
  }
}

}  // namespace
}  // namespace strider::maths
