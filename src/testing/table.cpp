// SPDX-License-Identifier: Apache-2.0
#include "testing/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace strider::timing {

std::vector<size_t> Table::widths() const {
  std::vector<size_t> result(alignment_.size(), 0);
  for (const auto& row : rows_)
    for (size_t k = 0; k < row.size(); ++k) result[k] = std::max(result[k], row[k].size());
  return result;
}

std::string Table::text() const {
  std::vector<size_t> width = widths();
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t k = 0; k < row.size(); ++k)
      line += alignment_[k] == 'r' ? fmt::format("  {:>{}}", row[k], width[k]) : fmt::format("  {:<{}}", row[k], width[k]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// --- measurements

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  return fmt::format("{:.2f} ms", seconds * 1e3);
}

namespace {

std::string spread_text(const Times& t) {
  if (t.samples.size() < 2) return "";
  return fmt::format("{:.0f}%", 50 * (t.quantile(0.8) - t.quantile(0.2)) / t.median());
}

std::vector<std::string> line(const Row& row) {
  std::vector<std::string> text{row.name, time_text(row.times.median()), spread_text(row.times)};
  if (!row.processor.samples.empty()) text.push_back(time_text(row.processor.median()));
  if (row.bytes == 0) return text;
  text.push_back(fmt::format("{:.1f}", gigabytes_per_second(row.bytes, row.times)));
  text.push_back(fmt::format("{:.2f}", row.ratio));
  text.push_back(fmt::format("of {} ({:.1f} GB/s)", row.baseline_name, gigabytes_per_second(row.bytes, row.baseline)));
  return text;
}

}  // namespace

std::string table_of(std::span<const Row> rows) {
  Table table("lrrrrl");
  bool counts_bytes = rows[0].bytes > 0;
  table.add(counts_bytes ? std::vector<std::string>{"case", "time", "+-", "GB/s", "ratio", ""}
                         : std::vector<std::string>{"case", "time", "+-", "processor"});
  for (const Row& row : rows) table.add(line(row));
  return table.text();
}

}  // namespace strider::timing
