// SPDX-License-Identifier: Apache-2.0
// perf_report(): a number at each point of an axis for each of several lines, as a table, CSV, JSON and a picture.
//
//   auto report = st::testing::perf_report(
//       {.name = "vector add", .x_values = {4096, 65536}, .lines = {"kernel", "operator"}, .y_label = "GB/s", .x_log = true},
//       [](const st::testing::Point& p) -> st::testing::Measured {
//         ...                                         // p["n"] elements, by the way that p.line() names
//         return st::testing::Measured::rate(st::testing::do_bench(run), 3 * bytes);
//       });
//   std::cout << report.text();
//   report.save("results");                          // results/vector add.csv, .json and .svg
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <strider/export.h>
#include <strider/testing/bench.h>

namespace strider {
inline namespace v0 {
namespace testing {

/// A number with the band that it lies in.
struct Measured {
  double value = std::numeric_limits<double>::quiet_NaN();  // NaN: there is nothing to show
  double low = value, high = value;

  Measured() = default;
  Measured(double value) : value(value), low(value), high(value) {}
  Measured(double value, double low, double high) : value(value), low(low), high(high) {}
  /// The median in milliseconds between the 20 % and 80 % quantiles.
  STRIDER_API static Measured time(const BenchResult& result);
  /// The same as GB/s for so many bytes in each call.
  STRIDER_API static Measured rate(const BenchResult& result, int64_t bytes);
};

/// A value of the x axis: a number, or one for each of its names.
class XValue {
 public:
  template <detail::Number T>
  XValue(T value) : values_{static_cast<double>(value)} {}
  XValue(std::initializer_list<double> values) : values_(values) {}
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
};

struct ReportOptions {
  std::string name = "report";             // stands above the table and names the files
  std::vector<std::string> x_names = {"n"};  // a single value counts for all of them
  std::vector<XValue> x_values = {};
  std::vector<std::string> lines = {};     // what is compared: providers, block sizes, ...
  std::string y_label = "ms", x_label = {};  // x_label: the first of x_names if it is left out
  bool x_log = false, y_log = false;
};

/// Where a report measures.
class Point {
 public:
  Point(const ReportOptions& options, size_t x, size_t line) : options_(options), x_(x), line_(line) {}
  /// The value called `name`, rounded to an integer; number() gives it as it is. User errors list the names.
  STRIDER_API int64_t operator[](std::string_view name) const;
  STRIDER_API double number(std::string_view name) const;
  const std::string& line() const { return options_.lines[line_]; }

 private:
  const ReportOptions& options_;
  size_t x_, line_;
};

class Report {
 public:
  STRIDER_API Report(ReportOptions options, std::vector<std::vector<Measured>> values);

  const ReportOptions& options() const { return options_; }
  const Measured& at(size_t x, size_t line) const { return values_[x][line]; }

  /// The name, and a table with a row for each x value and a column for each line.
  STRIDER_API std::string text() const;
  /// A head and a row for each x value: the x values, then value, low and high of each line; empty where there is none.
  STRIDER_API std::string csv() const;
  /// {name, x_names, y_label, lines, points: [{x: {NAME: number}, values: {LINE: {value, low, high}}}]}
  STRIDER_API std::string json() const;
  /// gnuplot's program for the picture.
  STRIDER_API std::string plot_program(const std::string& path) const;
  /// Draws the lines with their bands to a file that ends in .svg or .png. A user error if gnuplot is not installed.
  STRIDER_API void plot(const std::string& path) const;
  /// Writes NAME.csv and NAME.json into a folder, which is made if it is missing, and NAME.svg if gnuplot is installed.
  STRIDER_API void save(const std::string& folder) const;

 private:
  ReportOptions options_;
  std::vector<std::vector<Measured>> values_;  // by x value and line
};

/// Calls `measure` at every point, line by line for each x value. User errors: no x values, no lines, an x value with another
/// number of numbers than there are names.
STRIDER_API Report perf_report(ReportOptions options, const std::function<Measured(const Point&)>& measure);

}  // namespace testing
}  // namespace v0
}  // namespace strider
