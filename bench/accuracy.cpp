// SPDX-License-Identifier: Apache-2.0
// How exact the library is: each operator of operators.def that gives a float from one or two, on the CPU, against the C
// library in double (f32 and narrower) or MPFR (f64).
//
//   build/bench/accuracy [--function NAME]... [--dtype f32]... [--stride N] [--samples N] [--markdown FILE]
//
// Functions of one f32 are swept over all 2^32 bit patterns, or every N-th with --stride N; those of one 16-bit float over
// all 65,536. Everything else is sampled: any bits, ordinary numbers, numbers near 1, and the neighbours of special ones.
// The error is in units of the last place of the exact answer. Exits with 1 if one is above its bound.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <mutex>
#include <numbers>

#include "base/error.h"
#include "base/thread_pool.h"
#include "ir/op.h"
#include "ir/semantics.h"
#include "ops/builtins.h"
#include "testing/runner.h"
#include "testing/table.h"

#include <strider/strider.h>

namespace strider::accuracy {
namespace {

// --- references

using Plain = double (*)(const double*);
using Exact = void (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr);

struct Reference {
  std::string_view name;  // in operators.def
  int operands;
  double bound;  // f32 and f64; 16-bit floats have kNarrowBound
  Plain plain;
  Exact exact;
  double least_unit = 0;  // of f64: below it errors are absolute
};
constexpr double kNarrowBound = 0.52;

template <double (*f)(double)>
double plain(const double* x) { return f(x[0]); }
template <double (*f)(double, double)>
double plain2(const double* x) { return f(x[0], x[1]); }
template <int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
void exact(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) { f(result, x, MPFR_RNDN); }
template <int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)>
void exact2(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) { f(result, x, y, MPFR_RNDN); }

double plain_sigmoid(const double* x) { return 1 / (1 + std::exp(-x[0])); }
double plain_rsqrt(const double* x) { return 1 / std::sqrt(x[0]); }
double plain_lgamma(const double* x) {
  int sign;
  return ::lgamma_r(x[0], &sign);
}
void exact_sigmoid(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  mpfr_neg(result, x, MPFR_RNDN);
  mpfr_exp(result, result, MPFR_RNDN);
  mpfr_add_ui(result, result, 1, MPFR_RNDN);
  mpfr_ui_div(result, 1, result, MPFR_RNDN);
}
void exact_rsqrt(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  if (mpfr_zero_p(x)) mpfr_ui_div(result, 1, x, MPFR_RNDN);  // IEEE: -inf for -0
  else mpfr_rec_sqrt(result, x, MPFR_RNDN);
}
void exact_lgamma(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  int sign;
  mpfr_lgamma(result, &sign, x, MPFR_RNDN);
}

double plain_silu(const double* x) { return x[0] / (1 + std::exp(-x[0])); }
double plain_gelu(const double* x) {
  return static_cast<double>(x[0] * std::erfc(x[0] * -std::numbers::sqrt2_v<long double> / 2) / 2);
}
constexpr double kTanhScale = 1.5957691216057307118, kTanhCube = 0.044715;  // of gelu_tanh
double plain_gelu_tanh(const double* x) { return x[0] / (1 + std::exp(-kTanhScale * (x[0] + kTanhCube * x[0] * x[0] * x[0]))); }
double plain_ldexp(const double* x) {
  if (!std::isfinite(x[1])) return x[0] * std::exp2(x[1]);
  double whole = std::trunc(x[1]);
  return std::ldexp(x[0] * std::exp2(x[1] - whole), static_cast<int>(std::clamp(whole, -5000.0, 5000.0)));
}
double plain_square(const double* x) { return x[0] * x[0]; }
double plain_reciprocal(const double* x) { return 1 / x[0]; }
double plain_add(const double* x) { return x[0] + x[1]; }
double plain_sub(const double* x) { return x[0] - x[1]; }
double plain_mul(const double* x) { return x[0] * x[1]; }
double plain_div(const double* x) { return x[0] / x[1]; }
double plain_neg(const double* x) { return -x[0]; }
double plain_sign(const double* x) { return (x[0] > 0) - (x[0] < 0); }
double plain_relu(const double* x) { return x[0] < 0 ? 0 : x[0]; }
bool has_other_sign(double rest, double divisor) { return rest != 0 && (rest < 0) != (divisor < 0); }
double plain_remainder(const double* x) {
  double rest = std::fmod(x[0], x[1]);
  return has_other_sign(rest, x[1]) ? rest + x[1] : rest;
}
/// As Python has it: inf // 1 is NaN, 1 // 0 is inf, -1 // inf is -1.
double plain_floor_div(const double* x) {
  double quotient = x[0] / x[1];
  if (x[1] == 0) return quotient;
  if (std::isinf(x[0])) return NAN;
  return std::isinf(x[1]) ? (has_other_sign(x[0], x[1]) ? -1 : quotient) : std::floor(quotient);
}
/// -0 lies below 0.
template <bool least, bool carries_nan>
double plain_extreme(const double* x) {
  if (std::isnan(x[0]) || std::isnan(x[1])) return carries_nan ? NAN : std::isnan(x[0]) ? x[1] : x[0];
  bool first = x[0] == x[1] ? std::signbit(x[0]) : x[0] < x[1];
  return first == least ? x[0] : x[1];
}

/// What is exact in double.
template <Plain f>
void in_double(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  double args[] = {mpfr_get_d(x, MPFR_RNDN), mpfr_get_d(y, MPFR_RNDN)};
  mpfr_set_d(result, f(args), MPFR_RNDN);
}
void exact_silu(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  exact_sigmoid(result, x, y);
  mpfr_mul(result, result, x, MPFR_RNDN);
}
void exact_gelu(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  mpfr_set_d(result, 0.5, MPFR_RNDN);
  mpfr_sqrt(result, result, MPFR_RNDN);
  mpfr_mul(result, result, x, MPFR_RNDN);
  mpfr_neg(result, result, MPFR_RNDN);
  mpfr_erfc(result, result, MPFR_RNDN);
  mpfr_mul(result, result, x, MPFR_RNDN);
  mpfr_div_ui(result, result, 2, MPFR_RNDN);
}
void exact_gelu_tanh(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  mpfr_sqr(result, x, MPFR_RNDN);
  mpfr_mul_d(result, result, kTanhCube, MPFR_RNDN);
  mpfr_add_ui(result, result, 1, MPFR_RNDN);
  mpfr_mul(result, result, x, MPFR_RNDN);
  mpfr_mul_d(result, result, -kTanhScale, MPFR_RNDN);
  mpfr_exp(result, result, MPFR_RNDN);
  mpfr_add_ui(result, result, 1, MPFR_RNDN);
  mpfr_div(result, x, result, MPFR_RNDN);
}
void exact_ldexp(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  double power = mpfr_get_d(y, MPFR_RNDN);
  mpfr_set_d(result, std::isfinite(power) ? std::clamp(power, -5000.0, 5000.0) : power, MPFR_RNDN);
  mpfr_exp2(result, result, MPFR_RNDN);
  mpfr_mul(result, result, x, MPFR_RNDN);
}
void exact_reciprocal(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) { mpfr_ui_div(result, 1, x, MPFR_RNDN); }
void exact_floor_div(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  if (!mpfr_number_p(x) || !mpfr_regular_p(y)) return in_double<plain_floor_div>(result, x, y);
  mpfr_div(result, x, y, MPFR_RNDN);
  mpfr_floor(result, result);
}
void exact_remainder(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  mpfr_fmod(result, x, y, MPFR_RNDN);
  if (mpfr_regular_p(result) && (mpfr_sgn(result) < 0) != (mpfr_sgn(y) < 0)) mpfr_add(result, result, y, MPFR_RNDN);
}

constexpr double kRounded = 0.501;       // correctly, but for what the reference in double lacks
constexpr double kAsMeasured = HUGE_VAL;  // no promise: docs/accuracy.md says why

constexpr Reference kReferences[] = {
    {"rsqrt", 1, 2, plain_rsqrt, exact_rsqrt},
    {"cbrt", 1, 2, plain<std::cbrt>, exact<mpfr_cbrt>},
    {"exp", 1, 2, plain<std::exp>, exact<mpfr_exp>},
    {"exp2", 1, 2, plain<std::exp2>, exact<mpfr_exp2>},
    {"expm1", 1, 2, plain<std::expm1>, exact<mpfr_expm1>},
    {"log", 1, 2, plain<std::log>, exact<mpfr_log>},
    {"log2", 1, 2, plain<std::log2>, exact<mpfr_log2>},
    {"log10", 1, 2, plain<std::log10>, exact<mpfr_log10>},
    {"log1p", 1, 2, plain<std::log1p>, exact<mpfr_log1p>},
    {"sin", 1, 2, plain<std::sin>, exact<mpfr_sin>},
    {"cos", 1, 2, plain<std::cos>, exact<mpfr_cos>},
    {"tan", 1, 2, plain<std::tan>, exact<mpfr_tan>},
    {"asin", 1, 2, plain<std::asin>, exact<mpfr_asin>},
    {"acos", 1, 2, plain<std::acos>, exact<mpfr_acos>},
    {"atan", 1, 2, plain<std::atan>, exact<mpfr_atan>},
    {"sinh", 1, 2, plain<std::sinh>, exact<mpfr_sinh>},
    {"cosh", 1, 2, plain<std::cosh>, exact<mpfr_cosh>},
    {"tanh", 1, 2, plain<std::tanh>, exact<mpfr_tanh>},
    {"asinh", 1, 2, plain<std::asinh>, exact<mpfr_asinh>},
    {"acosh", 1, 2, plain<std::acosh>, exact<mpfr_acosh>},
    {"atanh", 1, 2, plain<std::atanh>, exact<mpfr_atanh>},
    {"erf", 1, 4, plain<std::erf>, exact<mpfr_erf>},
    {"erfc", 1, 2, plain<std::erfc>, exact<mpfr_erfc>},
    {"lgamma", 1, 4, plain_lgamma, exact_lgamma, 0x1p-56},
    {"tgamma", 1, 4, plain<std::tgamma>, exact<mpfr_gamma>},
    {"sigmoid", 1, 2, plain_sigmoid, exact_sigmoid},
    {"silu", 1, kAsMeasured, plain_silu, exact_silu},
    {"gelu", 1, 4, plain_gelu, exact_gelu},
    {"gelu_tanh", 1, kAsMeasured, plain_gelu_tanh, exact_gelu_tanh},
    {"atan2", 2, 2, plain2<std::atan2>, exact2<mpfr_atan2>},
    {"hypot", 2, 2, plain2<std::hypot>, exact2<mpfr_hypot>},
    {"pow", 2, 4, plain2<std::pow>, exact2<mpfr_pow>},
    {"ldexp", 2, 2, plain_ldexp, exact_ldexp},

    {"sqrt", 1, kRounded, plain<std::sqrt>, exact<mpfr_sqrt>},
    {"square", 1, kRounded, plain_square, exact<mpfr_sqr>},
    {"reciprocal", 1, kRounded, plain_reciprocal, exact_reciprocal},
    {"add", 2, kRounded, plain_add, exact2<mpfr_add>},
    {"sub", 2, kRounded, plain_sub, exact2<mpfr_sub>},
    {"mul", 2, kRounded, plain_mul, exact2<mpfr_mul>},
    {"div", 2, kRounded, plain_div, exact2<mpfr_div>},
    {"floor_div", 2, kRounded, plain_floor_div, exact_floor_div},
    {"remainder", 2, kRounded, plain_remainder, exact_remainder},
    {"fmod", 2, 0, plain2<std::fmod>, exact2<mpfr_fmod>},
    {"neg", 1, 0, plain_neg, exact<mpfr_neg>},
    {"abs", 1, 0, plain<std::fabs>, exact<mpfr_abs>},
    {"sign", 1, 0, plain_sign, in_double<plain_sign>},
    {"relu", 1, 0, plain_relu, in_double<plain_relu>},
    {"floor", 1, 0, plain<std::floor>, in_double<plain<std::floor>>},
    {"ceil", 1, 0, plain<std::ceil>, in_double<plain<std::ceil>>},
    {"trunc", 1, 0, plain<std::trunc>, in_double<plain<std::trunc>>},
    {"round", 1, 0, plain<std::nearbyint>, in_double<plain<std::nearbyint>>},
    {"copysign", 2, 0, plain2<std::copysign>, in_double<plain2<std::copysign>>},
    {"minimum", 2, 0, plain_extreme<true, true>, in_double<plain_extreme<true, true>>},
    {"maximum", 2, 0, plain_extreme<false, true>, in_double<plain_extreme<false, true>>},
    {"fmin", 2, 0, plain_extreme<true, false>, in_double<plain_extreme<true, false>>},
    {"fmax", 2, 0, plain_extreme<false, false>, in_double<plain_extreme<false, false>>},
};

/// What has no distance: three operands, truth values, bits, integers, and results that depend on the dtype's own neighbours.
constexpr std::string_view kOthers[] = {
    "add_scaled", "clamp", "lerp", "where", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "signbit", "logical_and",
    "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_left_shift",
    "bitwise_right_shift", "trunc_div", "nextafter", "copy", "fill"};

constexpr bool is_listed(std::string_view name) {
  for (const Reference& r : kReferences)
    if (r.name == name) return true;
  for (std::string_view other : kOthers)
    if (other == name) return true;
  return false;
}

constexpr std::string_view kOperators[] = {
#define STRIDER_OPERATOR(id, ...) #id,
#include <strider/operators.def>
};
static_assert(std::all_of(std::begin(kOperators), std::end(kOperators), is_listed),
              "an operator of operators.def has no reference in accuracy.cpp");

// --- formats and errors

struct Format {
  DType dtype;
  int digits, most, least;  // bits of a significand; exponents, as frexp has them, of the largest number and the least unit
};
constexpr Format kFormats[] = {{DType::F32, 24, 128, -149}, {DType::F64, 53, 1024, -1074}, {DType::F16, 11, 16, -24},
                               {DType::BF16, 8, 128, -133}};

double is_right(bool right) { return right ? 0 : HUGE_VAL; }

/// The distance in units of the last place of `exact`; beyond the largest number, that number's unit. `exact` is inf only if the
/// answer is.
double error_of(const Format& f, double computed, double exact) {
  if (std::isnan(exact) || std::isnan(computed)) return is_right(std::isnan(exact) && std::isnan(computed));
  if (std::signbit(computed) != std::signbit(exact)) return HUGE_VAL;
  if (std::isinf(exact) || exact == 0) return is_right(computed == exact);
  int exponent = std::min(std::ilogb(exact) + 1, f.most);
  if (std::isinf(computed)) computed = std::copysign(std::ldexp(1.0, f.most), computed);
  if (std::fabs(exact) >= std::fabs(computed) && std::fabs(computed) == std::ldexp(1.0, f.most)) return 0;
  return std::fabs(computed - exact) * std::ldexp(1.0, -std::max(exponent - f.digits, f.least));
}

/// The same in MPFR.
class ExactError {
 public:
  explicit ExactError(const Reference& r) : reference_(r) { mpfr_inits2(kPrecision, x_, y_, exact_, nullptr); }
  ~ExactError() { mpfr_clears(x_, y_, exact_, nullptr); }
  ExactError(const ExactError&) = delete;
  ExactError& operator=(const ExactError&) = delete;

