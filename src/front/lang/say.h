// SPDX-License-Identifier: Apache-2.0
// What a program says: while it is written, and when it runs (prints, assertions and taps, as stores and atomics).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "front/lang/writer.h"

namespace strider::front {

/// What is known of a term while the program is written: "f32[128]", "i32 = 5", a literal's number, "nothing".
std::string describe(Writer& w, const Term& term);
/// One line on standard output; in a body that is traced more than once, once.
void compile_print(Writer& w, std::span<const std::string> texts);
/// A user error unless the condition is a constant that holds.
void compile_assert(Writer& w, const Term& condition, std::string_view message);

/// One line for each program that gets here, after the launch.
void print(Writer& w, std::string_view prefix, std::span<const Term> terms);
/// Makes the launch fail where the condition is false and the mask, which may be empty, true. At the level of the kernel, the
/// program ends there.
void device_assert(Writer& w, const Term& condition, std::string_view message, const Term& mask);
/// Keeps a value for the launch if it asks for it.
void tap(Writer& w, std::string_view name, const Term& value, const Term& mask);

}  // namespace strider::front
