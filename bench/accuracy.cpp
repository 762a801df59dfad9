// SPDX-License-Identifier: Apache-2.0
// How exact the elementary functions are: each one that ops.def marks Approx, compiled as an operator on the CPU, against
// the C library in double (f32 and narrower) or MPFR (f64).
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

#include <bit>
#include <cmath>
#include <fstream>
#include <mutex>

#include "base/error.h"
#include "base/thread_pool.h"
#include "ir/op.h"
#include "ir/semantics.h"
#include "testing/runner.h"
#include "testing/table.h"

#include <strider/strider.h>

namespace strider::accuracy {
namespace {

using ir::Op;

// --- references

using Plain = double (*)(const double*);
using Exact = void (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr);

struct Reference {
  Op op;
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

constexpr Reference kReferences[] = {
    {Op::Rsqrt, 2, plain_rsqrt, exact_rsqrt},
    {Op::Cbrt, 2, plain<std::cbrt>, exact<mpfr_cbrt>},
    {Op::Exp, 2, plain<std::exp>, exact<mpfr_exp>},
    {Op::Exp2, 2, plain<std::exp2>, exact<mpfr_exp2>},
    {Op::Expm1, 2, plain<std::expm1>, exact<mpfr_expm1>},
    {Op::Log, 2, plain<std::log>, exact<mpfr_log>},
    {Op::Log2, 2, plain<std::log2>, exact<mpfr_log2>},
    {Op::Log10, 2, plain<std::log10>, exact<mpfr_log10>},
    {Op::Log1p, 2, plain<std::log1p>, exact<mpfr_log1p>},
    {Op::Sin, 2, plain<std::sin>, exact<mpfr_sin>},
    {Op::Cos, 2, plain<std::cos>, exact<mpfr_cos>},
    {Op::Tan, 2, plain<std::tan>, exact<mpfr_tan>},
    {Op::Asin, 2, plain<std::asin>, exact<mpfr_asin>},
    {Op::Acos, 2, plain<std::acos>, exact<mpfr_acos>},
    {Op::Atan, 2, plain<std::atan>, exact<mpfr_atan>},
    {Op::Sinh, 2, plain<std::sinh>, exact<mpfr_sinh>},
    {Op::Cosh, 2, plain<std::cosh>, exact<mpfr_cosh>},
    {Op::Tanh, 2, plain<std::tanh>, exact<mpfr_tanh>},
    {Op::Asinh, 2, plain<std::asinh>, exact<mpfr_asinh>},
    {Op::Acosh, 2, plain<std::acosh>, exact<mpfr_acosh>},
    {Op::Atanh, 2, plain<std::atanh>, exact<mpfr_atanh>},
    {Op::Erf, 4, plain<std::erf>, exact<mpfr_erf>},
    {Op::Erfc, 2, plain<std::erfc>, exact<mpfr_erfc>},
    {Op::Lgamma, 4, plain_lgamma, exact_lgamma, 0x1p-56},
    {Op::Tgamma, 4, plain<std::tgamma>, exact<mpfr_gamma>},
    {Op::Sigmoid, 2, plain_sigmoid, exact_sigmoid},
    {Op::Atan2, 2, plain2<std::atan2>, exact2<mpfr_atan2>},
    {Op::Hypot, 2, plain2<std::hypot>, exact2<mpfr_hypot>},
    {Op::Pow, 4, plain2<std::pow>, exact2<mpfr_pow>},
};

constexpr bool all_referenced() {
  for (int k = 0; k < ir::kOpCount; ++k) {
    bool found = !has(ir::op_at(k), ir::Approx);
    for (const Reference& r : kReferences) found = found || r.op == ir::op_at(k);
    if (!found) return false;
  }
  return true;
}
static_assert(all_referenced(), "an Approx op of ops.def has no reference in accuracy.cpp");

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

Operator make_operator(Op op) {
  int operands = info(op).least;
  auto id = static_cast<detail::OpId>(ir::number_of(op));
  auto body = [=](std::span<const Value> x) {
    return detail::Values{operands == 1 ? detail::apply(id, x[0]) : detail::apply(id, x[0], x[1])};
  };
  return Operator({std::string(name_of(op)), {}, static_cast<size_t>(operands), 1, body});
}

class Measurement {
 public:
  Measurement(const Reference& r, const Format& f, const Sweep& sweep) : reference_(r), format_(f), sweep_(sweep) {}

  Worst run(testing::Progress& progress) {
    Operator op = make_operator(reference_.op);
    uint64_t most = format_.dtype == DType::F64 ? uint64_t{1} << 16 : uint64_t{1} << 20;
    for (uint64_t first = 0; first < sweep_.count; first += most) {
      progress.show(fmt::format("{} {} {:.0f} %", name_of(reference_.op), name_of(format_.dtype),
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
    for (int k = 0; k < info(reference_.op).least; ++k) inputs.push_back(empty({count}, {.dtype = format_.dtype}));
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

  double bound() const { return size_of(format->dtype) == 2 ? kNarrowBound : reference->bound; }
  bool is_within() const { return worst.error <= bound(); }
  std::string place() const {
    std::string text = fmt::format("{:.9g}", worst.args[0]);
    return info(reference->op).least == 1 ? text : fmt::format("{}, {:.9g}", text, worst.args[1]);
  }
};

std::string text_of(const std::vector<Result>& results) {
  testing::Table table("lrrrrl");
  table.add({"function", "dtype", "inputs", "worst ULP", "bound", "at"});
  for (const Result& r : results)
    table.add({std::string(name_of(r.reference->op)), std::string(name_of(r.format->dtype)), fmt::format("{}", r.sweep.count),
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
    if (row.find_first_not_of(" |") != std::string::npos) text += fmt::format("\n| `{}` |{}", name_of(reference.op), row);
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
      if (!is_chosen(options.functions, name_of(r.op)) || !is_chosen(options.dtypes, name_of(f.dtype))) continue;
      Sweep sweep = sweep_of(f, info(r.op).least, options.stride, options.samples);
      results.push_back({&r, &f, sweep, Measurement(r, f, sweep).run(progress)});
    }
  progress.clear();
  if (results.empty()) user_error("no function of that name in that dtype; functions are the Approx rows of ops.def");
  fmt::print("{}", text_of(results));
  if (!options.markdown.empty()) write_markdown(options.markdown, results);
  return std::all_of(results.begin(), results.end(), [](const Result& r) { return r.is_within(); });
}

}  // namespace
}  // namespace strider::accuracy

int main(int argc, char** argv) {
  CLI::App app{"The worst errors of Strider's elementary functions on the CPU", "accuracy"};
  strider::accuracy::Options options;
  app.add_option("--function", options.functions, "a function, by its name in ops.def; all if left out");
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
