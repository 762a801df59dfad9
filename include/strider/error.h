// SPDX-License-Identifier: Apache-2.0
// The one exception type, with a kind that says whose mistake it is.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <strider/export.h>

namespace strider {
inline namespace v0 {

enum class ErrorKind : uint8_t {
  User,         // shape, dtype, layout, argument, kernel source
  Unsupported,  // an op, dtype or size that this target cannot do
  Driver,       // a driver call failed: call, code, text
  Internal,     // our bug
};

/// Thrown by every public function. what() is a lowercase phrase that names the thing, what was found and what was expected.
class STRIDER_API Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, bool placed = false)
      : std::runtime_error(message), kind_(kind), is_placed_(placed) {}
  ErrorKind kind() const noexcept { return kind_; }
  /// Whether the text says already which kernel or operator it is about.
  bool is_placed() const noexcept { return is_placed_; }

 private:
  ErrorKind kind_;
  bool is_placed_;
};

}  // namespace v0
}  // namespace strider
