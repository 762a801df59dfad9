// SPDX-License-Identifier: Apache-2.0
// Out-of-line ways to fail, one per kind of error, each taking an fmt format string.
#pragma once

#include <fmt/format.h>

#include <strider/error.h>

#include "base/kit.h"

namespace strider {

[[noreturn]] STRIDER_KIT void fail(ErrorKind kind, fmt::string_view format, fmt::format_args args);

template <class... Args>
[[noreturn]] void user_error(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorKind::User, format, fmt::make_format_args(args...));
}
template <class... Args>
[[noreturn]] void unsupported_error(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorKind::Unsupported, format, fmt::make_format_args(args...));
}
template <class... Args>
[[noreturn]] void driver_error(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorKind::Driver, format, fmt::make_format_args(args...));
}
template <class... Args>
[[noreturn]] void internal_error(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorKind::Internal, format, fmt::make_format_args(args...));
}

/// Checks an invariant of ours; a failure is an internal error that names the condition and the place.
#define STRIDER_CHECK(condition) \
  ((condition) ? void() : ::strider::internal_error("check failed: {} ({}:{})", #condition, __FILE_NAME__, __LINE__))
#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

}  // namespace strider
