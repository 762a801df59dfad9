// SPDX-License-Identifier: Apache-2.0
#include "testing/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace strider::inline v0::testing {

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

}  // namespace strider::v0::testing