  double operator()(const double* args, double computed) {
    constexpr Format f = kFormats[1];
    mpfr_set_d(x_, args[0], MPFR_RNDN);
    mpfr_set_d(y_, args[1], MPFR_RNDN);
    reference_.exact(exact_, x_, y_);
    if (!mpfr_regular_p(exact_) || !std::isfinite(computed)) return error_of_special(f, computed);
    if ((mpfr_signbit(exact_) != 0) != std::signbit(computed) && !is_below_unit()) return HUGE_VAL;
    long unit = std::max<long>(std::min<long>(mpfr_get_exp(exact_), f.most) - f.digits, f.least);
    mpfr_sub_d(x_, exact_, computed, MPFR_RNDN);
    double least = reference_.least_unit;
    if (least > 0 && unit < std::ilogb(least)) unit = std::ilogb(least);
    mpfr_mul_2si(x_, x_, -unit, MPFR_RNDN);
    return std::fabs(mpfr_get_d(x_, MPFR_RNDN));
  }

 private:
  static constexpr int kPrecision = 120;

  bool is_below_unit() const {
    return mpfr_cmp_d(exact_, reference_.least_unit) < 0 && mpfr_cmp_d(exact_, -reference_.least_unit) > 0;
  }
  double error_of_special(const Format& f, double computed) {
    if (mpfr_regular_p(exact_) && std::isinf(computed)) {  // an overflow is right from the largest number's half unit on
      double largest = std::numeric_limits<double>::max();
      return is_right(mpfr_cmp_d(exact_, computed > 0 ? largest : -largest) != 0 && mpfr_get_exp(exact_) >= f.most &&
                      (mpfr_signbit(exact_) != 0) == (computed < 0));
    }
    return error_of(f, computed, mpfr_get_d(exact_, MPFR_RNDN));
  }

