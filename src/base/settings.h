// SPDX-License-Identifier: Apache-2.0
// Every environment variable that Strider reads, as one table.
#pragma once

#include <span>
#include <string_view>

namespace strider {

struct Setting {
  const char* name;
  std::string_view meaning;
};

std::span<const Setting> settings();

/// The value of the variable called `name`, which is in the table; null if it is not set, or if this program runs with rights that who
/// started it may not have (setuid).
const char* setting(std::string_view name);

}  // namespace strider
