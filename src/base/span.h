// SPDX-License-Identifier: Apache-2.0
// Where in the user's source a value was written.
#pragma once

#include <string>

namespace strider {

struct Span {
  std::string file;  // empty: unknown
  int line = 0;      // from 1
  int column = 0;    // from 1

  bool operator==(const Span&) const = default;
};

/// "file.cpp:12", or "" when unknown.
inline std::string to_string(const Span& s) { return s.file.empty() ? "" : s.file + ":" + std::to_string(s.line); }

}  // namespace strider