  Reference reference_;
  mpfr_t x_, y_, exact_;
};

// --- inputs, each by its number

/// Steele, Lea and Flood's splitmix64.
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
double unit(uint64_t bits) { return static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-63; }  // -1 to 1

constexpr double kSpecial[] = {0,      0.25,   0.5,        0.6,  M_SQRT1_2, M_PI_4, 0.875,  1,         M_SQRT2,  M_PI_2, 2,
                               3,      M_PI,   2 * M_PI,   10,   19.1,      27.2,   37.43,  88.7228,   103.9721, 128,    150,
                               171.62, 709.78, 745.133219, 1024, 1075,      0x1p24, 0x1p30, 0x1p53,    0x1p100,  0x1p900,
                               2.4570247382208006, 3.9552942848585976, 0x1.6ac5b262ca1ffp849, HUGE_VAL};

/// Sample `index` of operand `k`.
uint64_t sample(const Format& f, uint64_t index, uint64_t k) {
  uint64_t all = f.dtype == DType::F64 ? ~uint64_t{0} : (uint64_t{1} << bits_of(f.dtype)) - 1;
  uint64_t random = mixed(2 * index + k), more = mixed(random);
  auto bits = [&](double x) { return ir::bits_of_double(f.dtype, x); };
  switch (index % 6) {
    case 0: return random & all;
    case 1: return bits(std::ldexp(unit(random), static_cast<int>(more % 64) - 52));
    case 2: return bits(4 * unit(random));
    case 3: return bits((f.most < 1024 ? 120 : 760) * unit(random));
    case 4: {
      int distance = static_cast<int>(more % static_cast<uint64_t>(f.digits));
      return bits((k ? f.most : 1) * (1 + std::ldexp(unit(random), -distance)));
    }
    default: {
      double special = kSpecial[more % std::size(kSpecial)];
      return (bits(random & 1 ? special : -special) + (random >> 1) % 41 - 20) & all;
    }
  }
}

struct Sweep {
  uint64_t count, stride;  // of 0: samples
};

Sweep sweep_of(const Format& f, int operands, uint64_t stride, uint64_t samples) {
  if (operands > 1 || f.dtype == DType::F64) return {samples, 0};
  uint64_t patterns = uint64_t{1} << bits_of(f.dtype);
  uint64_t step = f.dtype == DType::F32 ? stride : 1;
  return {(patterns + step - 1) / step, step};
}

// --- one function in one format

struct Worst {
  double error = -1;
  double args[2] = {};

