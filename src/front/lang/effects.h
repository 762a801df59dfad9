// SPDX-License-Identifier: Apache-2.0
// What a kernel's prints, assertions and taps mean to its launch.
//
// They are ordinary stores and atomics through hidden parameters, which follow those of the kernel: `(records)`, a buffer of
// 64-bit words that starts as zeros, and a pointer for each tap. No pass and no back end knows of them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "ir/function.h"

namespace strider::front {

/// Words of the buffer. A print takes as many words as it needs by an atomic addition to the cursor:
/// 1 + its number among the records, the program, one word for each element. A failed assertion takes a number and writes three:
/// 1 + its number among the records, the program, the lane.
struct RecordLayout {
  static constexpr int64_t kCursor = 0, kFailures = 1, kFirstFailure = 2;
  static constexpr int64_t kMostFailures = 64, kFailureWords = 3;
  static constexpr int64_t kPrints = kFirstFailure + kMostFailures * kFailureWords;
  static constexpr int64_t kPrintWords = int64_t{1} << 17;
};

/// A print or an assertion.
struct Record {
  enum Kind : uint8_t { Print, Assertion } kind;
  std::string text;  // prefix or message
  Span place;
  std::vector<ir::Type> values;  // printed, or checked
  bool operator==(const Record&) const = default;
};

struct TapPoint {
  std::string name;
  ir::Type type;
  bool operator==(const TapPoint&) const = default;
};

struct Effects {
  static constexpr int kRecords = -1;
  std::vector<Record> records;
  std::vector<TapPoint> taps;           // that were asked for
  std::vector<std::string> tap_names;   // of the kernel, asked for or not
  std::vector<int> hidden;              // parameters: kRecords, or the number of a tap
  std::vector<ir::Value> hidden_nodes;
  std::vector<std::string> lines;       // of compile_print, that wait until it is sure that their body stays
  bool operator==(const Effects&) const = default;
  bool prints() const {
    return std::any_of(records.begin(), records.end(), [](const Record& r) { return r.kind == Record::Print; });
  }
};

/// Which taps a launch asks for.
struct TapRequest {
  bool any = false;
  std::vector<std::string> names = {};  // empty: all
  bool wants(std::string_view name) const {
    return any && (names.empty() || std::find(names.begin(), names.end(), name) != names.end());
  }
};

}  // namespace strider::front
