// SPDX-License-Identifier: Apache-2.0
// What the tile interpreter finds on request: things that have a meaning and are seldom meant. The lints look on from both sides
// of every statement and change nothing.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "backend/interp/machine.h"

namespace strider::interp {

/// Follows the lanes that a load without `other` masked off: each slot of the machine has a mark, 1 + the load's node id.
class MaskedLanes {
 public:
  explicit MaskedLanes(Machine& m);
  /// Reports marked lanes where they count.
  void before(ir::Value v);
  /// Gives marks to what the statement computed.
  void after(ir::Value v);
  void assign(std::span<const ir::Value> targets, std::span<const ir::Value> sources);

 private:
  Slots marks(ir::Value v) const;
  uint64_t* own_marks(ir::Value v);
  bool is_view(ir::Value v) const;
  void check(ir::Value statement, ir::Value operand, std::string_view what, bool where_on);
  void check_access(ir::Value v);
  void mark_load(ir::Value v);
  void mark_pointwise(ir::Value v);
  void mark_gather(ir::Value v);
  uint64_t mark_of_choice(ir::Value v, int64_t i) const;
  int mask_operand(ir::Value v) const;

  Machine& m_;
  std::vector<uint64_t> marks_;
  std::vector<bool> is_test_;  // by node id: the yield of a while's condition
};

/// Does an operation that is marked kAsWritten again in exact arithmetic.
void check_overflow(Machine& m, ir::Value v);

/// Compares the element that a lane loads with the one that it is stored to.
class Elementwise {
 public:
  explicit Elementwise(Machine& m);
  void before(ir::Value v);

 private:
  const TensorArgument* tensor_of(const Site& site) const;
  void remember(ir::Value load);
  void compare(ir::Value store, ir::Value load);
  void find_loads(ir::Value v, std::vector<ir::Value>* loads) const;

  Machine& m_;
  std::unordered_map<uint32_t, std::vector<ir::Value>> loads_;        // by store: what its value is computed from, lane by lane
  std::unordered_map<uint32_t, std::vector<uint64_t>> addresses_;     // by load: of its lanes; 0: off
};

class Lints {
 public:
  explicit Lints(Machine& m);
  void before(ir::Value v);
  void after(ir::Value v);
  /// Values that are copied into carried values and results.
  void assign(std::span<const ir::Value> targets, std::span<const ir::Value> sources);

 private:
  Machine& m_;
  std::optional<MaskedLanes> masked_;
  std::optional<Elementwise> elementwise_;
};

}  // namespace strider::interp