  void add(double candidate, const double* x) {
    if (candidate <= error) return;
    error = candidate;
    std::copy_n(x, 2, args);
  }
};

class Measurement {
 public:
  Measurement(const Reference& r, const Format& f, const Sweep& sweep) : reference_(r), format_(f), sweep_(sweep) {}

  Worst run(testing::Progress& progress) {
    const Operator& op = *ops::builtin_named(reference_.name).op;
    uint64_t most = format_.dtype == DType::F64 ? uint64_t{1} << 16 : uint64_t{1} << 20;
    for (uint64_t first = 0; first < sweep_.count; first += most) {
      progress.show(fmt::format("{} {} {:.0f} %", reference_.name, name_of(format_.dtype),
                                100 * static_cast<double>(first) / static_cast<double>(sweep_.count)));
      run_block(op, first, static_cast<int64_t>(std::min(most, sweep_.count - first)));
    }
    return worst_;
  }

 private:
  static constexpr int64_t kGrain = 4096;

  void run_block(const Operator& op, uint64_t first, int64_t count) {
    std::vector<Tensor> inputs;
    std::vector<Argument> arguments;
    for (int k = 0; k < reference_.operands; ++k) inputs.push_back(empty({count}, {.dtype = format_.dtype}));
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end, int) {
      for (size_t k = 0; k < inputs.size(); ++k)
        for (int64_t i = begin; i < end; ++i) put(inputs[k], i, input(first + static_cast<uint64_t>(i), k));
    });
    for (const Tensor& x : inputs) arguments.emplace_back(x);
    Tensor result = op.run(arguments)[0];
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end, int) { compare(inputs, result, begin, end); });
  }

  uint64_t input(uint64_t index, size_t k) const { return sweep_.stride ? index * sweep_.stride : sample(format_, index, k); }

  void put(const Tensor& t, int64_t i, uint64_t bits) const {
    std::memcpy(static_cast<char*>(t.data()) + i * size_of(format_.dtype), &bits, static_cast<size_t>(size_of(format_.dtype)));
  }
  double get(const Tensor& t, int64_t i) const {
    if (format_.dtype == DType::F32) return static_cast<const float*>(t.data())[i];
    if (format_.dtype == DType::F64) return static_cast<const double*>(t.data())[i];
    return ir::double_of_bits(format_.dtype, static_cast<const uint16_t*>(t.data())[i]);
  }

  void compare(const std::vector<Tensor>& inputs, const Tensor& result, int64_t begin, int64_t end) {
    Worst worst;
    ExactError exact(reference_);
    for (int64_t i = begin; i < end; ++i) {
      double x[2] = {};
      for (size_t k = 0; k < inputs.size(); ++k) x[k] = get(inputs[k], i);
      double computed = get(result, i);
      bool is_wide = format_.dtype == DType::F64;
      worst.add(is_wide ? exact(x, computed) : error_of(format_, computed, reference_.plain(x)), x);
    }
    std::lock_guard lock(mutex_);
    worst_.add(worst.error, worst.args);
  }

  const Reference& reference_;
  const Format& format_;
  Sweep sweep_;
  std::mutex mutex_;
  Worst worst_;
};

