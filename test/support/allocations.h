// SPDX-License-Identifier: Apache-2.0
// The test program's operator new counts its calls, and can fail.
#pragma once

#include <cstdint>

namespace strider::test {

// Returns how often the calling thread has called operator new so far.
int64_t allocation_count();

/// While one lives, the n-th call of operator new from now on, by any thread, throws std::bad_alloc; n counts from 1. Calls that are
/// made below a function of LLVM do not fail: it is compiled without exceptions and does not survive one.
class FailingAllocation {
 public:
  explicit FailingAllocation(int64_t n);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  /// Whether there were that many calls.
  bool was_reached() const;
  /// Whether it failed: it was reached, and not in LLVM.
  bool has_failed() const;
};

}  // namespace strider::test
