// SPDX-License-Identifier: Apache-2.0
// Errors of a call say whose they are.
#pragma once

#include <string>
#include <string_view>

#include "front/trace/trace.h"

namespace strider {

/// Runs `f`; puts "kernel NAME: " before its errors, other than those of the traced body, which have it already.
template <class F>
decltype(auto) naming(std::string_view what, const std::string& name, F&& f) {
  try {
    return f();
  } catch (const front::PlacedError&) {
    throw;
  } catch (const Error& error) {
    throw front::PlacedError(error.kind(), fmt::format("{} {}: {}", what, name, error.what()));
  }
}

}  // namespace strider
