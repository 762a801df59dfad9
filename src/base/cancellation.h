// SPDX-License-Identifier: Apache-2.0
// pthread_cancel and calls of the library.
#pragma once

#include <pthread.h>

namespace strider {

/// While it lives, this thread cannot be cancelled: a request takes effect at its next cancellation point afterwards. Cancellation
/// unwinds like an exception, through destructors and foreign frames that cannot bear one.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace strider
