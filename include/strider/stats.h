// SPDX-License-Identifier: Apache-2.0
// Counters of what the library did.
//
//   st::reset_stats();
//   add(a, b);
//   st::Stats s = st::stats();    // s.compiles: 1 the first time, 0 from then on, in later processes too
#pragma once

#include <cstdint>

#include <strider/export.h>

namespace strider {
inline namespace v0 {

/// Since the process began, or since reset_stats(). docs/caches.md says what the caches are.
struct Stats {
  int64_t compiles = 0;       // kernels compiled; quick and fast code of one count once
  int64_t memory_hits = 0;    // calls that found their kernel in memory
  int64_t disk_hits = 0;      // kernels that were loaded from the disk cache instead of being compiled
  int64_t disk_misses = 0;    // kernels that were looked for there in vain
  int64_t bytes_read = 0;     // of the disk cache's files
  int64_t bytes_written = 0;  // the same
};

/// The counters now. Calls that run at the same time may be counted in part. Throws nothing.
STRIDER_API Stats stats();
/// Sets all counters to zero. Throws nothing.
STRIDER_API void reset_stats();

}  // namespace v0
}  // namespace strider
