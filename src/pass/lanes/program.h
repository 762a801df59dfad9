// SPDX-License-Identifier: Apache-2.0
// The state of the lanes pass, shared by its parts: statements (program.cpp), values (eval.cpp), memory (memory.cpp),
// staged loads (transpose.cpp), reductions and scans (fold.cpp), slots that no lane needs (bounds.cpp).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/target.h"
#include "pass/lanes/facts.h"
#include "pass/lanes/lane_value.h"
#include "pass/lanes/layout.h"

namespace strider::pass {

/// One visit of a thread to a nest: a number for each axis, and which of its kept vectors this is.
struct Slot {
  std::vector<ir::Value> position;   // number of the slot along each axis
  std::vector<LaneValue> index;      // of each axis of the index space
  ir::Value number;                  // i32, counts the slots in row-major order
  LaneValue present;                 // lanes inside the space; no base: all
};

/// Where a kept value lies.
struct Storage {
  Layout layout;
  DType dtype = DType::Bool;
  ir::Value own;      // array of each thread, slot by slot
  ir::Value shared;   // in scratch, row-major
  std::vector<int64_t> shared_stride;
};

/// A reduction's or scan's operands on their way to its result.
struct Fold {
  std::vector<Storage> storages;  // one for each operand
  bool is_grouped = false;        // each slot holds what a group of slots along the axis gave (Pass::group)
};

class LaneProgram {
 public:
  LaneProgram(const ir::Function& scheduled, const Target& target, int threads, int lanes);
  ir::Function run();

 private:
  using Value = ir::Value;
  using Values = std::vector<Value>;
  using Index = std::vector<LaneValue>;
  using SlotFn = std::function<void(const Slot&)>;

  /// The nest, or the copy of kept values, that is being written: what is known in the current slot.
  struct Pass {
    explicit Pass(const Layout& l) : layout(l) {}
    Layout layout;
    const Slot* slot = nullptr;
    std::unordered_map<uint32_t, LaneValue> values;
    std::map<std::pair<uint32_t, std::vector<int64_t>>, LaneValue> elsewhere;  // inline values at other lanes, by index_key
    void forget() { values.clear(), elsewhere.clear(); }
    // Slots that are as far apart as a reduction's first levels fold them are visited together, `group` of them along
    // `group_axis`, so that these levels need no memory. `grouped` is the layout in which each group counts as one slot.
    int group_axis = -1;
    int64_t group = 1;
    Layout grouped;
    std::unordered_map<uint32_t, std::vector<LaneValue>> gathered;  // by fold: its operands in the current slot
  };

  /// A tile that is to be copied into storage, perhaps by way of a private copy.
  struct Copy {
    Value value;
    Storage to, aside;
  };

  // program.cpp: statements
  void lower_region(ir::RegionId region);
  void lower_statement(Value v);
  void lower_scalar(Value v);
  void lower_single_element(Value v);
  void lower_scalar_memory(Value v);
  void lower_hint(Value v);
  void lower_nest(Value v);
  void visit_slot(Value nest, const Slot& slot);
  void lower_in_nest(Value v);
  LaneValue lower_load(Value v);
  void count_lanes(Value v, const Slot& slot);
  void lower_for(Value v);
  void lower_while(Value v);
  void lower_if(Value v);
  Values lower_yielding(ir::RegionId region, const std::vector<Storage>& tiles, bool from_carried);
  std::vector<Storage> allocate_carried(Value owner, std::span<const Value> values);
  std::span<const Value> carried_params(Value owner, int region) const;
  void bind(std::span<const Value> sources, std::span<const Value> types, std::span<const Value> scalars,
            const std::vector<Storage>& tiles);
  void bind_results(Value owner, std::span<const Value> types, std::span<const Value> scalars, const std::vector<Storage>& tiles);
  Values scalars_of(std::span<const Value> values) const;
  void copy_kept(std::span<const Value> values, const std::vector<Storage>& to, bool from_carried);
  void for_each_layout(std::vector<Copy> copies, const std::function<void(std::span<const Copy>, const Slot&)>& body);
  bool reads_other_lanes(Value tile) const;
  uint8_t keep_flags(Value v, const Layout& layout) const;

  // program.cpp: passes over index spaces
  Layout layout_of(const ir::Shape& shape) const;
  Layout layout_of_nest(Value nest) const;
  bool uses_only_own_values(Value nest) const;
  bool is_slotwise(Value tile, std::unordered_set<uint32_t>& own) const;
  void each_slot(const Layout& layout, const SlotFn& body, std::span<const Value> limits = {});
  void each_slot_between(const Layout& layout, std::span<const int64_t> counts, const SlotFn& body,
                         std::span<const Value> limits = {});
  Slot make_slot(const Layout& layout, std::span<const Value> position);
  LaneValue thread_part(const Layout& layout, int axis);
  Value owner_thread(const Layout& layout);
  void by_owner(const Layout& layout, const std::function<void()>& body);
  bool is_always(const LaneValue& mask) const;
  void phase();
  LaneMath math(const Layout& layout) { return LaneMath(b_, facts_, layout.lanes); }

