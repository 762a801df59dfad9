// SPDX-License-Identifier: Apache-2.0
#include <strider/testing/report.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "testing/plot.h"
#include "testing/table.h"

namespace strider::inline v0::testing {

Measured Measured::time(const BenchResult& r) { return {r.median, r.quantile(0.2), r.quantile(0.8)}; }

Measured Measured::rate(const BenchResult& r, int64_t bytes) {
  auto at = [&](double milliseconds) { return static_cast<double>(bytes) / milliseconds / 1e6; };
  return {at(r.median), at(r.quantile(0.8)), at(r.quantile(0.2))};
}

// --- points

double Point::number(std::string_view name) const {
  const std::vector<std::string>& names = options_.x_names;
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    user_error("the report {} has no {} on its x axis; there are {}", options_.name, name, fmt::join(names, ", "));
  const std::vector<double>& values = options_.x_values[x_].values();
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(found - names.begin())];
}

int64_t Point::operator[](std::string_view name) const { return std::llround(number(name)); }

namespace {

void check(const ReportOptions& o) {
  if (o.x_names.empty()) user_error("the report {} has no names for its x axis", o.name);
  if (o.x_values.empty()) user_error("the report {} has no x values", o.name);
  if (o.lines.empty()) user_error("the report {} has no lines", o.name);
  for (const XValue& x : o.x_values)
    if (size_t count = x.values().size(); count != 1 && count != o.x_names.size())
      user_error("the report {}: an x value has {} numbers, expected {} ({})", o.name, count, o.x_names.size(),
                 fmt::join(o.x_names, ", "));
}

}  // namespace

Report perf_report(ReportOptions options, const std::function<Measured(const Point&)>& measure) {
  check(options);
  std::vector<std::vector<Measured>> values(options.x_values.size());
  for (size_t x = 0; x < options.x_values.size(); ++x)
    for (size_t line = 0; line < options.lines.size(); ++line) values[x].push_back(measure(Point(options, x, line)));
  return Report(std::move(options), std::move(values));
}

Report::Report(ReportOptions options, std::vector<std::vector<Measured>> values)
    : options_(std::move(options)), values_(std::move(values)) {
  check(options_);
  if (options_.x_label.empty()) options_.x_label = options_.x_names[0];
}

// --- as text

namespace {

std::string x_text(const ReportOptions& o, size_t x, const std::string& name) {
  return fmt::format("{:.15g}", Point(o, x, 0).number(name));
}

std::string value_text(double v) {
  if (std::isnan(v)) return "-";
  return std::fabs(v) >= 100   ? fmt::format("{:.1f}", v)
         : std::fabs(v) >= 0.1 ? fmt::format("{:.3f}", v)
                               : fmt::format("{:.4g}", v);
}

/// A field that holds a comma, a quote or a line's end stands in quotes.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_number(double v) { return std::isnan(v) ? "" : fmt::format("{}", v); }

nlohmann::json json_number(double v) { return std::isfinite(v) ? nlohmann::json(v) : nlohmann::json(nullptr); }

}  // namespace

std::string Report::text() const {
  testing::Table table(std::string(options_.x_names.size() + options_.lines.size(), 'r'));
  std::vector<std::string> head = options_.x_names;
  for (const std::string& line : options_.lines) head.push_back(fmt::format("{} ({})", line, options_.y_label));
  table.add(head);
  for (size_t x = 0; x < values_.size(); ++x) {
    std::vector<std::string> row;
    for (const std::string& name : options_.x_names) row.push_back(x_text(options_, x, name));
    for (const Measured& m : values_[x]) row.push_back(value_text(m.value));
    table.add(std::move(row));
  }
  return fmt::format("{}:\n{}", options_.name, table.text());
}

