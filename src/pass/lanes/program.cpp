// SPDX-License-Identifier: Apache-2.0
// Statements in the lanes pass: regions, nests, scalars, control flow with carried tiles.
#include "pass/lanes/program.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "pass/index_map.h"
#include "pass/lanes/lanes.h"

namespace strider::pass {

using namespace ir;

LaneProgram::LaneProgram(const Function& scheduled, const Target& target, int threads, int lanes)
    : f_(scheduled),
      target_(target),
      threads_(threads),
      lanes_(lanes),
      never_negative_(never_negative(scheduled)),
      b_(scheduled.name),
      facts_(b_.function()),
      map_(scheduled.size()),
      results_(scheduled.size()) {
  b_.set_helpers(scheduled.helpers);
  for (uint32_t id = 0; id < f_.size(); ++id)
    if (f_[Value{id}].op == Op::Result) results_[f_.operand(Value{id}, 0).id].push_back(Value{id});
}

Function LaneProgram::run() {
  for (size_t k = 0; k < f_.params().size(); ++k) {
    Value p = f_.params()[k];
    map_[p.id] = b_.param(f_.type(p), f_.param_info(static_cast<int>(k)));
  }
  lower_region(0);
  Function result = b_.finish();
  result.threads = threads_;
  return result;
}

void LaneProgram::lower_region(RegionId region) {
  for (Value v : f_.region(region).body) {
    b_.set_span(f_.span(v));
    if (f_[v].op != Op::Yield) lower_statement(v);
  }
}

void LaneProgram::lower_statement(Value v) {
  const Node& n = f_[v];
  if ((n.flags & kInline) || n.op == Op::Result) return;
  switch (n.op) {
    case Op::Nest: return lower_nest(v);
    case Op::For: return lower_for(v);
    case Op::While: return lower_while(v);
    case Op::If: return lower_if(v);
    default: return has(n.op, Reads | Writes) ? lower_scalar_memory(v) : lower_scalar(v);
  }
}

void LaneProgram::lower_scalar(Value v) {
  const Node& n = f_[v];
  if (n.op == Op::Hint) return lower_hint(v);
  if (n.operand_count == 1 && !f_.type(f_.operand(v, 0)).is_scalar()) return lower_single_element(v);
  Values operands;
  for (Value o : f_.operands(v)) operands.push_back(map_[o.id]);
  map_[v.id] = b_.emit(n.op, operands, n.imm, &n.type);
}

/// What a hint says of a scalar becomes a fact; of tiles nothing is kept (pass/hints).
void LaneProgram::lower_hint(Value v) {
  HintFact fact = HintFact::of(f_[v].imm);
  Value scalar = map_[f_.operand(v, 0).id];
  map_[v.id] = scalar;
  if (fact.kind == HintKind::MultipleOf) facts_.promise(scalar, fact.number);
}

/// A scalar that is the one element of a tile.
void LaneProgram::lower_single_element(Value v) {
  Value tile = f_.operand(v, 0);
  Pass pass(layout_of(f_.type(tile).shape));
  STRIDER_CHECK(has(f_[v].op, Shapes) && pass.layout.rank() == 0);
  pass_ = &pass;
  phase();
  each_slot(pass.layout, [&](const Slot& slot) {
    pass.slot = &slot;
    map_[v.id] = eval_here(tile).base;
  });
  pass_ = nullptr;
}

/// A scalar access is done once, by thread 0; what it gives goes to all threads through scratch.
void LaneProgram::lower_scalar_memory(Value v) {
  const Node& n = f_[v];
  phase();
  if (threads_ == 1) return lower_scalar(v);
  bool has_value = !n.type.is_void;
  Value hand_over = has_value ? b_.alloc(Space::Shared, n.type.dtype, 1) : Value{};
  Value is_owner = b_.binary(Op::Eq, b_.thread_id(), b_.i32(0));
  b_.if_else(
      is_owner,
      [&](std::span<const Value>) {
        lower_scalar(v);
        if (has_value) b_.store(hand_over, map_[v.id]);
        return Values{};
      },
      [](std::span<const Value>) { return Values{}; });
  if (!has_value) return;
  phase();
  map_[v.id] = b_.load(hand_over);
}

void LaneProgram::phase() {
  if (threads_ > 1) b_.phase();
}

// --- passes over an index space

Layout LaneProgram::layout_of(const Shape& shape) const { return make_layout(squeeze(shape), lanes_, threads_); }

/// A nest that rarely runs is a loop over single lanes where masked vectors become branches anyway: less code to compile.
Layout LaneProgram::layout_of_nest(Value nest) const {
  bool is_small = in_rare_region_ && !target_.masked_blocks && uses_only_own_values(nest);
  return is_small ? make_layout(squeeze(f_[nest].type.shape), 1, threads_) : layout_of(f_[nest].type.shape);
}

/// True if no tile is kept from or for other nests: then the nest may have a layout of its own.
bool LaneProgram::uses_only_own_values(Value nest) const {
  const auto& body = f_.region(nest, 0).body;
  std::unordered_set<uint32_t> own;
  for (Value s : body) {
    const Node& n = f_[s];
    if (n.op == Op::Reduce || n.op == Op::Scan || (n.flags & (kKeepPrivate | kKeepShared))) return false;
    for (Value o : f_.operands(s))
      if (!is_slotwise(o, own)) return false;
    own.insert(s.id);
  }
  return true;
}

/// True if `tile` needs no tile but inline ones and those of `own`, which they join then.
bool LaneProgram::is_slotwise(Value tile, std::unordered_set<uint32_t>& own) const {
  std::vector<Value> open{tile};
  while (!open.empty()) {
    Value v = open.back();
    open.pop_back();
    if (f_.type(v).is_scalar() || own.contains(v.id)) continue;
    if (!(f_[v].flags & kInline)) return false;
    own.insert(v.id);
    auto operands = f_.operands(v);
    open.insert(open.end(), operands.begin(), operands.end());
  }
  return true;
}

/// The number, among the threads that own different lanes, of this one.
Value LaneProgram::owner_thread(const Layout& layout) {
  if (layout.threads == 1) return b_.i32(0);
  Value id = b_.thread_id();
  return layout.threads == threads_ ? id : b_.binary(Op::And, id, b_.i32(layout.threads - 1));
}

/// The part of the index along `axis` that the thread and the lane give.
LaneValue LaneProgram::thread_part(const Layout& layout, int axis) {
  LaneMath m = math(layout);
  int64_t stride = layout.stride[axis], mask = layout.padded[axis] - 1;
  std::vector<int64_t> offsets;
  for (int64_t lane = 0; lane < layout.lanes; ++lane) offsets.push_back((lane / stride) & mask);
  bool lanes_cover_axis = layout.lanes >= stride * layout.padded[axis];
  if (lanes_cover_axis) return m.affine(b_.i32(0), offsets);
  Value thread = owner_thread(layout);
  Value base = layout.lanes >= stride ? b_.mul(thread, b_.i32(layout.lanes / stride))
                                      : b_.binary(Op::Shr, thread, b_.i32(log2_of(stride / layout.lanes)));
  bool threads_exceed_axis = layout.lanes * layout.threads > stride * layout.padded[axis];
  if (threads_exceed_axis) base = b_.binary(Op::And, base, b_.i32(mask));
  return m.affine(base, offsets);
}

/// True for a mask that is known to be true in all lanes.
bool LaneProgram::is_always(const LaneValue& mask) const {
  if (!mask.base.valid()) return true;
  return mask.is_uniform() && b_.function().is_constant(mask.base) && b_.function()[mask.base].imm != 0;
}

Slot LaneProgram::make_slot(const Layout& layout, std::span<const Value> position) {
  LaneMath m = math(layout);
  Slot slot{{position.begin(), position.end()}, {}, b_.i32(0), {}};
  for (int d = 0; d < layout.rank(); ++d) {
    slot.number = b_.add(b_.mul(slot.number, b_.i32(layout.slots[d])), position[d]);
    LaneValue start = m.uniform(b_.mul(position[d], b_.i32(layout.unit[d])));
    slot.index.push_back(m.add(start, thread_part(layout, d)));
    if (layout.is_ragged(d)) slot.present = m.both(slot.present, m.less(slot.index[d], layout.space[d]));
  }
  if (is_always(slot.present)) slot.present = {};
  return slot;
}

void LaneProgram::each_slot(const Layout& layout, const SlotFn& body, std::span<const Value> limits) {
  std::vector<int64_t> counts(layout.slots.begin(), layout.slots.begin() + layout.rank());
  each_slot_between(layout, counts, body, limits);
}

/// Runs `body` for the first counts[d] slots along each axis: written out when they are few, else as loops, which end at
/// limits[d] where that is valid.
void LaneProgram::each_slot_between(const Layout& layout, std::span<const int64_t> counts, const SlotFn& body,
                                    std::span<const Value> limits) {
  int64_t total = 1;
  for (int64_t c : counts) total *= c;
  bool written_out = total <= target_.unroll_slots && !(in_rare_region_ && layout.lanes == 1);
  std::vector<Value> position(layout.rank());
  std::function<void(int)> walk = [&](int axis) {
    if (axis == layout.rank()) return body(make_slot(layout, position));
    if (written_out || counts[axis] == 1) {
      for (int64_t x = 0; x < counts[axis]; ++x) {
        position[axis] = b_.i32(x);
        walk(axis + 1);
      }
      return;
    }
    bool is_limited = !limits.empty() && limits[axis].valid();
    b_.for_loop(b_.i32(0), is_limited ? limits[axis] : b_.i32(counts[axis]), b_.i32(1), {}, [&](std::span<const Value> p) {
      position[axis] = p[0];
      walk(axis + 1);
      return Values{};
    });
  };
  walk(0);
}

/// Lanes that several threads repeat are written by the first of them.
void LaneProgram::by_owner(const Layout& layout, const std::function<void()>& body) {
  if (layout.threads == threads_) return body();
  Value is_owner = b_.binary(Op::Lt, b_.thread_id(), b_.i32(layout.threads));
  b_.if_else(
      is_owner,
      [&](std::span<const Value>) {
        body();
        return Values{};
      },
      [](std::span<const Value>) { return Values{}; });
}

// --- nests

/// How the value of `v` is kept. Only the owner of repeated lanes knows what an atomic gave, so all read it from scratch.
uint8_t LaneProgram::keep_flags(Value v, const Layout& layout) const {
  bool repeated = layout.threads < threads_;
  return f_[v].op == Op::Atomic && repeated ? static_cast<uint8_t>(kKeepShared) : f_[v].flags;
}

void LaneProgram::lower_nest(Value v) {
  if (is_block_transpose(v)) return lower_block_transpose(v);
  Pass pass(layout_of_nest(v));
  pass_ = &pass;
  choose_group(v);
  const auto& body = f_.region(v, 0).body;
  for (Value s : body) {
    const Node& n = f_[s];
    if (n.op == Op::Reduce || n.op == Op::Scan) prepare_fold(s);
    else if (n.op == Op::Histogram) storage_[s.id] = allocate(layout_of(n.type.shape), n.type.dtype, kKeepShared);
    else if (!n.type.is_void && n.op != Op::Result && !(n.flags & kInline) && (n.flags & (kKeepPrivate | kKeepShared)))
      storage_[s.id] = allocate(pass.layout, n.type.dtype, keep_flags(s, pass.layout));
  }
  for (Value s : body)
    if (f_[s].op == Op::Histogram) clear(storage_[s.id]);
  phase();
  if (pass.group > 1) each_slot(pass.grouped, [&](const Slot& first) { visit_group(v, first); });
  else each_slot(pass.layout, [&](const Slot& slot) { visit_slot(v, slot); }, slot_limits(v));
  for (Value s : body)
    if (f_[s].op == Op::Reduce || f_[s].op == Op::Scan) finish_fold(s);
  pass_ = nullptr;
}

void LaneProgram::visit_slot(Value nest, const Slot& slot) {
  pass_->slot = &slot;
  pass_->forget();
  for (Value s : f_.region(nest, 0).body) {
    b_.set_span(f_.span(s));
    lower_in_nest(s);
  }
}

/// A tile's load in the current slot.
LaneValue LaneProgram::lower_load(Value v) {
  std::vector<LaneValue> x;
  for (Value o : f_.operands(v)) x.push_back(eval_here(o));
  LaneValue mask = x.size() > 1 ? x[1] : LaneValue{};
  return load(x[0], math(pass_->layout).both(mask, pass_->slot->present), x.size() > 2 ? x[2] : LaneValue{}, f_[v].imm);
}

/// Adds one to the count of what each lane of the slot holds.
void LaneProgram::count_lanes(Value v, const Slot& slot) {
  LaneMath m = math(pass_->layout);
  const Storage& counts = storage_[v.id];
  LaneValue bin = eval_here(f_.operand(v, 0));
  LaneValue from_zero[] = {bin, m.constant(DType::I32, 0)};
  LaneValue mask = m.both(m.both(m.apply(Op::Ge, DType::Bool, from_zero), m.less(bin, f_.type(v).shape[0])), slot.present);
  auto address = [&](const LaneValue& at) { return shared_address(counts, squeeze_index(f_.type(v).shape, {at})); };
  if (threads_ > 1) {
    Value place = m.materialize(address(bin)), one = m.materialize(m.constant(DType::I32, 1));
    return by_owner(pass_->layout, [&] { b_.atomic_add(place, one, is_always(mask) ? Value{} : m.materialize(mask)); });
  }
  // One thread needs no atomics. Lane by lane, 0 is added to bin 0 where nothing is counted.
  LaneValue counted[] = {mask, bin, m.constant(DType::I32, 0)};
  Value bins = allocate_private(DType::I32, m.lanes()), amounts = allocate_private(DType::I32, m.lanes());
  std::vector<int64_t> lanes(static_cast<size_t>(m.lanes()));
  std::iota(lanes.begin(), lanes.end(), 0);
  store(m.affine(bins, lanes), m.apply(Op::Where, DType::I32, counted), {});
  store(m.affine(amounts, lanes), m.cast(mask, DType::I32), {});
  b_.for_loop(b_.i32(0), b_.i32(m.lanes()), b_.i32(1), {}, [&](std::span<const Value> p) {
    Value place = address(m.uniform(b_.load(b_.ptr_add(bins, p[0])))).base;
    b_.store(place, b_.add(b_.load(place), b_.load(b_.ptr_add(amounts, p[0]))));
    return Values{};
  });
}

void LaneProgram::lower_in_nest(Value v) {
  const Node& n = f_[v];
  const Slot& slot = *pass_->slot;
  LaneMath m = math(pass_->layout);
  if ((n.flags & kInline) || n.op == Op::Result) return;
  if (n.op == Op::Reduce || n.op == Op::Scan) return gather_fold(v, slot);
  if (n.op == Op::Histogram) return count_lanes(v, slot);
  // Threads that repeat lanes read what the owner writes. Such a nest has a single slot, so they can wait for each other.
  bool repeated = pass_->layout.threads < threads_;
  if (repeated && has(n.op, Reads | Writes)) phase();
  std::vector<LaneValue> x;
  if (n.op != Op::Dot)
    for (Value o : f_.operands(v)) x.push_back(eval_here(o));
  auto operand = [&](size_t k) { return k < x.size() ? x[k] : LaneValue{}; };
  LaneValue result;
  switch (n.op) {
    case Op::Load: result = lower_load(v); break;
    case Op::Dot: result = eval_dot(v); break;
    case Op::Store:
      return by_owner(pass_->layout, [&] { store(x[0], x[1], m.both(operand(2), slot.present), n.imm); });
    case Op::Atomic:
      return by_owner(pass_->layout, [&] {
        LaneValue old = atomic(v, x, slot.present);
        if (auto it = storage_.find(v.id); it != storage_.end()) keep(it->second, slot, old);
      });
    default: result = eval_pointwise(v, x);
  }
  pass_->values[v.id] = result;
  if (auto it = storage_.find(v.id); it != storage_.end()) keep(it->second, slot, result);
}

// --- control flow

/// True if `tile` shows a kept tile at other lanes than its own.
bool LaneProgram::reads_other_lanes(Value tile) const {
  std::vector<Value> open{tile};
  std::unordered_set<uint32_t> seen;
  while (!open.empty()) {
    Value v = open.back();
    open.pop_back();
    if (f_.type(v).is_scalar() || !(f_[v].flags & kInline) || !seen.insert(v.id).second) continue;
    if (has(f_[v].op, Shapes) && !keeps_lanes(f_, v) && !f_.type(f_.operand(v, 0)).is_scalar()) return true;
    auto operands = f_.operands(v);
    open.insert(open.end(), operands.begin(), operands.end());
  }
  return false;
}

/// Copies the tiles among `values` to the storages `to`, position by position. Where the storages are read as well
/// (`from_carried`), all lanes of a slot are read before any is written, and if tiles are read at other lanes, everything
/// is copied aside first.
void LaneProgram::copy_kept(std::span<const Value> values, const std::vector<Storage>& to, bool from_carried) {
  std::vector<Copy> copies;
  bool aside = false;
  for (size_t k = 0; k < values.size(); ++k) {
    if (f_.type(values[k]).is_scalar()) continue;
    copies.push_back({values[k], to[k], {}});
    aside |= from_carried && reads_other_lanes(values[k]);
  }
  if (copies.empty()) return;
  if (aside)
    for (Copy& c : copies) c.aside = allocate(c.to.layout, c.to.dtype, kKeepPrivate);
  phase();
  for_each_layout(copies, [&](std::span<const Copy> group, const Slot& slot) {
    std::vector<LaneValue> read;
    for (const Copy& c : group) read.push_back(eval_here(c.value));
    for (size_t k = 0; k < group.size(); ++k) keep(aside ? group[k].aside : group[k].to, slot, read[k]);
  });
  if (!aside) return;
  phase();
  for_each_layout(copies, [&](std::span<const Copy> group, const Slot& slot) {
    for (const Copy& c : group) keep(c.to, slot, read_own(c.aside, slot.number));
  });
}

/// Runs `body` in every slot of each layout among the copies, for the copies that have it.
void LaneProgram::for_each_layout(std::vector<Copy> copies, const std::function<void(std::span<const Copy>, const Slot&)>& body) {
  while (!copies.empty()) {
    Pass pass(copies[0].to.layout);
    auto others = std::stable_partition(copies.begin(), copies.end(), [&](const Copy& c) { return c.to.layout == pass.layout; });
    std::vector<Copy> group(copies.begin(), others);
    copies.erase(copies.begin(), others);
    pass_ = &pass;
    each_slot(pass.layout, [&](const Slot& slot) {
      pass.slot = &slot;
      pass.forget();
      body(group, slot);
    });
    pass_ = nullptr;
  }
}

/// Storage for each tile that `owner` carries or gives, by position; kept in all the ways its parameters and results are read.
std::vector<Storage> LaneProgram::allocate_carried(Value owner, std::span<const Value> values) {
  std::vector<Storage> storages(values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    const Type& type = f_.type(values[k]);
    if (type.is_scalar()) continue;
    if (type.is_pointer()) unsupported_error("{}: a tile of pointers can not be carried; carry its offsets", name_of(f_[owner].op));
    uint8_t flags = kKeepPrivate;
    for (Value r : results_[owner.id])
      if (f_[r].imm == static_cast<int64_t>(k)) flags |= f_[r].flags;
    for (int region = 0; region < f_[owner].region_count; ++region)
      if (auto params = carried_params(owner, region); k < params.size()) flags |= f_[params[k]].flags;
    storages[k] = allocate(layout_of(type.shape), type.dtype, flags);
  }
  return storages;
}

/// The parameters of a region that stand for carried values.
std::span<const ir::Value> LaneProgram::carried_params(Value owner, int region) const {
  std::span<const Value> params = f_.region(owner, region).params;
  return f_[owner].op == Op::For ? params.subspan(1) : params;
}

/// Lets the source values, by position, stand for new scalars (in order, tiles left out) and for storages.
void LaneProgram::bind(std::span<const Value> sources, std::span<const Value> types, std::span<const Value> scalars,
                       const std::vector<Storage>& tiles) {
  size_t next = 0;
  for (size_t k = 0; k < types.size(); ++k) {
    bool is_scalar = f_.type(types[k]).is_scalar();
    if (is_scalar && sources[k].valid()) map_[sources[k].id] = scalars[next];
    if (!is_scalar && sources[k].valid()) storage_[sources[k].id] = tiles[k];
    next += is_scalar;
  }
}

void LaneProgram::bind_results(Value owner, std::span<const Value> types, std::span<const Value> scalars,
                               const std::vector<Storage>& tiles) {
  std::vector<Value> results(types.size());
  for (Value r : results_[owner.id]) results[f_[r].imm] = r;
  bind(results, types, scalars, tiles);
}

/// The mapped scalars among `values`.
LaneProgram::Values LaneProgram::scalars_of(std::span<const Value> values) const {
  Values result;
  for (Value v : values)
    if (f_.type(v).is_scalar()) result.push_back(map_[v.id]);
  return result;
}

/// Writes what the region holds and copies the tiles that it yields; gives the scalars that it yields.
LaneProgram::Values LaneProgram::lower_yielding(RegionId region, const std::vector<Storage>& tiles, bool from_carried) {
  lower_region(region);
  auto yielded = f_.operands(f_.region(region).body.back());
  copy_kept(yielded, tiles, from_carried);
  return scalars_of(yielded);
}

void LaneProgram::lower_for(Value v) {
  auto operands = f_.operands(v);
  auto carried = operands.subspan(3);
  std::vector<Storage> tiles = allocate_carried(v, carried);
  copy_kept(carried, tiles, false);
  Value lo = map_[operands[0].id], step = map_[operands[2].id];
  Values results = b_.for_loop(lo, map_[operands[1].id], step, scalars_of(carried), [&](std::span<const Value> p) {
    facts_.set_divisor(p[0], std::min(facts_.divisor(lo), facts_.divisor(step)));
    map_[f_.region(v, 0).params[0].id] = p[0];
    bind(carried_params(v, 0), carried, p.subspan(1), tiles);
    return lower_yielding(f_.region_of(v, 0), tiles, true);
  });
  bind_results(v, carried, results, tiles);
}

void LaneProgram::lower_while(Value v) {
  auto carried = f_.operands(v);
  std::vector<Storage> tiles = allocate_carried(v, carried);
  copy_kept(carried, tiles, false);
  auto run = [&](int k) {
    return [&, k](std::span<const Value> p) {
      bind(carried_params(v, k), carried, p, tiles);
      return lower_yielding(f_.region_of(v, k), tiles, true);
    };
  };
  Values results = b_.while_loop(scalars_of(carried), run(0), run(1));
  bind_results(v, carried, results, tiles);
}

void LaneProgram::lower_if(Value v) {
  auto given = f_.operands(f_.region(v, 0).body.back());
  std::vector<Storage> tiles = allocate_carried(v, given);
  auto branch = [&](int k) {
    return [&, k](std::span<const Value>) {
      bool before = std::exchange(in_rare_region_, in_rare_region_ || (k == 1 && (f_[v].flags & kLikely)));
      Values yielded = lower_yielding(f_.region_of(v, k), tiles, false);
      in_rare_region_ = before;
      return yielded;
    };
  };
  Values results = b_.if_else(map_[f_.operand(v, 0).id], branch(0), branch(1));
  bind_results(v, given, results, tiles);
}

Function lower_to_lanes(const Function& scheduled, const Target& target, int threads, int lanes) {
  return LaneProgram(scheduled, target, threads, lanes).run();
}

}  // namespace strider::pass
