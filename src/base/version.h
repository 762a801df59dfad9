// SPDX-License-Identifier: Apache-2.0
// The version of this library; the build reads it from here.
#pragma once

#include <string_view>

namespace strider {

inline constexpr std::string_view kVersion = "0.1.0";

/// A hash of all sources, the compiler and its flags, written by the build: code compiled by other passes is never taken for that
/// of these.
std::string_view build_id();

}  // namespace strider
