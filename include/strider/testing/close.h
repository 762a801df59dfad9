// SPDX-License-Identifier: Apache-2.0
// assert_close(): whether a result is what it should be, and where it is not.
//
//   st::testing::assert_close(out, reference);                            // tolerances of the dtype
//   st::testing::assert_close(half, reference_f64, {.dtype = st::f16});   // the reference is rounded to f16 first
//   st::testing::assert_close(y, reference, {.max_ulp = 2, .equal_nan = true});
//
// An element is close if |actual - expected| <= atol + rtol * |expected|, or if no more than max_ulp steps of its dtype lie
// between the two; infinities only if they are the same. The rule is that of PyTorch's and FlagGems' tests, and so are the relative
// tolerances, but that of f64: theirs, 1e-7, is right for f64 results of f32 arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <strider/export.h>
#include <strider/tensor.h>

namespace strider {
inline namespace v0 {
namespace testing {

/// 1e-3 for f16, 0.016 for bf16, 1.3e-6 for f32, 1e-13 for f64 (450 steps), else 0.
STRIDER_API double default_rtol(DType dtype);
/// 1e-4 for f16, bf16 and f32, 1e-13 for f64, else 0. Where it is not asked for, it is relative as well: among numbers that are all
/// smaller than 1 it counts as often as the largest finite magnitude that is expected.
STRIDER_API double default_atol(DType dtype);

struct CloseOptions {
  std::optional<double> rtol = {}, atol = {};  // left out: by the dtype of `actual`; with max_ulp 0
  std::optional<uint64_t> max_ulp = {};        // steps from one number of the dtype to the next; -0 and +0 are the same
  bool equal_nan = false;                      // NaN is close to NaN
  std::optional<DType> dtype = {};  // what `actual` must be; `expected` is converted to it first. Left out: that of `expected`
  int64_t summands = 1;                        // of a result that is a sum: atol counts as often
  int places = 5;                              // how many places the message shows
};

/// An element that is not close.
struct FarPlace {
  Dims index;
  std::string actual, expected;                  // in as many digits as tell them from others of their dtype
  double absolute = 0, relative = 0;             // |actual - expected|, and that by |expected|; NaN where just one is NaN
  uint64_t ulp = 0;                              // steps between them; 2^64 - 1 if just one is NaN
};

/// How two tensors compare; true if they are close.
struct CloseReport {
  std::string problem = {};        // shapes or dtypes that differ; then nothing was compared
  DType dtype = DType::F32;
  double rtol = 0, atol = 0;
  std::optional<uint64_t> allowed_ulp = {};
  int64_t elements = 0, far = 0;   // how many were compared, and how many are not close
  double max_absolute = 0, max_relative = 0;  // over all elements, those where just one is NaN left out
  uint64_t max_ulp = 0;                       // the same
  std::vector<FarPlace> worst = {};           // those that miss the tolerance by most, the worst first

  bool is_close() const { return problem.empty() && far == 0; }
  explicit operator bool() const { return is_close(); }
  /// What was compared and how far it is apart, with a table of the worst places.
  STRIDER_API std::string text() const;
};

/// Compares, and throws only user errors for tolerances that are negative or NaN. The tensors may lie on different devices.
STRIDER_API CloseReport compare(const TensorView& actual, const TensorView& expected, const CloseOptions& options = {});

/// Throws a user error with compare()'s text, after `what` if that is given, unless the tensors are close.
STRIDER_API void assert_close(const TensorView& actual, const TensorView& expected, const CloseOptions& options = {},
                              const std::string& what = "");

/// Steps of `dtype` from one element to the other, both as bits (as by to_bits()): 0 for equal numbers, -0 and +0, and two NaNs,
/// 2^64 - 1 if just one is NaN. Integers: the difference.
STRIDER_API uint64_t ulp_distance(DType dtype, uint64_t a, uint64_t b);

}  // namespace testing
}  // namespace v0
}  // namespace strider
