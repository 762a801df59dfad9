// SPDX-License-Identifier: Apache-2.0
#include "pass/schedule.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "ir/builder.h"
#include "ir/roots.h"
#include "pass/alias.h"
#include "pass/index_map.h"

namespace strider::pass {

using namespace ir;

namespace {

constexpr int kUnplaced = -1;
constexpr int kOutside = -2;  // complete before the region that is being planned

/// A step of a region: a statement, or a nest (then `statement` is invalid and `nest` says which).
struct Step {
  Value statement;
  int nest = -1;
};

struct NestPlan {
  Shape space;
  std::vector<Value> ops;
  int step = 0;
};

/// One access that has its place in the region's steps.
struct Effect {
  Value node, root, pointer;  // an invalid pointer: many addresses
  bool writes;
  int step;
};

struct RegionPlan {
  std::vector<Step> steps;
  std::vector<NestPlan> nests;
  std::vector<Effect> effects;
  std::vector<Value> waiting;  // loads without a place yet
};

/// A value that `user` reads, seen through inlined ops: at the same lane, or at another one.
struct Leaf {
  Value value;
  bool same_lane;
};

/// Each once, however often inlined ops share it.
struct Leaves {
  std::vector<Leaf> all;
  std::unordered_set<uint64_t> seen;  // values with their same_lane as the lowest bit
};

/// A number that counts only while its stamp is the current one.
struct Stamped {
  int stamp = 0;
  int number = 0;
};

class Planner {
 public:
  explicit Planner(const Function& f)
      : f_(f),
        inlining_(classify(f)),
        step_(f.size(), kUnplaced),
        nest_(f.size(), -1),
        flags_(f.size(), 0),
        ready_(f.size()),
        settled_(f.size()),
        plans_(f.region_count()) {}

  void plan_region(RegionId region);

  const RegionPlan& plan(RegionId region) const { return plans_[region]; }
  uint8_t flags(Value v) const { return flags_[v.id]; }
  bool is_inline(Value v) const { return inlining_[v.id].inlined; }

 private:
  bool is_tile(Value v) const { return !f_.type(v).is_void && !f_.type(v).is_scalar(); }
  bool is_complete_only(Value v) const;
  bool is_anchor(Value v) const { return has(f_[v].op, Writes) || f_[v].op == Op::Reduce || f_[v].op == Op::Scan; }
  RegionPlan& here() { return plans_[open_.back()]; }

  void visit(Value v);
  void visit_result(Value v);
  void visit_statement(Value v);
  void visit_control_flow(Value v);
  void append_statement(Value v);

  Shape space_of(Value v) const;
  void collect_leaves(Value operand, bool same_lane, Leaves& leaves) const;
  std::vector<Leaf> leaves(Value v) const;

  void place(Value root);
  int ready(Value root);
  int ready_for_memory(Value v) const;
  int find_nest(const Shape& space, int earliest);
  void insert(Value root, int nest);
  void append(Value v, int nest);
  void record_effect(Value v, int step);
  void mark_kept(const Leaf& leaf, int nest);
  void need_before(Value operand);
  void place_waiting(const std::function<bool(Value load)>& conflicts);
  std::optional<Effect> access(Value v) const;
  void collect_effects(RegionId region, std::vector<Effect>& effects) const;
  void collect_captured(RegionId region, std::vector<Value>& captured) const;

