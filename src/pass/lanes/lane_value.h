// SPDX-License-Identifier: Apache-2.0
// A tile's value in one vector of lanes, with as much structure as is known: the same in all lanes; a scalar plus a
// constant for each lane (an index, an address); a scalar plus a vector (an index times a stride), which loops leave alone;
// or a vector. From this structure come contiguous and scalar accesses, and gathers from one base.
#pragma once

#include <span>
#include <vector>

#include "ir/builder.h"
#include "pass/lanes/facts.h"

namespace strider::pass {

struct LaneValue {
  ir::Value base;                // a scalar, or a vector
  std::vector<int64_t> offsets;  // added to a scalar base in each lane (elements, for addresses), the least is 0; empty: none
  bool is_vector = false;
  ir::Value spread = {};         // a vector added to a scalar base instead of offsets (i64 elements, for addresses), or none

  bool is_spread() const { return spread.valid(); }
  bool is_uniform() const { return is_affine() && offsets.empty(); }
  bool is_affine() const { return !is_vector && !is_spread(); }  // uniform included
};

/// Arithmetic on lane values of `lanes` lanes; writes into a builder.
class LaneMath {
 public:
  LaneMath(ir::Builder& b, const Facts& facts, int64_t lanes) : b_(b), facts_(facts), lanes_(lanes) {}

  int64_t lanes() const { return lanes_; }
  LaneValue uniform(ir::Value scalar) const { return {scalar, {}, false}; }
  LaneValue constant(DType dtype, int64_t value) const { return uniform(b_.constant_int(ir::Type::scalar(dtype), value)); }
  /// base + offsets, with the least offset moved into the base.
  LaneValue affine(ir::Value base, std::vector<int64_t> offsets) const;
  /// A value that has one vector, or one scalar where there is a single lane.
  LaneValue vector(ir::Value v) const { return {v, {}, lanes_ > 1}; }

  /// The value in every lane: a vector, or a scalar where there is a single lane.
  ir::Value materialize(const LaneValue& v) const;

  ir::Value first_lane(const LaneValue& v) const {
    return v.is_uniform() || lanes_ == 1 ? v.base : b_.extract(materialize(v), 0);
  }

  /// One pointwise op. `dtype` is the result's element type.
  LaneValue apply(ir::Op op, DType dtype, std::span<const LaneValue> operands) const;
  LaneValue apply(ir::Op op, std::initializer_list<LaneValue> operands) const;  // the result has the first operand's dtype
  LaneValue cast(const LaneValue& v, DType dtype) const;
  /// A call of the program's helper of this number, which gives elements of `dtype`.
  LaneValue call(int64_t helper, DType dtype, std::span<const LaneValue> operands) const;
  LaneValue add(const LaneValue& a, const LaneValue& b) const { return apply(ir::Op::Add, {a, b}); }
  LaneValue mul(const LaneValue& a, int64_t factor) const;
  LaneValue less(const LaneValue& a, int64_t bound) const;
  /// Conjunction of masks; an invalid one (no base) means all lanes.
  LaneValue both(const LaneValue& a, const LaneValue& b) const;

  DType dtype(const LaneValue& v) const { return b_.type(v.base).dtype; }
  /// The lanes as numbers, if all are known now.
  bool constants(const LaneValue& v, std::vector<int64_t>* out) const;

 private:
  LaneValue apply_constants(ir::Op op, DType dtype, std::span<const std::vector<int64_t>> operands, DType from) const;
  LaneValue apply_spread(ir::Op op, DType dtype, std::span<const LaneValue> operands) const;
  LaneValue spread_out(ir::Value base, const LaneValue& a, const LaneValue& b) const;
  ir::Value lane_part(const LaneValue& v, DType dtype) const;
  LaneValue apply_affine(ir::Op op, DType dtype, std::span<const LaneValue> operands) const;
  LaneValue apply_address(const LaneValue& pointer, const LaneValue& offset) const;
  LaneValue apply_bound(const LaneValue& index, const LaneValue& bound) const;
  LaneValue split(ir::Op op, const LaneValue& a, int64_t divisor) const;
  bool stays_in_block(const LaneValue& v, int64_t block) const;

  ir::Builder& b_;
  const Facts& facts_;
  int64_t lanes_;
};

}  // namespace strider::pass
