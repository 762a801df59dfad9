// SPDX-License-Identifier: Apache-2.0
// Errors of a call say whose they are.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/out_of_memory.h"

namespace strider {

/// Runs `f`; puts "kernel NAME: " before its errors, or "kernel NAME (file:line): " where the user's line is known, unless they have
/// that already, as those of a traced body do.
template <class F>
decltype(auto) naming(std::string_view what, const std::string& name, const std::source_location& where, F&& f) {
  auto place = [&] { return where.line() == 0 ? std::string() : fmt::format(" ({}:{})", where.file_name(), where.line()); };
  return out_of_memory_is_an_error([&]() -> decltype(auto) {
    try {
      return f();
    } catch (const Error& error) {
      if (error.is_placed()) throw;
      throw Error(error.kind(), fmt::format("{} {}{}: {}", what, name, place(), error.what()), true);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::Driver, fmt::format("{} {}{}: there is not enough memory", what, name, place()), true);
    }
  });
}
template <class F>
decltype(auto) naming(std::string_view what, const std::string& name, F&& f) {
  return naming(what, name, std::source_location(), std::forward<F>(f));
}

}  // namespace strider
