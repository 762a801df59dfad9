// SPDX-License-Identifier: Apache-2.0
// Text in columns that line up.
#pragma once

#include <string>
#include <vector>

namespace strider::inline v0::testing {

class Table {
 public:
  /// One letter for each column: 'l' starts at the left, 'r' ends at the right.
  explicit Table(std::string alignment) : alignment_(std::move(alignment)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// All rows, each after two spaces. Columns are as wide as their widest text.
  std::string text() const;

 private:
  std::vector<size_t> widths() const;

  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace strider::v0::testing
