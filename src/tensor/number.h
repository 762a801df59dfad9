// SPDX-License-Identifier: Apache-2.0
// Numbers among the arguments of a call.
#pragma once

#include <string>

#include <strider/argument.h>

namespace strider {

/// Whether an integer argument is a value of `dtype`; floats and bools always pass.
bool fits(const Argument& number, DType dtype);
/// The bits of a number as an element of `dtype`: rounded, or wrapped where it does not fit.
uint64_t bits_of(const Argument& number, DType dtype);
/// The bits of a number as `passed`, from which a kernel's conversion to `rounded` gives the number rounded once.
uint64_t passed_bits(const Argument& number, DType rounded, DType passed);
/// A user error for an integer below 0, which is the exponent of integers.
void check_natural(const Argument& number, std::string_view name);
std::string text_of(const Argument& number);

}  // namespace strider
