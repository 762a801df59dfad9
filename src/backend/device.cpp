// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "backend/backend.h"

namespace strider {

double Device::time(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  synchronize();
  Clock::time_point start = Clock::now();
  work();
  synchronize();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace strider
