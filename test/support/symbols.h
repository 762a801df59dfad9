// SPDX-License-Identifier: Apache-2.0
// The functions of the test program, by address.
#pragma once

#include <string_view>

namespace strider::test {

/// Reads the program's own table of symbols, once. False if it has none: the program was stripped.
bool load_symbols();

/// Whether a function that the caller was called from, directly or not, has a mangled name with `part` in it and is not Strider's own.
/// Allocates nothing when the symbols are loaded. Functions of shared libraries are known by the library's name.
bool is_called_from(std::string_view part);

}  // namespace strider::test