// --- reports

struct Result {
  const Reference* reference;
  const Format* format;
  Sweep sweep;
  Worst worst;

  double bound() const {
    bool is_narrow = size_of(format->dtype) == 2 && reference->bound > 0 && reference->bound < kAsMeasured;
    return is_narrow ? kNarrowBound : reference->bound;
  }
  bool is_within() const { return worst.error <= bound(); }
  std::string place() const {
    std::string text = fmt::format("{:.9g}", worst.args[0]);
    return reference->operands == 1 ? text : fmt::format("{}, {:.9g}", text, worst.args[1]);
  }
};

std::string text_of(const std::vector<Result>& results) {
  testing::Table table("lrrrrl");
  table.add({"function", "dtype", "inputs", "worst ULP", "bound", "at"});
  for (const Result& r : results)
    table.add({std::string(r.reference->name), std::string(name_of(r.format->dtype)), fmt::format("{}", r.sweep.count),
               fmt::format("{:.3f}", r.worst.error), fmt::format("{:g}", r.bound()), r.place()});
  return table.text();
}

/// One row a function, two columns a format.
std::string markdown_of(const std::vector<Result>& results) {
  std::string text = "| function |";
  for (const Format& f : kFormats) text += fmt::format(" {} | at |", name_of(f.dtype));
  text += "\n| --- |";
  for (size_t k = 0; k < std::size(kFormats); ++k) text += " --: | --- |";
  for (const Reference& reference : kReferences) {
    std::string row;
    for (const Format& f : kFormats) {
      std::string cell = " | |";
      for (const Result& r : results)
        if (r.reference == &reference && r.format == &f) cell = fmt::format(" {:.3f} | {} |", r.worst.error, r.place());
      row += cell;
    }
    if (row.find_first_not_of(" |") != std::string::npos) text += fmt::format("\n| `{}` |{}", reference.name, row);
  }
  return text + "\n";
}

