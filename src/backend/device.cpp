// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "backend/backend.h"
#include "base/error.h"

namespace strider {

StreamHandle Device::adopt_stream(void* native) {
  if (native) user_error("{} has no streams but its default one, whose handle is null", name());
  return nullptr;
}

double Device::time(const std::function<void()>& work, StreamHandle) {
  using Clock = std::chrono::steady_clock;
  synchronize();
  Clock::time_point start = Clock::now();
  work();
  synchronize();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace strider
