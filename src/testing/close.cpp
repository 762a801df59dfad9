// SPDX-License-Identifier: Apache-2.0
// Each thread keeps the worst places of its part; what is far from `expected` is rare, so that costs little.
#include <strider/testing/close.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "backend/backend.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "base/thread_pool.h"
#include "ir/print.h"
#include "ir/semantics.h"
#include "tensor/compare.h"
#include "testing/table.h"
#include "testing/tolerance.h"

namespace strider::inline v0::testing {

double default_rtol(DType dtype) {
  switch (dtype) {
    case DType::F16: return 1e-3;
    case DType::BF16: return 0.016;
    case DType::F32: return 1.3e-6;
    case DType::F64: return 1e-13;
    default: return 0;
  }
}

double default_atol(DType dtype) { return dtype == DType::F64 ? 1e-13 : is_float(dtype) ? 1e-4 : 0; }

// --- steps between numbers

namespace {

constexpr uint64_t kNoSteps = UINT64_MAX;  // from a number to NaN

bool is_nan(DType dtype, uint64_t bits) { return is_float(dtype) && std::isnan(ir::double_of_bits(dtype, bits)); }

/// Numbers of a float dtype in order: neighbours have neighbouring places, and both zeros have the place 0.
int64_t place_in_order(DType dtype, uint64_t bits) {
  uint64_t sign = uint64_t{1} << (bits_of(dtype) - 1);
  auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

uint64_t difference(int64_t a, int64_t b) {
  return a < b ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a) : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
}

}  // namespace

uint64_t ulp_distance(DType dtype, uint64_t a, uint64_t b) {
  if (dtype == DType::U64) return a < b ? b - a : a - b;
  if (!is_float(dtype)) return difference(ir::int_of_bits(dtype, a), ir::int_of_bits(dtype, b));
  if (is_nan(dtype, a) || is_nan(dtype, b)) return is_nan(dtype, a) && is_nan(dtype, b) ? 0 : kNoSteps;
  return difference(place_in_order(dtype, a), place_in_order(dtype, b));
}

// --- the comparison

namespace {

/// An element that is far from what it should be.
struct Far {
  double badness;  // by how much it misses the tolerance; infinite where just one is NaN
  int64_t element;

  bool operator<(const Far& other) const {  // the worst first, of equal ones the first
    return badness != other.badness ? badness > other.badness : element < other.element;
  }
};

/// What a range of elements gives, and ranges together.
struct Findings {
  int64_t far = 0;
  double max_absolute = 0, max_relative = 0;
  uint64_t max_ulp = 0;
  std::vector<Far> worst;

  void add_far(const Far& place, size_t most) {
    ++far;
    keep(place, most);
  }
  void keep(const Far& place, size_t most) {
    auto position = std::lower_bound(worst.begin(), worst.end(), place);
    if (static_cast<size_t>(position - worst.begin()) >= most) return;
    worst.insert(position, place);
    if (worst.size() > most) worst.pop_back();
  }
  void add(const Findings& other, size_t most) {
    far += other.far;
    max_absolute = std::max(max_absolute, other.max_absolute);
    max_relative = std::max(max_relative, other.max_relative);
    max_ulp = std::max(max_ulp, other.max_ulp);
    for (const Far& place : other.worst) keep(place, most);
  }
};

class Comparison {
 public:
  Comparison(const Rows& actual, const Rows& expected, const Tolerance& tolerance, const CloseOptions& options)
      : actual_(actual), expected_(expected), tolerance_(tolerance), max_ulp_(options.max_ulp), dtype_(actual.dtype()),
        most_(static_cast<size_t>(std::max(options.places, 0))) {}

  Findings run(int64_t count) const {
    constexpr int64_t kGrain = 1 << 13;
    Findings all;
    std::mutex mutex;
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end, int) {
      Findings here;
      for (int64_t i = begin; i < end; ++i) look_at(i, here);
      std::lock_guard lock(mutex);
      all.add(here, most_);
    });
    return all;
  }

  FarPlace place(int64_t i, const Dims& shape) const {
    uint64_t a = actual_[i], b = expected_[i];
    double absolute = distance(dtype_, a, dtype_, b);
    return {index_of(i, shape), ir::print_element(dtype_, a), ir::print_element(dtype_, b), absolute, relative(absolute, b),
            ulp_distance(dtype_, a, b)};
  }

 private:
  double relative(double absolute, uint64_t expected) const {
    return absolute == 0 ? 0 : absolute / std::fabs(ir::double_of_bits(dtype_, expected));
  }

  void look_at(int64_t i, Findings& here) const {
    uint64_t a = actual_[i], b = expected_[i];
    if (a == b && !is_nan(dtype_, a)) return;
    double absolute = distance(dtype_, a, dtype_, b);
    uint64_t ulp = ulp_distance(dtype_, a, b);
    if (ulp != kNoSteps) {
      here.max_absolute = std::max(here.max_absolute, absolute);
      here.max_relative = std::max(here.max_relative, relative(absolute, b));
      here.max_ulp = std::max(here.max_ulp, ulp);
    }
    if (tolerance_.accepts(dtype_, a, dtype_, b)) return;
    if (max_ulp_ && ulp <= *max_ulp_ && !is_nan(dtype_, a)) return;
    here.add_far({badness(absolute, b), i}, most_);
  }