  // bounds.cpp
  Values slot_limits(Value nest);
  std::optional<Value> slots_below(Value mask, int axis);
  std::optional<Value> first_index(Value v);
  Value known_scalar(Value v);

  // eval.cpp: values at lanes
  LaneValue eval(Value v, const Index& index, bool same_lane);
  LaneValue eval_here(Value v);
  void eval_operands(Value large);
  LaneValue eval_inline(Value v, const Index& index, bool same_lane);
  LaneValue eval_shape(Value v, const Index& index, bool same_lane);
  LaneValue eval_wide(Value v, DType to, const Index& index, bool same_lane);
  Index inner_index(Value v, const Index& index, bool same_lane);
  Index reshape_index(const ir::Shape& from, const ir::Shape& to, const Index& index);
  Index expand(const ir::Shape& shape, const Index& squeezed);
  LaneValue eval_pointwise(Value v, std::span<const LaneValue> operands);
  LaneValue eval_dot(Value v);
  std::vector<LaneValue> combine(Value owner, std::span<const LaneValue> operands);

  // memory.cpp
  LaneValue load_every_second(const LaneValue& pointer);
  LaneValue load(const LaneValue& pointer, const LaneValue& mask, const LaneValue& other, int64_t access = 0);
  void store(const LaneValue& pointer, const LaneValue& value, const LaneValue& mask, int64_t access = 0);
  LaneValue atomic(Value v, std::span<const LaneValue> operands, const LaneValue& present);
  Storage allocate(const Layout& layout, DType dtype, uint8_t keep);
  void clear(const Storage& storage);
  Value allocate_private(DType dtype, int64_t elements);
  LaneValue own_address(const Storage& storage, Value slot_number);
  LaneValue shared_address(const Storage& storage, const Index& squeezed);
  void keep(const Storage& storage, const Slot& slot, const LaneValue& value);
  LaneValue read_own(const Storage& storage, Value slot_number);
  LaneValue read_elsewhere(const Storage& storage, const Index& squeezed);
  LaneValue read_shared(const Storage& storage, const Index& squeezed, const LaneValue& present);
  Index squeeze_index(const ir::Shape& shape, const Index& index) const;

  // transpose.cpp
  bool is_block_transpose(Value nest) const;
  void transpose_block(std::vector<Value>& rows);
  void lower_block_transpose(Value nest);

  // fold.cpp
  void prepare_fold(Value v);
  void gather_fold(Value v, const Slot& slot);
  const Layout& gathered_layout(Value v) const;
  void choose_group(Value nest);
  void visit_group(Value nest, const Slot& first);
  std::vector<std::vector<LaneValue>> fold_group(Value nest, std::span<const Value> folds, const Slot& first, int64_t begin, int64_t count);
  void finish_fold(Value v);
  void finish_reduce(Value v, int axis);
  void finish_scan(Value v, int axis);
  void fold_slots(Value v, int axis);
  int64_t nearest_outside_warp(int axis) const;
  int64_t warps_to_fold(int axis) const;
  void write_across_warps(Value v, int axis, std::span<const Storage> buffers);
  std::vector<LaneValue> fold_across_warps(Value v, int axis, const Slot& slot, std::span<const Storage> buffers);
  void fold_threads_and_lanes(Value v, int axis, std::vector<LaneValue>& values);
  std::vector<LaneValue> fold_pair(Value v, std::span<const LaneValue> low, std::span<const LaneValue> high, const LaneValue& present);
  void emit_results(Value v, int axis, const Slot& slot, std::span<const LaneValue> values);
  LaneValue partner_present(int axis, int64_t distance, int64_t low_bits);
  Value across_number(int axis, const Slot& slot);
  std::vector<LaneValue> read_all(std::span<const Storage> storages, Value slot_number);
  int squeezed_axis(Value v) const;
  bool commutes(Value owner) const;

  const ir::Function& f_;
  const Target& target_;
  int threads_, lanes_;
  std::vector<bool> never_negative_;  // by source value
  ir::Builder b_;
  Facts facts_;
  std::vector<Value> map_;                                  // scalars
  std::unordered_map<uint32_t, Storage> storage_;           // of kept tiles, by source value
  std::unordered_map<uint32_t, Fold> fold_;                 // by owner
  Pass* pass_ = nullptr;
  bool in_rare_region_ = false;                             // code that should be small rather than fast
  std::vector<std::vector<Value>> results_;                 // of each region op
};

}  // namespace strider::pass
