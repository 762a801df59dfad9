// SPDX-License-Identifier: Apache-2.0
// Errors of a call say whose they are.
#pragma once

#include <string>
#include <string_view>

#include "base/deep_stack.h"
#include "base/float_environment.h"
#include "base/out_of_memory.h"
#include "front/trace/trace.h"

namespace strider {

/// Runs `f` in the default floating-point environment; puts "kernel NAME: " before its errors, other than those of the traced body,
/// which have it already.
template <class F>
decltype(auto) naming(std::string_view what, const std::string& name, F&& f) {
  const DefaultFloatEnvironment environment;
  return out_of_memory_is_an_error([&]() -> decltype(auto) {
    try {
      return f();
    } catch (const front::PlacedError&) {
      throw;
    } catch (const Error& error) {
      throw front::PlacedError(error.kind(), fmt::format("{} {}: {}", what, name, error.what()));
    } catch (const std::bad_alloc&) {
      throw front::PlacedError(ErrorKind::Driver, fmt::format("{} {}: there is not enough memory", what, name));
    }
  });
}

/// The same for a call from outside, whose stack may be small.
template <class F>
decltype(auto) entering(std::string_view what, const std::string& name, F&& f) {
  return with_enough_stack([&]() -> decltype(auto) { return naming(what, name, f); });
}

}  // namespace strider
