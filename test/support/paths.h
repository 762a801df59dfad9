// SPDX-License-Identifier: Apache-2.0
// Where this checkout and its build lie.
#pragma once

#include <string>

namespace strider {

extern const std::string kSourceDir, kBinaryDir;

}  // namespace strider
