// SPDX-License-Identifier: Apache-2.0
// autotune(): a kernel that finds its own constants.
//
//   auto tuned = st::testing::autotune(l1, {.configs = {{{"BLOCK", 1024}}, {{"BLOCK", 4096}}, {{"BLOCK", 16384}}},
//                                           .key = {"n"},
//                                           .reset_to_zero = {"out"}});
//   auto grid = [=](const auto& constants) { return st::cdiv(n, constants["BLOCK"]); };
//   tuned[grid](x, out, n);
//   std::cout << tuned.table();
//
// The first launch for a key runs all configurations on the arguments that it was given, compares what they compute, times those
// that compute the same in turn, until it is certain which is the fastest, and launches that; later ones launch it at once. What was found is kept in the folder of the disk cache (docs/caches.md), so that later processes
// need not time anything. Every configuration runs many times: name the tensors that the kernel adds into or overwrites.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strider/kernel.h>
#include <strider/testing/bench.h>

namespace strider {
inline namespace v0 {
namespace testing {

/// Values for some of a kernel's constants: `{{"BLOCK", 256}, {"ROWS", 4}}`.
class TuneConfig {
 public:
  TuneConfig(std::initializer_list<std::pair<std::string, int64_t>> constants) : constants_(constants) {}
  explicit TuneConfig(std::vector<std::pair<std::string, int64_t>> constants) : constants_(std::move(constants)) {}
  const std::vector<std::pair<std::string, int64_t>>& constants() const { return constants_; }
  /// A user error that lists the names if there is none.
  STRIDER_API int64_t operator[](std::string_view name) const;
  /// "BLOCK 256, ROWS 4".
  STRIDER_API std::string text() const;
  bool operator==(const TuneConfig&) const = default;

 private:
  std::vector<std::pair<std::string, int64_t>> constants_;
};

/// The arguments of a launch that is tuned, by the names of the kernel's parameters. User errors list the names.
class TuneArguments {
 public:
  TuneArguments(const Kernel& kernel, std::span<const Argument> by_param) : kernel_(kernel), by_param_(by_param) {}
  STRIDER_API int64_t operator[](std::string_view name) const;  // an integer
  STRIDER_API const TensorView& tensor(std::string_view name) const;

 private:
  const Argument& named(std::string_view name) const;
  const Kernel& kernel_;
  std::span<const Argument> by_param_;  // without one for the constants that are tuned
};

struct TuneOptions {
  std::vector<TuneConfig> configs = {};
  /// Parameters that select: a number by its value, a tensor by its shape. The device and the dtypes of all tensors always do.
  std::vector<std::string> key = {};
  /// Which configurations are worth a try for these arguments; left out: all.
  std::function<std::vector<TuneConfig>(const std::vector<TuneConfig>&, const TuneArguments&)> prune = {};
  /// An estimate of the time, in any unit; with it only the `top_k` configurations of least estimate are timed.
  std::function<double(const TuneConfig&, const TuneArguments&)> model = {};
  size_t top_k = 5;
  /// Tensors by the names of their parameters: zeroed, or put back, before each timed launch and after the last one.
  std::vector<std::string> reset_to_zero = {}, restore = {};
  /// Tensors whose contents differ between configurations by design, such as partial sums for each program. All others that the
  /// kernel writes must come out alike, from equal beginnings: floats to within `rtol` of the tensor's largest magnitude (left out:
  /// the square root of the dtype's epsilon, since sums in another order differ), all else exactly. A configuration that differs
  /// from most is not chosen.
  std::vector<std::string> scratch = {};
  std::optional<double> rtol = {};
  double warm_up = 5, repeat = 20;  // milliseconds for each configuration; up to four times `repeat` where the order is in doubt
  bool flush_cache = false;
  bool keep = true;                 // on disk, where the disk cache is on
};

/// One configuration as it was timed.
struct TuneRow {
  TuneConfig config;
  double median = 0, low = 0, high = 0;  // milliseconds, with the 20 % and 80 % quantiles; 0 if it failed
  std::string error = {};                // why it could not be compiled or launched, or what it computes otherwise than most
};

/// What was found for one key.
struct TuneResult {
  std::string key;             // "cpu, n 1000, x f32, out f32"
  std::vector<TuneRow> rows;   // the fastest first, those that failed last
  int left_out = 0;            // configurations that prune or the model took away
  bool from_disk = false;      // an earlier process timed it
  bool is_certain = true;      // no other configuration may be faster than the first by more than 2 % (at 95 %)

  const TuneConfig& best() const { return rows[0].config; }
};

class Autotuned {
 public:
  STRIDER_API Autotuned(Kernel kernel, TuneOptions options);
  Autotuned(const Autotuned&) = default;  // moving copies: there is no empty tuner
  Autotuned& operator=(const Autotuned&) = default;

  class Launcher;
  inline Launcher operator[](LaunchGrid grid) const;
  STRIDER_API void launch(const LaunchGrid& grid, std::span<const Argument> arguments) const;
  /// The result for these arguments, which are timed now if that was not done before.
  STRIDER_API TuneResult tune(const LaunchGrid& grid, std::span<const Argument> arguments) const;

  /// What was found so far, a result for each key.
  STRIDER_API std::vector<TuneResult> results() const;
  /// The same as text: for each key a table of the configurations, their times, and the errors of those that failed.
  STRIDER_API std::string table() const;
  const Kernel& kernel() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

class Autotuned::Launcher {
 public:
  Launcher(const Autotuned& tuned, LaunchGrid grid) : tuned_(tuned), grid_(std::move(grid)) {}
  /// The kernel's arguments in order or by name, without the constants that are tuned; other constants stand at their places.
  template <std::convertible_to<Argument>... A>
  void operator()(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)..., Argument()};
    tuned_.launch(grid_, std::span(list, sizeof...(A)));
  }
  template <std::convertible_to<Argument>... A>
  TuneResult tune(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)..., Argument()};
    return tuned_.tune(grid_, std::span(list, sizeof...(A)));
  }

 private:
  Autotuned tuned_;  // a launcher may outlive the object that it came from
  LaunchGrid grid_;
};

inline Autotuned::Launcher Autotuned::operator[](LaunchGrid grid) const { return {*this, std::move(grid)}; }

/// The kernel with a search for its constants. User errors: no configurations, configurations that name other constants than
/// the first, names that are no parameters of the kernel. A launch throws a user error, with the error of each configuration, if
/// none of them runs.
inline Autotuned autotune(const Kernel& kernel, TuneOptions options) { return Autotuned(kernel, std::move(options)); }

}  // namespace testing
}  // namespace v0
}  // namespace strider