std::string Report::csv() const {
  std::vector<std::string> head;
  for (const std::string& name : options_.x_names) head.push_back(csv_field(name));
  for (const std::string& line : options_.lines)
    for (const char* what : {"", " low", " high"})
      head.push_back(csv_field(fmt::format("{} ({}){}", line, options_.y_label, what)));
  std::string text = fmt::format("{}\n", fmt::join(head, ","));
  for (size_t x = 0; x < values_.size(); ++x) {
    std::vector<std::string> row;
    for (const std::string& name : options_.x_names) row.push_back(x_text(options_, x, name));
    for (const Measured& m : values_[x])
      for (double v : {m.value, m.low, m.high}) row.push_back(csv_number(v));
    text += fmt::format("{}\n", fmt::join(row, ","));
  }
  return text;
}

std::string Report::json() const {
  nlohmann::json points = nlohmann::json::array();
  for (size_t x = 0; x < values_.size(); ++x) {
    nlohmann::json point{{"x", nlohmann::json::object()}, {"values", nlohmann::json::object()}};
    for (const std::string& name : options_.x_names) point["x"][name] = Point(options_, x, 0).number(name);
    for (size_t line = 0; line < options_.lines.size(); ++line) {
      const Measured& m = values_[x][line];
      point["values"][options_.lines[line]] = {
          {"value", json_number(m.value)}, {"low", json_number(m.low)}, {"high", json_number(m.high)}};
    }
    points.push_back(std::move(point));
  }
  nlohmann::json all{{"name", options_.name}, {"x_names", options_.x_names}, {"y_label", options_.y_label},
                     {"lines", options_.lines}, {"points", std::move(points)}};
  return all.dump(2) + "\n";
}

// --- as a picture

namespace {

constexpr const char* kColours[] = {"#1f5fa8", "#c0392b", "#2c8a4b", "#e08a2c", "#7d3c98", "#555555"};

std::string plot_number(double v) { return std::isfinite(v) ? fmt::format("{}", v) : "NaN"; }

}  // namespace

std::string Report::plot_program(const std::string& path) const {
  std::string text;
  for (size_t line = 0; line < options_.lines.size(); ++line) {
    text += fmt::format("$line{} << EOD\n", line);
    for (size_t x = 0; x < values_.size(); ++x) {
      const Measured& m = values_[x][line];
      text += fmt::format("{} {} {} {}\n", Point(options_, x, line).number(options_.x_names[0]), plot_number(m.value),
                          plot_number(m.low), plot_number(m.high));
    }
    text += "EOD\n";
  }
  text += testing::output_of(path, 900, 540);
  text += fmt::format(
      "set title {}\nset xlabel {}\nset ylabel {}\nset key outside top right horizontal\nset style fill transparent solid 0.2 "
      "noborder\n",
      testing::quoted(options_.name), testing::quoted(options_.x_label), testing::quoted(options_.y_label));
  if (options_.x_log) text += "set logscale x 2\n";
  text += options_.y_log ? "set logscale y\n" : "set yrange [0:*]\n";
  for (size_t line = 0; line < options_.lines.size(); ++line) {
    const char* colour = kColours[line % std::size(kColours)];
    text +=
        fmt::format("{} $line{} using 1:3:4 with filledcurves lc rgb '{}' notitle, \\\n", line == 0 ? "plot" : " ", line, colour);
    text += fmt::format("  $line{} using 1:2 with linespoints pt 7 ps 0.6 lw 2 lc rgb '{}' title {}{}\n", line, colour,
                        testing::quoted(options_.lines[line]), line + 1 < options_.lines.size() ? ", \\" : "");
  }
  return text;
}

void Report::plot(const std::string& path) const {
  testing::check_plot(path);
  testing::run_gnuplot(plot_program(path), path);
}

void Report::save(const std::string& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string name = options_.name;
  std::replace(name.begin(), name.end(), '/', '_');
  std::filesystem::path base = std::filesystem::path(folder) / name;
  auto write = [&](const char* ending, const std::string& text) {
    std::ofstream file(base.string() + ending);
    file << text;
    file.close();
    if (!file) user_error("the report {}: {}{} cannot be written", options_.name, base.string(), ending);
  };
  write(".csv", csv());
  write(".json", json());
  if (testing::can_plot()) plot(base.string() + ".svg");
}

}  // namespace strider::v0::testing
