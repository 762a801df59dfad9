// SPDX-License-Identifier: Apache-2.0
#include "testing/flush.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/thread_pool.h"
#include "tensor/storage.h"

namespace strider::inline v0::testing {

namespace {

/// Of the largest cache that the system knows of; 0 if it knows of none.
int64_t last_cache_bytes() {
  long most = 0;
  for (int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE}) most = std::max(most, ::sysconf(level));
  return most;
}

}  // namespace

int64_t CacheFlush::bytes_for(const Device& device) {
  constexpr int64_t kLeast = 64 << 20, kMost = int64_t{1} << 30, kOfGpu = 256 << 20;
  if (!is_host(device)) return kOfGpu;
  return std::clamp(last_cache_bytes() / 4 * 5, kLeast, kMost);
}

CacheFlush::CacheFlush(Device& device) : device_(device), memory_(empty({bytes_for(device)}, {DType::U8, device.name()})) {
  device_.fill_zero(memory_.data(), memory_.elements(), current_handle(device_));
}

void CacheFlush::operator()() const {
  if (!is_host(device_)) return device_.fill_zero(memory_.data(), memory_.elements(), current_handle(device_));
  constexpr int64_t kWordsOfLine = 8, kGrain = 1 << 15;
  static std::atomic<uint64_t> seen{0};  // so that the reads count
  const auto* words = static_cast<const uint64_t*>(memory_.data());
  parallel_for(memory_.elements() / 8 / kWordsOfLine, kGrain, [&](int64_t begin, int64_t end, int) {
    uint64_t sum = 0;
    for (int64_t line = begin; line < end; ++line) sum += words[line * kWordsOfLine];
    seen.fetch_add(sum, std::memory_order_relaxed);
  });
}

}  // namespace strider::v0::testing
