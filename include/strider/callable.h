// SPDX-License-Identifier: Apache-2.0
// What operators and kernels ask of the functions that they are made from, and what becomes of memory that runs out.
#pragma once

#include <new>
#include <type_traits>

#include <strider/export.h>

namespace strider {
inline namespace v0 {
namespace detail {

/// Throws the driver error "there is not enough memory", for which no memory is needed.
[[noreturn]] STRIDER_API void out_of_memory();
/// Runs `f`; an error of Strider's takes the place of the standard library's.
template <class F>
decltype(auto) out_of_memory_is_an_error(F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    out_of_memory();
  }
}

/// Function pointers and std::function may hold nothing.
template <class F>
bool has_body(const F& f) {
  if constexpr (std::is_pointer_v<F> || requires { f.target_type(); }) return static_cast<bool>(f);
  else return true;
}

}  // namespace detail
}  // namespace v0
}  // namespace strider
