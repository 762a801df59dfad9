// SPDX-License-Identifier: Apache-2.0
#include "pass/used.h"

namespace strider::pass {

using namespace ir;

namespace {

bool has_effect(Op op) { return has(op, Writes) || op == Op::Phase || op == Op::Barrier || op == Op::Assume; }

/// Regions whose yields are the carried values: all but the condition of a while.
int first_carrying_region(Op op) { return op == Op::While ? 1 : 0; }

}  // namespace

int leading_operands(Op op) { return op == Op::For ? 3 : op == Op::If ? 1 : 0; }
int leading_params(Op op) { return op == Op::For ? 1 : 0; }

Value yielded(const Function& f, Value owner, int index, int k) { return f.operand(f.region(owner, index).body.back(), k); }

int slot_count(const Function& f, Value owner) {
  Op op = f[owner].op;
  if (op == Op::Nest) return 0;
  if (op == Op::If) return f[f.region(owner, 0).body.back()].operand_count;
  return f[owner].operand_count - leading_operands(op);
}

Used::Used(const Function& f) : f_(f), nodes_(f.size()), first_slot_(f.size()), parent_(f.size()) {
  enter(0, {});
  while (!work_.empty()) {
    Value v = work_.back();
    work_.pop_back();
    follow(v);
  }
}

void Used::enter(RegionId region, Value owner) {
  for (Value p : f_.region(region).params) parent_[p.id] = owner;
  for (Value v : f_.region(region).body) {
    parent_[v.id] = owner;
    if (has_effect(f_[v].op)) mark(v);
    if (f_[v].region_count == 0) continue;
    first_slot_[v.id] = static_cast<uint32_t>(slots_.size());
    slots_.resize(slots_.size() + slot_count(f_, v));
    for (int k = 0; k < f_[v].region_count; ++k) enter(f_.region_of(v, k), v);
  }
}

void Used::mark(Value v) {
  if (nodes_[v.id]) return;
  nodes_[v.id] = true;
  work_.push_back(v);
}

void Used::mark_slot(Value owner, int k) {
  auto slot = slots_[first_slot_[owner.id] + k];
  if (slot) return;
  slot = true;
  mark(owner);
  Op op = f_[owner].op;
  if (op != Op::If) mark(f_.operand(owner, leading_operands(op) + k));
  for (int r = first_carrying_region(op); r < f_[owner].region_count; ++r) mark(yielded(f_, owner, r, k));
}

void Used::follow(Value v) {
  Value owner = parent_[v.id];
  if (owner.valid()) mark(owner);
  Op op = f_[v].op;
  if (op == Op::Param) {
    if (owner.valid()) follow_param(v, owner);
  } else if (op == Op::Result) {
    mark_slot(f_.operand(v, 0), static_cast<int>(f_[v].imm));
  } else if (f_[v].region_count > 0) {
    follow_structure(v);
  } else {
    for (Value operand : f_.operands(v)) mark(operand);
  }
}

void Used::follow_structure(Value owner) {
  Op op = f_[owner].op;
  for (int k = 0; k < leading_operands(op); ++k) mark(f_.operand(owner, k));
  if (op == Op::While) mark(yielded(f_, owner, 0, 0));
}

void Used::follow_param(Value v, Value owner) {
  int k = static_cast<int>(f_[v].imm) - leading_params(f_[owner].op);
  if (k >= 0) mark_slot(owner, k % slot_count(f_, owner));
}

}  // namespace strider::pass