  double badness(double absolute, uint64_t expected) const {
    if (!std::isfinite(absolute)) return std::numeric_limits<double>::infinity();
    double allowed = tolerance_.atol + tolerance_.rtol * std::fabs(ir::double_of_bits(dtype_, expected));
    return absolute / std::max(allowed, std::numeric_limits<double>::min());
  }

  const Rows &actual_, &expected_;
  Tolerance tolerance_;
  std::optional<uint64_t> max_ulp_;
  DType dtype_;
  size_t most_;
};

/// What cannot be compared at all.
std::string problem_of(const TensorView& actual, const TensorView& expected, DType wanted) {
  if (actual.dtype() != wanted) return fmt::format("the result is {}, expected {}", name_of(actual.dtype()), name_of(wanted));
  if (actual.shape() != expected.shape())
    return fmt::format("the result has shape {}, expected {}", to_string(actual.shape()), to_string(expected.shape()));
  return "";
}

}  // namespace

Tolerance tolerance_of(const CloseOptions& options, DType dtype, double largest) {
  double usual_rtol = options.max_ulp ? 0 : default_rtol(dtype);
  double usual_atol = options.max_ulp ? 0 : default_atol(dtype) * (largest > 0 ? std::min(largest, 1.0) : 1);
  if (options.summands < 1) user_error("{} summands, expected 1 or more", options.summands);
  return checked_tolerance(options.rtol.value_or(usual_rtol),
                           options.atol.value_or(usual_atol) * static_cast<double>(options.summands), options.equal_nan);
}

CloseReport compare(const TensorView& actual, const TensorView& expected, const CloseOptions& options) {
  const DefaultFloatEnvironment environment;
  DType dtype = options.dtype.value_or(expected.dtype());
  tolerance_of(options, dtype, 1);  // throws what is wrong with the options, whatever is compared
  CloseReport report{.problem = problem_of(actual, expected, dtype), .dtype = dtype, .allowed_ulp = options.max_ulp};
  if (!report.problem.empty()) return report;
  Tensor rounded = expected.to(dtype);
  Rows left(actual), right(rounded);
  report.elements = actual.elements();
  Tolerance tolerance = tolerance_of(options, dtype, largest_magnitude(dtype, report.elements, right));
  report.rtol = tolerance.rtol;
  report.atol = tolerance.atol;
  if (report.elements == 0) return report;
  Comparison comparison(left, right, tolerance, options);
  Findings found = comparison.run(report.elements);
  report.far = found.far;
  report.max_absolute = found.max_absolute;
  report.max_relative = found.max_relative;
  report.max_ulp = found.max_ulp;
  for (const Far& place : found.worst) report.worst.push_back(comparison.place(place.element, actual.shape()));
  return report;
}

// --- what is said

namespace {

std::string tolerance_text(const CloseReport& r) {
  std::string text = fmt::format("rtol {:g}, atol {:g}", r.rtol, r.atol);
  if (r.allowed_ulp) text += fmt::format(", or {} ulp", *r.allowed_ulp);
  return text;
}

std::string ulp_text(uint64_t ulp) { return ulp == kNoSteps ? "-" : fmt::format("{}", ulp); }

std::string worst_table(const CloseReport& r) {
  testing::Table table("lrrrrr");
  table.add({"index", "actual", "expected", "absolute", "relative", "ulp"});
  for (const FarPlace& p : r.worst)
    table.add({to_string(p.index), p.actual, p.expected, fmt::format("{:.3g}", p.absolute), fmt::format("{:.3g}", p.relative),
               ulp_text(p.ulp)});
  return table.text();
}

}  // namespace

std::string CloseReport::text() const {
  if (!problem.empty()) return problem;
  if (elements == 0) return "there are no elements";
  std::string most = fmt::format("at most {:.3g} absolute, {:.3g} relative, {} ulp apart", max_absolute, max_relative, max_ulp);
  if (far == 0) return fmt::format("{} elements of {} are close ({}): {}", elements, name_of(dtype), tolerance_text(*this), most);
  return fmt::format("{} of {} elements ({:.3g} %) of {} are not close ({}): {}; the worst are\n{}", far, elements,
                     100.0 * static_cast<double>(far) / static_cast<double>(elements), name_of(dtype), tolerance_text(*this),
                     most, worst_table(*this));
}

void assert_close(const TensorView& actual, const TensorView& expected, const CloseOptions& options, const std::string& what) {
  CloseReport report = compare(actual, expected, options);
  if (!report.is_close()) user_error("{}{}{}", what, what.empty() ? "" : ": ", report.text());
}

}  // namespace strider::v0::testing
