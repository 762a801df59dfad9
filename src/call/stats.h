// SPDX-License-Identifier: Apache-2.0
// The counters behind st::stats().
#pragma once

#include <atomic>
#include <cstdint>

#include <strider/stats.h>

namespace strider {

/// The part of every counter that the calling thread alone writes, so that it adds without a locked instruction. There are
/// kOwned of them; threads beyond that share one more.
class CounterPart {
 public:
  static constexpr unsigned kOwned = 63, kShared = kOwned;

  static unsigned own() { return own_ == kNone ? claim() : own_; }

 private:
  static constexpr unsigned kNone = ~0u;

  /// Until this thread's thread_local objects end; what still counts then has the shared part.
  static unsigned claim();
  struct Release {
    ~Release();
  };

  static inline constinit thread_local unsigned own_ = kNone;
};

/// A number that many threads add to without waiting for each other.
class Counter {
 public:
  void add(int64_t n = 1) {
    unsigned own = CounterPart::own();
    std::atomic<int64_t>& value = parts_[own].value;
    if (own != CounterPart::kShared) value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    else value.fetch_add(n, std::memory_order_relaxed);
  }
  int64_t sum() const { return total() - cleared_.load(std::memory_order_relaxed); }
  void clear() { cleared_.store(total(), std::memory_order_relaxed); }

 private:
  struct alignas(64) Part {
    std::atomic<int64_t> value{0};
  };

  int64_t total() const {
    int64_t total = 0;
    for (const Part& p : parts_) total += p.value.load(std::memory_order_relaxed);
    return total;
  }

  Part parts_[CounterPart::kOwned + 1];
  std::atomic<int64_t> cleared_{0};  // the total when it was set to zero: parts are their owners' to write
};

struct Counters {
  Counter compiles, memory_hits, disk_hits, disk_misses, bytes_read, bytes_written;
};
Counters& counters();

}  // namespace strider
