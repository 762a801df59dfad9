// SPDX-License-Identifier: Apache-2.0
// The counters behind st::stats().
#pragma once

#include <atomic>
#include <cstdint>

#include <strider/stats.h>

namespace strider {

/// A number that many threads add to: each adds in a part of its own, so that they do not wait for each other.
class Counter {
 public:
  void add(int64_t n = 1) { parts_[part()].value.fetch_add(n, std::memory_order_relaxed); }
  int64_t sum() const {
    int64_t total = 0;
    for (const Part& p : parts_) total += p.value.load(std::memory_order_relaxed);
    return total;
  }
  void clear() {
    for (Part& p : parts_) p.value.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kParts = 16;
  struct alignas(64) Part {
    std::atomic<int64_t> value{0};
  };

  static unsigned part() {
    static std::atomic<unsigned> next{0};
    thread_local const unsigned own = next.fetch_add(1, std::memory_order_relaxed) % kParts;
    return own;
  }

  Part parts_[kParts];
};

struct Counters {
  Counter compiles, memory_hits, disk_hits, disk_misses, bytes_read, bytes_written;
};
Counters& counters();

}  // namespace strider
