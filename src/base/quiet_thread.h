// SPDX-License-Identifier: Apache-2.0
// Threads of the library's own.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace strider {

/// A thread that takes no signals, so that the host's handlers keep to the host's threads. Throws std::system_error if none can start.
template <class Work>
std::thread start_quiet_thread(Work&& work) {
  struct Blocked {
    Blocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before;
  } blocked;
  return std::thread(std::forward<Work>(work));
}

}  // namespace strider
