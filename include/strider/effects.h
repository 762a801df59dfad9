// SPDX-License-Identifier: Apache-2.0
// What a kernel tells the world beside its stores: prints, assertions and taps, and what is said while it is traced.
//
//   tl::compile_assert(BLOCK % 16 == 0, "BLOCK is a multiple of 16");
//   tl::device_assert(i < n, "index in range", mask);
//   tl::print("row sum", sum);
//   tl::tap("abs", tl::abs(v));      // read back by l1[grid].taps(taps)(...), see strider/taps.h
//
// Run-time records go through memory that the launch brings along; a kernel without such calls pays nothing, and one with prints
// or assertions is launched synchronously. They stand in kernels, not in operators or combine functions.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <strider/value.h>

namespace strider {
inline namespace v0 {

namespace detail {

/// Words in a call, and where the call stands.
struct Words {
  template <class T>
    requires std::convertible_to<const T&, std::string_view>
  Words(const T& words, std::source_location place = std::source_location::current()) : text(words), where(place) {}
  std::string_view text;
  std::source_location where;
};

STRIDER_API std::string describe(const Value& value);

/// Something that is known while a kernel is traced, as text.
struct Described {
  template <class T>
  Described(const T& x, std::source_location place = std::source_location::current()) : where(place) {
    if constexpr (std::convertible_to<const T&, std::string_view>) text = std::string_view(x);
    else if constexpr (std::same_as<T, DType>) text = name_of(x);
    else if constexpr (std::same_as<T, Dims>) text = to_string(x);
    else if constexpr (requires { x.raw(); }) text = describe(x.raw());
    else text = describe(Value(x));
  }
  std::string text;
  std::source_location where;
};

STRIDER_API void trace_compile_print(std::source_location where, const std::vector<std::string>& texts);
STRIDER_API void trace_print(const Words& prefix, const std::vector<Value>& values);

}  // namespace detail

namespace tl {

/// Prints a line to standard output while the kernel is traced, once for each specialisation: words, numbers, dtypes, shapes, and
/// values and pointers as what is known of them ("f32[128]", "i32 = 5").
template <class... T>
void compile_print(const detail::Described& first, const T&... rest) {
  detail::trace_compile_print(first.where, {first.text, detail::Described(rest).text...});
}

/// A user error while the kernel is traced unless the condition, a C++ bool or a value that is a constant, holds.
STRIDER_API void compile_assert(const Operand& condition, std::string_view message = "");

/// Prints a line to standard output after the launch for every program that gets here: the words, the values (scalars and tiles of
/// any dtype, not pointers), kernel, line and program. Lines come in the order of the programs, those of a program in its order.
/// A launch keeps 1 MiB of values, 8 bytes an element; what does not fit is left out, which the last line says.
template <class... V>
void print(const detail::Words& prefix, const V&... values) {
  detail::trace_print(prefix, {Value(values)...});
}

/// Checks a bool, scalar or tile, in the lanes whose mask is true. If it is false in any, the launch throws a user error after all
/// programs have ended, with the message, kernel, line, program and first lane. A program whose assertion fails ends there, if
/// the assertion stands at the level of the kernel; inside a body (if_, range, while_) it goes on.
STRIDER_API void device_assert(const Operand& condition, std::string_view message = "", const Value& mask = {});

/// Makes a value, scalar or tile, readable after the launch as a tensor of shape (grid..., tile...), if the launch asks for taps;
/// else it is dropped while tracing. Lanes whose mask is false and programs that do not get here leave zero; the last value stays
/// where a program gets here several times. Names are unique in a kernel.
STRIDER_API void tap(std::string_view name, const Operand& value, const Value& mask = {});

}  // namespace tl
}  // namespace v0
}  // namespace strider
