// SPDX-License-Identifier: Apache-2.0
#include "runtime/stats.h"

namespace strider {
namespace {

constinit Counters all;

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
