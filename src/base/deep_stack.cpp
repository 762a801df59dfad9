// SPDX-License-Identifier: Apache-2.0
#include "base/deep_stack.h"

#include <pthread.h>
#include <signal.h>

#include <cfenv>
#include <exception>

#include "base/error.h"

namespace strider {
namespace {

constexpr size_t kStackBytes = size_t{64} << 20;

thread_local bool on_deep_thread = false;

struct Call {
  void (*function)(void*);
  void* context;
  std::exception_ptr error;
};

void* run(void* argument) {
  auto& call = *static_cast<Call*>(argument);
  on_deep_thread = true;
  std::fesetenv(FE_DFL_ENV);
  try {
    call.function(call.context);
  } catch (...) {
    call.error = std::current_exception();
  }
  return nullptr;
}

/// Starts a thread that takes no signals, so that the host's handlers keep to the host's threads.
int start(pthread_t* thread, Call* call) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int status = pthread_create(thread, &attributes, run, call);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return status;
}

}  // namespace

void run_on_deep_stack(void (*function)(void*), void* context) {
  if (on_deep_thread) return function(context);
  Call call{function, context, nullptr};
  pthread_t thread;
  if (int status = start(&thread, &call)) internal_error("a thread with a stack of {} bytes cannot start: error {}", kStackBytes, status);
  pthread_join(thread, nullptr);
  if (call.error) std::rethrow_exception(call.error);
}

}  // namespace strider
