// SPDX-License-Identifier: Apache-2.0
#include "call/stats.h"

#include <bit>
#include <utility>

namespace strider {
namespace {

constinit Counters all;
constinit std::atomic<uint64_t> free_parts{~uint64_t{0} >> (64 - CounterPart::kOwned)};

/// Which counter is shown where.
constexpr struct {
  Counter Counters::*counter;
  int64_t Stats::*shown;
} kShown[] = {
    {&Counters::compiles, &Stats::compiles},       {&Counters::memory_hits, &Stats::memory_hits},
    {&Counters::disk_hits, &Stats::disk_hits},     {&Counters::disk_misses, &Stats::disk_misses},
    {&Counters::bytes_read, &Stats::bytes_read},   {&Counters::bytes_written, &Stats::bytes_written},
};

}  // namespace

unsigned CounterPart::claim() {
  static thread_local Release release;
  own_ = kShared;
  uint64_t free = free_parts.load(std::memory_order_relaxed);
  while (free != 0 && !free_parts.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire, std::memory_order_relaxed)) {
  }
  if (free != 0) own_ = static_cast<unsigned>(std::countr_zero(free));
  return own_;
}

CounterPart::Release::~Release() {
  const unsigned part = std::exchange(own_, kShared);
  if (part < kShared) free_parts.fetch_or(uint64_t{1} << part, std::memory_order_release);
}

Counters& counters() { return all; }

inline namespace v0 {

Stats stats() {
  Stats s;
  for (const auto& [counter, shown] : kShown) s.*shown = (all.*counter).sum();
  return s;
}

void reset_stats() {
  for (const auto& [counter, shown] : kShown) (all.*counter).clear();
}

}  // namespace v0
}  // namespace strider
