// SPDX-License-Identifier: Apache-2.0
// do_bench(): how long a call takes.
//
//   st::testing::BenchResult t = st::testing::do_bench([&] { add(a, b, st::out(c)); });
//   std::printf("%.3f ms, %.1f GB/s\n", t.median, t.gigabytes_per_second(3 * bytes));
//
// A sample is the time of one call, by the device's clock where it has one, from an idle device to an idle device. Before each
// sample, outside of what is timed, tensors are zeroed or put back and the caches are emptied, as far as that is asked for; if
// nothing is, calls that are too short for the clock are timed in batches. Times are in milliseconds, as in Triton.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <strider/export.h>
#include <strider/tensor.h>

namespace strider {
inline namespace v0 {
namespace testing {

struct BenchOptions {
  double warm_up = 25;   // milliseconds of calls before the first sample; the first call of all, which compiles, comes before
  double repeat = 100;   // milliseconds of samples and of what is done between them
  int least_samples = 5, most_samples = 1000;   // whatever `repeat` says
  bool flush_cache = true;                      // every sample finds its data in memory, not in a cache
  std::vector<double> quantiles = {};           // of the samples, each in [0, 1]
  std::vector<TensorView> reset_to_zero = {};   // zeroed before every sample, and at the end
  std::vector<TensorView> restore = {};         // given back the elements that they had before do_bench(), likewise
  std::string_view device = "cpu";              // where the calls run
};

struct BenchResult {
  double median = 0, mean = 0, min = 0, max = 0;  // milliseconds of one call
  std::vector<double> quantiles = {};             // those that were asked for, in that order
  std::vector<double> samples = {};               // in the order they were taken

  /// 0 gives the least sample, 1 the greatest; between two samples, the line between them.
  STRIDER_API double quantile(double q) const;
  /// `bytes` of one call by the median.
  double gigabytes_per_second(int64_t bytes) const { return static_cast<double>(bytes) / median / 1e6; }
  /// "12.3 us (10.1 us to 13.0 us, 41 samples)": the median, and what nine tenths of the samples lie between.
  STRIDER_API std::string text() const;
};

/// Times `run`. User errors: times below 0, numbers of samples below 1, quantiles outside of [0, 1], a device that is not there,
/// and a read-only tensor to zero or restore. What `run` throws comes through, with the tensors put back.
STRIDER_API BenchResult do_bench(const std::function<void()>& run, const BenchOptions& options = {});

// What to compare with: no kernel that moves as many bytes takes less than the first, and no launch takes less than the second.

/// The identity operator on f32 tensors of its own: half of `bytes` are read, half are written. A user error below 8 bytes.
STRIDER_API BenchResult bench_copy(int64_t bytes, const BenchOptions& options = {});
/// A launch of one program that does nothing.
STRIDER_API BenchResult bench_empty_kernel(const BenchOptions& options = {});

}  // namespace testing
}  // namespace v0
}  // namespace strider
