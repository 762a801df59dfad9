// SPDX-License-Identifier: Apache-2.0
// Errors of a call say whose they are.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include "base/deep_stack.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "base/out_of_memory.h"

namespace strider {

/// Runs `f` in the default floating-point environment; puts "kernel NAME: " before its errors, or "kernel NAME (file:line): " where the
/// user's line is known, unless they have that already, as those of a traced body do.
template <class F>
decltype(auto) naming(std::string_view what, const std::string& name, const std::source_location& where, F&& f) {
  const DefaultFloatEnvironment environment;
  auto placed = [&](ErrorKind kind, const char* text) {
    std::string place = where.line() == 0 ? "" : fmt::format(" ({}:{})", where.file_name(), where.line());
    return Error(kind, fmt::format("{} {}{}: {}", what, name, place, text), true);
  };
  return out_of_memory_is_an_error([&]() -> decltype(auto) {
    try {
      return f();
    } catch (const Error& error) {
      if (error.is_placed()) throw;
      throw placed(error.kind(), error.what());
    } catch (const std::bad_alloc&) {
      throw placed(ErrorKind::Driver, "there is not enough memory");
    }
  });
}
template <class F>
decltype(auto) naming(std::string_view what, const std::string& name, F&& f) {
  return naming(what, name, std::source_location(), std::forward<F>(f));
}

/// The same for a call from outside, whose stack may be small.
template <class F>
decltype(auto) entering(std::string_view what, const std::string& name, const std::source_location& where, F&& f) {
  return with_enough_stack([&]() -> decltype(auto) { return naming(what, name, where, f); });
}
template <class F>
decltype(auto) entering(std::string_view what, const std::string& name, F&& f) {
  return entering(what, name, std::source_location(), std::forward<F>(f));
}

}  // namespace strider