/// Replaces what follows the line of the marker.
void write_markdown(const std::string& path, const std::vector<Result>& results) {
  constexpr std::string_view kMarker = "<!-- measured -->\n";
  std::ifstream in(path);
  std::string page((std::istreambuf_iterator<char>(in)), {});
  size_t at = page.find(kMarker);
  if (at == std::string::npos) user_error("{} has no line {}", path, kMarker.substr(0, kMarker.size() - 1));
  std::ofstream out(path);
  out << page.substr(0, at + kMarker.size()) << '\n' << markdown_of(results);
  if (!out) user_error("{} cannot be written", path);
}

bool is_chosen(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

struct Options {
  std::vector<std::string> functions, dtypes;
  uint64_t stride = 1, samples = 1'000'000;
  std::string markdown;
};

bool run(const Options& options) {
  testing::Progress progress;
  std::vector<Result> results;
  for (const Reference& r : kReferences)
    for (const Format& f : kFormats) {
      if (!is_chosen(options.functions, r.name) || !is_chosen(options.dtypes, name_of(f.dtype))) continue;
      Sweep sweep = sweep_of(f, r.operands, options.stride, options.samples);
      results.push_back({&r, &f, sweep, Measurement(r, f, sweep).run(progress)});
    }
  progress.clear();
  if (results.empty()) user_error("no function of that name in that dtype; functions are operators of the library");
  fmt::print("{}", text_of(results));
  if (!options.markdown.empty()) write_markdown(options.markdown, results);
  return std::all_of(results.begin(), results.end(), [](const Result& r) { return r.is_within(); });
}

}  // namespace
}  // namespace strider::accuracy

int main(int argc, char** argv) {
  CLI::App app{"The worst errors of Strider's operators on the CPU", "accuracy"};
  strider::accuracy::Options options;
  app.add_option("--function", options.functions, "an operator, by its name in operators.def; all if left out");
  app.add_option("--dtype", options.dtypes, "f32, f64, f16 or bf16; all if left out");
  app.add_option("--stride", options.stride, "tries every N-th f32")->check(CLI::PositiveNumber);
  app.add_option("--samples", options.samples, "tries so many inputs where not all are")->check(CLI::PositiveNumber);
  app.add_option("--markdown", options.markdown, "a page whose table, after a line <!-- measured -->, is replaced");
  CLI11_PARSE(app, argc, argv);
  try {
    return strider::accuracy::run(options) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "accuracy: {}\n", error.what());
    return 1;
  }
}