  const Function& f_;
  std::vector<Inlining> inlining_;
  std::vector<int> step_;  // of the region where the value lives
  std::vector<int> nest_;  // index into that region's nests, of placed values
  std::vector<uint8_t> flags_;
  std::vector<Stamped> ready_;  // of the walk of one place(), so that shared operands are walked once
  std::vector<bool> settled_;
  int stamp_ = 0;
  std::vector<RegionPlan> plans_;
  std::vector<RegionId> open_;
};

// --- what a value reads

/// The index space of the pass that a placed value needs.
Shape Planner::space_of(Value v) const {
  Op op = f_[v].op;
  bool by_operand = has(op, Writes) || op == Op::Reduce || op == Op::Scan || op == Op::Histogram;
  return squeeze(f_.type(by_operand ? f_.operand(v, 0) : v).shape);
}

void Planner::collect_leaves(Value operand, bool same_lane, Leaves& leaves) const {
  std::vector<Leaf> open{{operand, same_lane}};
  while (!open.empty()) {
    auto [v, same] = open.back();
    open.pop_back();
    if (!leaves.seen.insert(2 * uint64_t{v.id} + same).second) continue;
    if (!is_inline(v)) {
      leaves.all.push_back({v, same || f_.type(v).is_scalar()});
      continue;
    }
    if (has(f_[v].op, Shapes)) same &= keeps_lanes(f_, v);
    auto operands = f_.operands(v);
    for (size_t k = operands.size(); k-- > 0;) open.push_back({operands[k], same});
  }
}

std::vector<Leaf> Planner::leaves(Value v) const {
  Leaves found;
  bool sums_lanes = f_[v].op == Op::Dot;  // of all operands but the first
  for (int k = 0; k < f_[v].operand_count; ++k) collect_leaves(f_.operand(v, k), k == 0 || !sums_lanes, found);
  std::vector<Leaf> result = std::move(found.all);
  for (int k = 0; k < f_[v].region_count; ++k)  // scalars that a combine function reads
    for (Value s : f_.region(v, k).body)
      for (Value o : f_.operands(s))
        if (o.id < v.id) result.push_back({o, true});
  return result;
}

// --- placing

/// Finds a nest for `root` and writes it there, with all it needs. What it reads at another lane, directly or through operands
/// that will share its nest, is placed before: that has to be complete in an earlier nest.
void Planner::place(Value root) {
  struct Visit {
    Value v;
    bool joins;  // the nest of the value before
    std::vector<Leaf> leaves;
    size_t next = 0;
  };
  std::vector<Visit> open;
  auto begin = [&](Value v, bool joins) {
    if (step_[v.id] != kUnplaced || (joins && settled_[v.id])) return;
    open.push_back({v, joins, settled_[v.id] ? std::vector<Leaf>{} : leaves(v)});
    settled_[v.id] = true;
  };
  begin(root, false);
  while (!open.empty()) {
    Visit& at = open.back();
    if (at.next < at.leaves.size()) {
      const Leaf leaf = at.leaves[at.next++];
      bool joins = leaf.same_lane && f_[leaf.value].op != Op::Histogram && space_of(leaf.value) == space_of(at.v);
      begin(leaf.value, joins);
      continue;
    }
    Value v = at.v;
    bool joins = at.joins;
    open.pop_back();
    if (joins || step_[v.id] != kUnplaced) continue;
    ++stamp_;
    int nest = find_nest(space_of(v), ready(v));
    insert(v, nest);
  }
}

/// Values that nobody may read before the nest that makes them is done: results, and what atomics gave their owner.
bool Planner::is_complete_only(Value v) const {
  Op op = f_[v].op;
  return !is_tile(v) || op == Op::Result || op == Op::Atomic || op == Op::Histogram;
}

/// The first step at which `root` can run.
int Planner::ready(Value root) {
  struct Visit {
    Value v;
    std::vector<Leaf> leaves;
    int step;
    size_t next = 0;
  };
  std::vector<Visit> open;
  auto begin = [&](Value v) { open.push_back({v, leaves(v), ready_for_memory(v)}); };
  begin(root);
  while (!open.empty()) {
    Visit& at = open.back();
    if (at.next == at.leaves.size()) {
      ready_[at.v.id] = {stamp_, at.step};
      open.pop_back();
      continue;
    }
    const Leaf leaf = at.leaves[at.next];
    int placed = step_[leaf.value.id];
    bool complete_only = !leaf.same_lane || is_complete_only(leaf.value);
    if (placed == kUnplaced) {
      const Stamped& known = ready_[leaf.value.id];
      if (known.stamp != stamp_) {
        begin(leaf.value);
        continue;
      }
      at.step = std::max(at.step, known.number);
    } else if (placed != kOutside) {
      at.step = std::max(at.step, complete_only ? placed + 1 : placed);
    }
    ++at.next;
  }
  return ready_[root.id].number;
}

std::optional<Effect> Planner::access(Value v) const {
  if (!has(f_[v].op, Reads | Writes)) return std::nullopt;
  Value pointer = f_.operand(v, 0);
  return Effect{v, root_of(f_, pointer), pointer, has(f_[v].op, Writes), 0};
}

int Planner::ready_for_memory(Value v) const {
  auto mine = access(v);
  int step = 0;
  if (!mine) return step;
  for (const Effect& e : plans_[open_.back()].effects) {
    if (!(e.writes || mine->writes) || !roots_may_alias(f_, e.root, mine->root)) continue;
    bool lane_by_lane = e.pointer == mine->pointer && lanes_differ(f_, mine->pointer);
    step = std::max(step, lane_by_lane ? e.step : e.step + 1);
  }
  return step;
}

/// The last nest over `space` at or after step `earliest`, or a new one at the end.
int Planner::find_nest(const Shape& space, int earliest) {
  RegionPlan& plan = here();
  for (int k = static_cast<int>(plan.nests.size()) - 1; k >= 0; --k)
    if (plan.nests[k].space == space && plan.nests[k].step >= earliest) return k;
  plan.nests.push_back({space, {}, static_cast<int>(plan.steps.size())});
  plan.steps.push_back({{}, static_cast<int>(plan.nests.size()) - 1});
  return static_cast<int>(plan.nests.size()) - 1;
}

/// Writes `root` in a nest, after those of its operands that have no place yet.
void Planner::insert(Value root, int nest) {
  struct Visit {
    Value v;
    std::vector<Leaf> leaves;
    size_t next = 0;
  };
  std::vector<Visit> open{{root, leaves(root)}};
  while (!open.empty()) {
    Visit& at = open.back();
    if (at.next == at.leaves.size()) {
      append(at.v, nest);
      open.pop_back();
      continue;
    }
    const Leaf leaf = at.leaves[at.next];
    if (step_[leaf.value.id] == kUnplaced) {
      open.push_back({leaf.value, leaves(leaf.value)});
      continue;
    }
    mark_kept(leaf, nest);
    ++at.next;
  }
}

void Planner::append(Value v, int nest) {
  if (f_[v].op == Op::Histogram) flags_[v.id] |= kKeepShared;
  NestPlan& plan = here().nests[nest];
  plan.ops.push_back(v);
  step_[v.id] = plan.step;
  nest_[v.id] = nest;
  record_effect(v, plan.step);
  if (f_[v].op == Op::Load) std::erase(here().waiting, v);
}

void Planner::record_effect(Value v, int step) {
  if (auto e = access(v)) {
    e->step = step;
    here().effects.push_back(*e);
  }
}

void Planner::mark_kept(const Leaf& leaf, int nest) {
  if (f_.type(leaf.value).is_scalar()) return;
  bool in_this_nest = step_[leaf.value.id] != kOutside && nest_[leaf.value.id] == nest;
  if (in_this_nest) STRIDER_CHECK(leaf.same_lane && !is_complete_only(leaf.value));
  else flags_[leaf.value.id] |= leaf.same_lane ? kKeepPrivate : kKeepShared;
}

/// Places every waiting load for which `conflicts` says yes, in program order.
void Planner::place_waiting(const std::function<bool(Value)>& conflicts) {
  std::vector<Value> loads = here().waiting;
  for (Value load : loads)
    if (step_[load.id] == kUnplaced && conflicts(load)) place(load);
}

// --- statements in program order

void Planner::plan_region(RegionId region) {
  open_.push_back(region);
  for (Value p : f_.region(region).params) step_[p.id] = kOutside;
  for (Value v : f_.region(region).body) visit(v);
  open_.pop_back();
}

void Planner::visit(Value v) {
  const Node& n = f_[v];
  if (is_inline(v)) return;
  if (n.op == Op::For || n.op == Op::While || n.op == Op::If) return visit_control_flow(v);
  if (n.op == Op::Result) return visit_result(v);
  if (is_tile(v) && n.op == Op::Load) return here().waiting.push_back(v);
  if (is_tile(v) && !is_anchor(v)) return;
  visit_statement(v);
}

/// A result is complete after the step of its owner. Those of reductions and scans come out in scratch.
void Planner::visit_result(Value v) {
  Value owner = f_.operand(v, 0);
  step_[v.id] = step_[owner.id];
  nest_[v.id] = nest_[owner.id];
  if (is_tile(v)) flags_[v.id] |= nest_[owner.id] >= 0 ? kKeepShared : kKeepPrivate;
}

void Planner::visit_statement(Value v) {
  if (auto mine = access(v))
    place_waiting([&](Value load) {
      return mine->writes && roots_may_alias(f_, root_of(f_, f_.operand(load, 0)), mine->root);
    });
  bool over_tiles = is_anchor(v) && is_tile(f_.operand(v, 0));
  if (over_tiles) return place(v);
  for (Value o : f_.operands(v)) need_before(o);  // a yielded tile, or a tile of one element that becomes a scalar
  append_statement(v);
}

void Planner::append_statement(Value v) {
  step_[v.id] = static_cast<int>(here().steps.size());
  record_effect(v, step_[v.id]);
  here().steps.push_back({v, -1});
}

/// Places what `operand` rests on, and keeps it for whoever comes later.
void Planner::need_before(Value operand) {
  Leaves needed;
  collect_leaves(operand, true, needed);
  for (const Leaf& leaf : needed.all) {
    if (f_.type(leaf.value).is_scalar()) continue;
    place(leaf.value);
    flags_[leaf.value.id] |= leaf.same_lane ? kKeepPrivate : kKeepShared;
  }
}

void Planner::collect_captured(RegionId region, std::vector<Value>& captured) const {
  for (Value v : f_.region(region).body) {
    for (Value o : f_.operands(v)) captured.push_back(o);
    for (int k = 0; k < f_[v].region_count; ++k) collect_captured(f_.region_of(v, k), captured);
  }
}

void Planner::collect_effects(RegionId region, std::vector<Effect>& effects) const {
  for (Value v : f_.region(region).body) {
    if (auto e = access(v)) effects.push_back(*e);
    for (int k = 0; k < f_[v].region_count; ++k) collect_effects(f_.region_of(v, k), effects);
  }
}

void Planner::visit_control_flow(Value v) {
  std::vector<Effect> inside;
  std::vector<Value> captured(f_.operands(v).begin(), f_.operands(v).end());
  for (int k = 0; k < f_[v].region_count; ++k) {
    collect_effects(f_.region_of(v, k), inside);
    collect_captured(f_.region_of(v, k), captured);
  }
  place_waiting([&](Value load) {
    Value root = root_of(f_, f_.operand(load, 0));
    return std::any_of(inside.begin(), inside.end(), [&](const Effect& e) { return e.writes && roots_may_alias(f_, e.root, root); });
  });
  // Values of this region that the nested ones read. Those of the nested regions are still unvisited and have larger ids.
  for (Value o : captured)
    if (o.id < v.id && !f_.type(o).is_void) need_before(o);

  step_[v.id] = static_cast<int>(here().steps.size());
  here().steps.push_back({v, -1});
  for (Effect e : inside) {
    e.pointer = {};
    e.step = step_[v.id];
    here().effects.push_back(e);
  }
  std::vector<int> outer = step_;
  for (int& s : step_)
    if (s != kUnplaced) s = kOutside;
  for (int k = 0; k < f_[v].region_count; ++k) plan_region(f_.region_of(v, k));
  for (size_t id = 0; id < outer.size(); ++id)
    if (outer[id] != kUnplaced) step_[id] = outer[id];
}

// --- writing the scheduled form

class Writer {
 public:
  Writer(const Function& f, const Planner& planner) : f_(f), planner_(planner), b_(f.name), map_(f.size()), results_(f.size()) {
    b_.set_literal(true);
    b_.set_helpers(f.helpers);
    for (uint32_t id = 0; id < f.size(); ++id)
      if (f[Value{id}].op == Op::Result) results_[f.operand(Value{id}, 0).id].push_back(Value{id});
  }

