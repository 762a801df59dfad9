// SPDX-License-Identifier: Apache-2.0
#include "pass/simplify.h"

#include <unordered_map>

#include "ir/fold.h"
#include "ir/rewrite.h"
#include "pass/algebra.h"
#include "pass/used.h"

namespace strider::pass {

using namespace ir;

namespace {

constexpr int kMostRounds = 8;

class Simplifier : public Rewriter {
 public:
  explicit Simplifier(const Function& f) : Rewriter(f), used_(f) {}

  /// True if the last run found anything to do that may make room for more.
  bool changed() const { return changed_; }

 protected:
  void visit(Value v) override;

 private:
  /// What became of the carried values of a region op: a value from outside, or a place among those that stayed.
  struct Slots {
    std::vector<Value> outside;
    std::vector<int> place;
    std::vector<int> kept;
  };

  bool visit_access(Value v);
  void visit_control(Value v);
  void visit_result(Value v);
  Slots choose_slots(Value owner) const;
  Value shared_value(Value owner, int k) const;
  void rebuild(Value owner, const Slots& slots);
  void rebuild_region(Value owner, int index, Value copied, const Slots& slots);
  bool inline_if(Value owner, Slots& slots);
  bool inline_for(Value owner, Slots& slots);
  void inline_region(Value owner, int index, Slots& slots);

