// SPDX-License-Identifier: Apache-2.0
// What the checks of operators and of kernels share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "testing/timing.h"

#include <strider/testing/check.h>
#include <strider/testing/close.h>

namespace strider::inline v0::testing {

using testing::CheckOptions;
using testing::CheckReport;
using testing::CheckStep;
using testing::Verdict;

/// A user error for options without a meaning.
void check_options(const CheckOptions& options);

/// Runs the steps in order. A step that throws has failed with what it said. After a failed one the rest are skipped, but
/// correctness is looked at after boundaries, unless memory was damaged there.
class Steps {
 public:
  Steps(std::string subject, const CheckOptions& options);
  void run(const char* name, const std::function<void(CheckStep&)>& step);
  CheckReport take() { return std::move(report_); }

 private:
  CheckReport report_;
  bool stopped_ = false;
};

/// Whether `work` is as it should be; if it throws, the step has failed with what it said.
bool attempt(CheckStep& step, const std::function<void()>& work);

/// Adds a line; the step has the worst verdict of its lines.
void add(CheckStep& step, Verdict verdict, std::string text);
/// For messages: the first line of a text alone.
std::string first_line(const std::string& text);

/// The dtypes that are tried.
std::vector<DType> dtypes_of(const CheckOptions& options);
/// What step 1 found: "accepted: f16, f32 (gives f32)" and who was refused, why.
class TypesFound {
 public:
  /// Accepts `dtype` with the words that `work` gives, or notes by which error it was refused.
  void attempt(DType dtype, const std::function<std::string()>& work);
  /// Writes the lines, and fails the step where something is wrong.
  void tell(CheckStep& step, const CheckOptions& options) const;
  const std::vector<DType>& accepted() const { return accepted_; }

 private:
  void accept(DType dtype, const std::string& result);
  /// `typed`: by a user or unsupported error.
  void refuse(DType dtype, const std::string& why, bool typed);
  /// Whether two are refused by the same words but for their names.
  bool is_same(size_t a, size_t b) const;

  std::vector<DType> accepted_, refused_;
  std::vector<std::string> results_, reasons_;
  std::vector<std::string> untyped_;
};

/// A tensor of what `value` gives as double for each element, converted to `dtype` as casts do: floats rounded, integers wrapped.
Tensor tensor_of(const std::vector<double>& values, const Dims& shape, DType dtype);
/// The tolerances of the options; NaN is close to NaN.
testing::CloseOptions close_options(const CheckOptions& options, DType dtype);
/// The worst error of results that should be exact to the last digits. Where a result is below the absolute tolerance, that may
/// be all that is left of larger numbers: those count apart.
class WorstUlp {
 public:
  void add(DType dtype, const std::vector<uint64_t>& actual, const std::vector<uint64_t>& expected, double atol);
  /// ", at most 2 ulp (867 where the result is below 0.0001)"; "" if nothing was added.
  std::string text() const;

 private:
  uint64_t usual_ = 0, tiny_ = 0;
  double atol_ = 0;
  bool is_any_ = false;
};

/// The first element that is zero on both sides with different signs, or -1.
int64_t wrong_zero(const std::vector<uint64_t>& actual, const std::vector<uint64_t>& expected, DType dtype);

// --- step 4

/// Something to time beside copies.
struct SpeedCase {
  std::function<void()> run;
  int64_t bytes = 0;      // that it must read and write
  int64_t footprint = 0;  // of all its tensors
};

struct SpeedSubject {
  /// Tensors begin `shift` bytes off an aligned address.
  std::function<SpeedCase(int64_t elements, int64_t block, int64_t shift)> make;
  int64_t block = 0;                 // 0: it is not for the user to choose
  std::vector<int64_t> blocks = {};  // that can be tried
};

/// As testing::measure.
using Stopwatch = std::function<std::vector<Times>(Device& device, std::span<const Call> calls, const Options& options)>;

/// Judges what the stopwatch says: that of the device, if none is given.
void check_speed(CheckStep& step, const SpeedSubject& subject, const CheckOptions& options, const Stopwatch& stopwatch = {});

}  // namespace strider::v0::testing
