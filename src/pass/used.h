// SPDX-License-Identifier: Apache-2.0
// Which nodes and which carried values the effects of a program depend on; the rest is dead.
//
// Effects are stores, atomics, phases and barriers. A loop without effects whose results nobody uses is dead, so a
// program may lose an endless loop, never gain one. A carried value is used when its result is, or when a used
// statement of the loop reads it; feeding only itself does not count.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/function.h"

namespace strider::pass {

/// Carried values of a region op: those of for and while, the operands of reduce and scan, what the branches of if yield.
int slot_count(const ir::Function& f, ir::Value owner);
/// Operands before the carried ones (3 for `for`), and region parameters before theirs (1 for `for`).
int leading_operands(ir::Op op);
int leading_params(ir::Op op);
/// The value that region `index` of `owner` yields at place k.
ir::Value yielded(const ir::Function& f, ir::Value owner, int index, int k);

class Used {
 public:
  explicit Used(const ir::Function& f);
  bool node(ir::Value v) const { return nodes_[v.id]; }
  bool slot(ir::Value owner, int k) const { return slots_[first_slot_[owner.id] + k]; }

 private:
  void enter(ir::RegionId region, ir::Value owner);
  void mark(ir::Value v);
  void mark_slot(ir::Value owner, int k);
  void follow(ir::Value v);
  void follow_structure(ir::Value owner);
  void follow_param(ir::Value v, ir::Value owner);

  const ir::Function& f_;
  std::vector<bool> nodes_, slots_;
  std::vector<uint32_t> first_slot_;  // by region op
  std::vector<ir::Value> parent_;     // the op in whose regions a node or parameter lies
  std::vector<ir::Value> work_;
};

}  // namespace strider::pass