  Used used_;
  bool changed_ = false;
  std::unordered_map<uint32_t, Slots> slots_;  // by region op of the source
};

void Simplifier::visit(Value v) {
  const Node& node = from[v];
  if (node.op == Op::Yield) return;
  if (!used_.node(v)) return void(changed_ = true);
  if (node.op == Op::Nest) return copy(v);
  if (node.region_count > 0) return visit_control(v);
  if (node.op == Op::Result) return visit_result(v);
  if (has(node.op, Reads | Writes) && visit_access(v)) return;
  if (!is_pure(node.op) || has(node.op, Lane)) return copy(v);
  std::vector<Value> operands = map(from.operands(v));
  Value simple = simpler(b, node.op, operands, node.imm, node.type);
  if (!simple.valid()) return copy(v);
  changed_ = true;
  set(v, simple);
}

/// An access whose mask is constant loses the mask or disappears. An atomic that does nothing stays: it has a value.
bool Simplifier::visit_access(Value v) {
  const Node& node = from[v];
  bool loads = node.op == Op::Load || node.op == Op::LoadBlock;
  auto mask_at = static_cast<size_t>(mask_operand(node.op, node.imm));
  std::vector<Value> operands = map(from.operands(v));
  int64_t mask;
  if (operands.size() <= mask_at || !constant_int(b.function(), operands[mask_at], &mask)) return false;
  if (mask) set(v, b.emit(node.op, std::span(operands).first(mask_at), node.imm, &node.type));
  else if (loads) set(v, operands.size() > 2 ? operands[2] : b.constant_bits(node.type, 0));
  else if (node.op == Op::Atomic) return false;
  return changed_ = true;
}

void Simplifier::visit_result(Value v) {
  Value owner = from.operand(v, 0);
  const Slots& slots = slots_.at(owner.id);
  int k = static_cast<int>(from[v].imm);
  set(v, slots.outside[k].valid() ? slots.outside[k] : b.result(map(owner), slots.place[k], from[v].type));
}

void Simplifier::visit_control(Value v) {
  Slots slots = choose_slots(v);
  Op op = from[v].op;
  bool gone = (op == Op::If && inline_if(v, slots)) || (op == Op::For && inline_for(v, slots));
  if (!gone) rebuild(v, slots);
  changed_ = changed_ || gone || slots.kept.size() != slots.place.size();
  slots_[v.id] = std::move(slots);
}

// --- carried values

/// The value of the source outside of `owner` that carried value k always has, if there is one.
Value Simplifier::shared_value(Value owner, int k) const {
  Op op = from[owner].op;
  if (op == Op::If) {
    Value then = yielded(from, owner, 0, k);
    return then == yielded(from, owner, 1, k) ? then : Value{};
  }
  if (op != Op::For && op != Op::While) return {};
  int body = from[owner].region_count - 1;
  bool unchanged = yielded(from, owner, body, k) == from.region(owner, body).params[leading_params(op) + k];
  return unchanged ? from.operand(owner, leading_operands(op) + k) : Value{};
}

Simplifier::Slots Simplifier::choose_slots(Value owner) const {
  Slots slots;
  for (int k = 0, n = slot_count(from, owner); k < n; ++k) {
    Value shared = shared_value(owner, k);
    bool kept = used_.slot(owner, k) && !shared.valid();
    slots.outside.push_back(shared.valid() ? map(shared) : Value{});
    slots.place.push_back(static_cast<int>(slots.kept.size()));
    if (kept) slots.kept.push_back(k);
  }
  return slots;
}

// --- writing what stays

void Simplifier::rebuild(Value owner, const Slots& slots) {
  const Node& node = from[owner];
  int leading = leading_operands(node.op);
  std::vector<Value> operands = map(from.operands(owner).first(leading));
  if (node.op != Op::If)
    for (int k : slots.kept) operands.push_back(map(from.operand(owner, leading + k)));
  Value copied = b.open(node.op, operands, node.imm, node.type, node.region_count);
  b.set_flags(copied, node.flags);
  set(owner, copied);
  for (int k = 0; k < node.region_count; ++k) rebuild_region(owner, k, copied, slots);
}

void Simplifier::rebuild_region(Value owner, int index, Value copied, const Slots& slots) {
  const Region& region = from.region(owner, index);
  int leading = leading_params(from[owner].op), count = slot_count(from, owner);
  std::vector<Value> params;
  std::vector<Type> types;
  for (int k = 0; k < static_cast<int>(region.params.size()); ++k) {
    Value p = region.params[k];
    int slot = k < leading ? -1 : (k - leading) % count;
    if (slot >= 0 && slots.outside[slot].valid()) set(p, slots.outside[slot]);
    if (slot >= 0 && (slots.outside[slot].valid() || !used_.slot(owner, slot))) continue;
    params.push_back(p);
    types.push_back(from.type(p));
  }
  b.begin_region(copied, index, types);
  for (size_t k = 0; k < params.size(); ++k) set(params[k], b.region_params()[k]);
  visit_body(from.region_of(owner, index));
  std::vector<Value> values;
  if (from[owner].op == Op::While && index == 0) values.push_back(map(yielded(from, owner, 0, 0)));
  else
    for (int k : slots.kept) values.push_back(map(yielded(from, owner, index, k)));
  b.yield(values);
  b.end_region();
}

// --- control that is decided

void Simplifier::inline_region(Value owner, int index, Slots& slots) {
  visit_body(from.region_of(owner, index));
  for (int k : slots.kept) slots.outside[k] = map(yielded(from, owner, index, k));
}

bool Simplifier::inline_if(Value owner, Slots& slots) {
  int64_t condition;
  if (!constant_int(b.function(), map(from.operand(owner, 0)), &condition)) return false;
  inline_region(owner, condition ? 0 : 1, slots);
  return true;
}

bool Simplifier::inline_for(Value owner, Slots& slots) {
  int64_t lo, hi, step;
  const Function& f = b.function();
  auto constant = [&](int k, int64_t* value) { return constant_int(f, map(from.operand(owner, k)), value); };
  if (is_unsigned_int(from.type(from.operand(owner, 0)).dtype)) return false;  // int64_t would not order u64
  if (!constant(0, &lo) || !constant(1, &hi)) return false;
  for (int k : slots.kept) slots.outside[k] = map(from.operand(owner, 3 + k));
  if (lo >= hi) return true;
  if (!constant(2, &step) || static_cast<uint64_t>(step) < static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo)) {
    for (int k : slots.kept) slots.outside[k] = {};
    return false;
  }
  const Region& region = from.region(owner, 0);
  set(region.params[0], map(from.operand(owner, 0)));
  for (size_t k = 0; k + 1 < region.params.size(); ++k)
    if (slots.outside[k].valid()) set(region.params[k + 1], slots.outside[k]);
  inline_region(owner, 0, slots);
  return true;
}

}  // namespace

Function simplify(const Function& program) {
  Function result = program;
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    Simplifier simplifier(result);
    Function next = simplifier.run();
    changed = simplifier.changed() || next.size() != result.size();
    result = std::move(next);
  }
  return result;
}

}  // namespace strider::pass
