// SPDX-License-Identifier: Apache-2.0
// The version of this library; the build reads it from here.
#pragma once

#include <string_view>

namespace strider {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace strider
