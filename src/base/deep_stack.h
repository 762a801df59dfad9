// SPDX-License-Identifier: Apache-2.0
// Stacks of our own. Bodies of users, compilers and whatever else goes deep run on one, so that it makes no difference how small
// the caller's stack is, or whether it is a fibre's. It is the same thread all the while: what is thread_local stays what it is.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace strider {

/// Calls `function(context)` on a stack of 64 MiB and gives it back afterwards; on such a stack already, calls it directly. Throws
/// what it throws, and a driver error if there is no room for a stack. The thread cannot be cancelled meanwhile.
void run_on_deep_stack(void (*function)(void* context), void* context);

/// The same, always on a stack of its own, which abandon_stack() can leave.
void run_on_expendable_stack(void (*function)(void* context), void* context);

/// Ends the innermost run_on_expendable_stack() of this thread, which throws `error`; comes back if there is none. Nothing is
/// unwound: what the frames in between held is lost. For errors in code that no exception may pass through.
void abandon_stack(std::exception_ptr error);

/// Whether what is left of the deep stack that this runs on is hardly enough for one operation; false on other stacks.
bool is_deep_stack_short();

/// Whether this thread's own stack has less left than a call may need. False where that is not known: of the first thread, which
/// grows, and of fibres.
bool is_stack_short();

/// What a callable returns, kept until the stack is left.
template <class Work, class Run>
decltype(auto) result_of_run(Run&& run, Work& work) {
  using Result = std::invoke_result_t<Work&>;
  if constexpr (std::is_void_v<Result>) {
    run([](void* w) { (*static_cast<Work*>(w))(); }, std::addressof(work));
  } else if constexpr (std::is_reference_v<Result>) {
    std::remove_reference_t<Result>* result = nullptr;
    auto call = [&] { result = std::addressof(work()); };
    run([](void* c) { (*static_cast<decltype(call)*>(c))(); }, &call);
    return static_cast<Result>(*result);
  } else {
    std::optional<Result> result;
    auto call = [&] { result.emplace(work()); };
    run([](void* c) { (*static_cast<decltype(call)*>(c))(); }, &call);
    return Result(std::move(*result));
  }
}

/// The same for any callable; gives what it returns.
template <class Work>
decltype(auto) on_deep_stack(Work&& work) {
  return result_of_run(run_on_deep_stack, work);
}
template <class Work>
decltype(auto) on_expendable_stack(Work&& work) {
  return result_of_run(run_on_expendable_stack, work);
}

/// Runs it here if there is room, else on a deep stack.
template <class Work>
decltype(auto) with_enough_stack(Work&& work) {
  if (is_stack_short()) [[unlikely]]
    return on_deep_stack(work);
  return work();
}

}  // namespace strider
