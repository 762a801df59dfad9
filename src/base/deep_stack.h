// SPDX-License-Identifier: Apache-2.0
// Runs deep recursions (compilers of expressions with thousands of operations) where the stack is known to be large.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

namespace strider {

/// Calls `function(context)` on a thread of its own with a stack of 64 MiB, in the default floating-point environment, and
/// waits; on such a thread already, calls it directly. Throws what it throws.
void run_on_deep_stack(void (*function)(void* context), void* context);

/// The same for any callable; gives what it returns.
template <class Work>
auto on_deep_stack(Work&& work) {
  std::optional<std::invoke_result_t<Work&>> result;
  auto call = [&] { result.emplace(work()); };
  run_on_deep_stack([](void* c) { (*static_cast<decltype(call)*>(c))(); }, &call);
  return std::move(*result);
}

}  // namespace strider
