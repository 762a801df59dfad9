// SPDX-License-Identifier: Apache-2.0
// Divisibility of the scalars of a lane-form program under construction.
#pragma once

#include <unordered_map>

#include "ir/function.h"

namespace strider::pass {

class Facts {
 public:
  explicit Facts(const ir::Function& f) : f_(f) {}

  /// A power of two that divides the integer scalar `v` in every run.
  int64_t divisor(ir::Value v) const { return divisor(v, kDepth); }
  /// Bytes to which the scalar pointer `v` is aligned.
  int64_t alignment(ir::Value v) const { return alignment(v, kDepth); }
  /// Notes what is known about a value that says nothing itself, such as a loop's index.
  void set_divisor(ir::Value v, int64_t divisor) { known_[v.id] = divisor; }
  /// Notes a promise of the user: `number` divides the integer `v`, or the address `v` in bytes.
  void promise(ir::Value v, int64_t number);

 private:
  static constexpr int kDepth = 24;
  int64_t divisor(ir::Value v, int depth) const;
  int64_t found_divisor(ir::Value v, int depth) const;
  int64_t alignment(ir::Value v, int depth) const;

  const ir::Function& f_;
  mutable std::unordered_map<uint32_t, int64_t> known_;
  std::unordered_map<uint32_t, int64_t> aligned_;  // pointers, by promise
};

}  // namespace strider::pass
