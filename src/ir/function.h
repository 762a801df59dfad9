// SPDX-License-Identifier: Apache-2.0
// A kernel in memory: nodes in one flat array, named by 32-bit handles; nested statement lists in another.
//
// A node is one value or statement. Its operands lie in `operands_`, its regions in `regions_`, both contiguous.
// Every node but the regions' parameters stands in exactly one region's body, in the order of execution; region 0 is
// the whole program. A value may be used after its definition in the same region and in regions nested there; what a
// `nest` defines is also visible after the nest. Functions are written by Builder and are not changed afterwards,
// except through the few setters below.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/span.h"
#include "ir/op.h"
#include "ir/type.h"

namespace strider::ir {

struct Value {
  uint32_t id = UINT32_MAX;
  bool valid() const { return id != UINT32_MAX; }
  bool operator==(const Value&) const = default;
};

using RegionId = uint32_t;

/// Where a scheduled value lives, and promises about it (bits of Node::flags).
enum NodeFlags : uint8_t {
  kKeepPrivate = 1 << 0,  // each owner keeps its lanes
  kKeepShared = 1 << 1,   // stored in scratch, where any lane can read it
  kInline = 1 << 2,       // not placed: computed anew where it is used
  kNoWrap = 1 << 3,       // integer add, sub, mul: whoever wrote it promises that no lane overflows
  kStaged = 1 << 4,       // read by others along its first axis rather than its last (pass/stage)
  kLikely = 1 << 5,       // if: the first region is what runs nearly always; the second should be small rather than fast
                          // where: the first choice is what nearly all lanes take; the second is costly
  kMayWrap = 1 << 6,      // an integer operation that its writer lets wrap: no lint of overflow
  kAsWritten = 1 << 7,    // the user's own integer operation, for the lint of overflow; in programs that are only interpreted
};

struct Node {
  Op op;
  uint8_t flags = 0;
  uint16_t operand_count = 0;
  uint16_t region_count = 0;
  uint16_t span = 0;  // index into Function::spans()
  uint32_t operands = 0;
  uint32_t regions = 0;
  uint32_t aux = 0;  // index of a table (vector, shuffle); byte offset (alloc)
  Type type;
  int64_t imm = 0;
  bool operator==(const Node&) const = default;
};

struct Region {
  std::vector<Value> params;
  std::vector<Value> body;
  bool operator==(const Region&) const = default;
};

/// What is known about a kernel argument besides its type; all of it is part of the specialisation.
struct ParamInfo {
  std::string name;
  int64_t divisible = 1;   // integers: a power of two that divides it; pointers: the alignment in bytes
  bool read_only = false;  // pointers: no store of the program goes through it
  bool no_alias = false;   // pointers: no other pointer of the program reaches its memory
  bool operator==(const ParamInfo&) const = default;
};

class Function;
/// Scalar functions of constants, pointwise ops and one yield of one value, which a program calls by number (Op::Call).
using Helpers = std::vector<std::shared_ptr<const Function>>;

class Function {
 public:
  std::string name;
  Helpers helpers;
  int threads = 0;            // of a program, in lane form; 0 before
  int64_t scratch_bytes = 0;  // of a program, once scratch is assigned

  const Node& operator[](Value v) const { return nodes_[v.id]; }
  const Type& type(Value v) const { return nodes_[v.id].type; }
  size_t size() const { return nodes_.size(); }

  std::span<const Value> operands(Value v) const {
    const Node& n = nodes_[v.id];
    return {operands_.data() + n.operands, n.operand_count};
  }
  Value operand(Value v, int k) const { return operands_[nodes_[v.id].operands + k]; }
  RegionId region_of(Value v, int k) const { return nodes_[v.id].regions + k; }
  const Region& region(Value v, int k) const { return regions_[region_of(v, k)]; }
  const Region& region(RegionId id) const { return regions_[id]; }
  const Region& body() const { return regions_[0]; }
  size_t region_count() const { return regions_.size(); }

  /// The kernel's arguments in order; they are the parameters of region 0.
  std::span<const Value> params() const { return regions_[0].params; }
  const ParamInfo& param_info(int k) const { return param_info_[k]; }
  ParamInfo& param_info(int k) { return param_info_[k]; }

  std::span<const int64_t> table(Value v) const { return tables_[nodes_[v.id].aux]; }
  const Span& span(Value v) const { return spans_[nodes_[v.id].span]; }

  bool is_constant(Value v) const { return nodes_[v.id].op == Op::Constant; }

  void set_flags(Value v, uint8_t flags) { nodes_[v.id].flags = flags; }
  void set_aux(Value v, uint32_t aux) { nodes_[v.id].aux = aux; }
  void set_imm(Value v, int64_t imm) { nodes_[v.id].imm = imm; }
  void set_type(Value v, const Type& type) { nodes_[v.id].type = type; }
  Region& mutable_region(RegionId id) { return regions_[id]; }

  /// Whether they were written by the same calls of a builder.
  bool operator==(const Function&) const = default;

 private:
  friend class Builder;
  std::vector<Node> nodes_;
  std::vector<Value> operands_;
  std::vector<Region> regions_;
  std::vector<ParamInfo> param_info_;
  std::vector<std::vector<int64_t>> tables_;
  std::vector<Span> spans_{Span{}};
};

}  // namespace strider::ir