  Function run() {
    for (size_t k = 0; k < f_.params().size(); ++k) map_[f_.params()[k].id] = b_.param(f_.type(f_.params()[k]), f_.param_info(static_cast<int>(k)));
    write_region(0);
    return b_.finish();
  }

 private:
  void write_region(RegionId region);
  void write_nest(const NestPlan& nest);
  void write_statement(Value v);
  void write_operands(Value user);
  void write_copy(Value v);
  void define(Value v, Value value);

  const Function& f_;
  const Planner& planner_;
  Builder b_;
  std::vector<Value> map_;
  std::vector<std::vector<Value>> results_;  // of each region op
  std::vector<Value> defined_;  // inlined values written so far, to be forgotten when their region ends
};

void Writer::define(Value v, Value value) {
  map_[v.id] = value;
  if (!value.valid()) return;
  uint8_t flags = f_[v].flags | planner_.flags(v) | (planner_.is_inline(v) ? kInline : 0);
  if (flags) b_.set_flags(value, flags);
}

void Writer::write_region(RegionId region) {
  size_t mark = defined_.size();
  const RegionPlan& plan = planner_.plan(region);
  for (const Step& step : plan.steps) {
    if (step.nest >= 0) write_nest(plan.nests[step.nest]);
    else write_statement(step.statement);
  }
  for (size_t k = mark; k < defined_.size(); ++k) map_[defined_[k].id] = {};
  defined_.resize(mark);
}

void Writer::write_nest(const NestPlan& nest) {
  b_.nest(nest.space, [&] {
    for (Value v : nest.ops) write_statement(v);
  });
}

/// Writes the inlined values that `user` reads and that are not written yet.
void Writer::write_operands(Value user) {
  std::vector<std::pair<Value, int>> open{{user, 0}};  // values, and which of their operands come next
  while (!open.empty()) {
    auto& [v, next] = open.back();
    if (next < f_[v].operand_count) {
      Value o = f_.operand(v, next++);
      if (map_[o.id].valid()) continue;
      STRIDER_CHECK(planner_.is_inline(o));
      open.emplace_back(o, 0);
      continue;
    }
    Value written = v;
    open.pop_back();
    if (open.empty()) return;
    write_copy(written);
    defined_.push_back(written);
  }
}

void Writer::write_statement(Value v) {
  write_operands(v);
  write_copy(v);
  for (Value r : results_[v.id]) define(r, b_.result(map_[v.id], static_cast<int>(f_[r].imm), f_.type(r)));
}

void Writer::write_copy(Value v) {
  const Node& n = f_[v];
  b_.set_span(f_.span(v));
  std::vector<Value> operands;
  for (Value o : f_.operands(v)) operands.push_back(map_[o.id]);
  if (n.op == Op::Yield) return b_.yield(operands);
  if (n.region_count == 0) return define(v, b_.emit(n.op, operands, n.imm, &n.type));
  Value owner = b_.open(n.op, operands, n.imm, n.type, n.region_count);
  b_.set_flags(owner, n.flags);
  define(v, owner);
  for (int k = 0; k < n.region_count; ++k) {
    const Region& region = f_.region(v, k);
    std::vector<Type> types;
    for (Value p : region.params) types.push_back(f_.type(p));
    b_.begin_region(owner, k, types);
    for (size_t p = 0; p < types.size(); ++p) define(region.params[p], b_.region_params()[p]);
    bool combines = n.op == Op::Reduce || n.op == Op::Scan;
    if (combines)
      for (Value s : region.body) write_copy(s);
    else write_region(f_.region_of(v, k));
    b_.end_region();
  }
}

}  // namespace

Function schedule(const Function& tile) {
  Planner planner(tile);
  planner.plan_region(0);
  return Writer(tile, planner).run();
}

}  // namespace strider::pass
