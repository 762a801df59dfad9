// SPDX-License-Identifier: Apache-2.0
// Memory of freed tensors is kept for the next ones, so that a large output does not pay for its pages again at every call.
//
// Each device has its own store, bounded by STRIDER_MEMORY_CACHE (docs/tensors.md). All functions are thread-safe, and children
// made by fork() go on with what their parent kept.
#pragma once

#include <cstdint>
#include <string_view>

#include <strider/export.h>

namespace strider {
inline namespace v0 {

/// Gives the memory that is kept for new tensors back to the system, of one device or of all, and returns how many bytes that
/// was. Tensors that live keep theirs. A user error for a device that is not there.
STRIDER_API int64_t release_cache(std::string_view device);
STRIDER_API int64_t release_cache();

/// What the tensors of a device hold, in bytes, and what was done since the process began.
struct MemoryStats {
  int64_t in_use = 0;       // of living tensors
  int64_t peak_in_use = 0;  // the most that was ever in use
  int64_t cached = 0;       // kept for new tensors
  int64_t limit = 0;        // of `cached`
  int64_t allocations = 0;  // tensors that got memory, from the cache or not
  int64_t reuses = 0;       // those that got it from the cache
};
/// A user error for a device that is not there.
STRIDER_API MemoryStats memory_stats(std::string_view device = "cpu");

}  // namespace v0
}  // namespace strider
