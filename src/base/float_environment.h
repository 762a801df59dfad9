// SPDX-License-Identifier: Apache-2.0
// The floating-point environment in which everything of the library computes, whatever the host has set.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace strider {

/// While it lives, this thread rounds to nearest, keeps subnormals and traps nothing; the host's environment, with its flags, comes
/// back at the end. Costs a read and a comparison where the host has changed nothing.
class DefaultFloatEnvironment {
#if defined(__x86_64__)
 public:
  DefaultFloatEnvironment() : saved_(_mm_getcsr()) {
    if ((saved_ & ~kFlags) != kDefault) _mm_setcsr(kDefault);
  }
  ~DefaultFloatEnvironment() {
    if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, to nearest, subnormals kept
  static constexpr unsigned kFlags = 0x3f;      // what happened so far, no setting
  unsigned saved_;
#else
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif
 public:
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;
};

}  // namespace strider
