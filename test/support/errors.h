// SPDX-License-Identifier: Apache-2.0
// What an error says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include <strider/error.h>

namespace strider::support {

/// The message of the error that `f` throws, which must be of this kind, or "" if it throws none.
std::string error_of(ErrorKind kind, auto f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  return "";
}

/// That of a user error.
std::string error_of(auto f) { return error_of(ErrorKind::User, f); }

/// The same without the place of the launch: "kernel f (file.cpp:3): words" as "kernel f: words".
inline std::string unplaced(const std::string& text) {
  size_t begin = text.find(" ("), end = text.find("): ");
  return begin > text.find(": ") || end == std::string::npos ? text : text.substr(0, begin) + text.substr(end + 1);
}

}  // namespace strider::support
