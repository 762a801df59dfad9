// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/rare.h"

#include <algorithm>

namespace strider::codegen {

using ir::Op;
using ir::Value;

namespace {

class Planner {
 public:
  explicit Planner(const ir::Function& f) : f_(f), users_(f.size()), region_(f.size(), kNowhere), place_(f.size(), 0) {
    for (ir::RegionId r = 0; r < f.region_count(); ++r) note_region(r);
    plan_.code_of.assign(f.size(), -1);
    plan_.is_placed.assign(f.size(), false);
  }

  RarePlan run() && {
    for (ir::RegionId r = 0; r < f_.region_count(); ++r)
      for (Value v : f_.region(r).body)
        if (is_choice(v) && !plan_.is_placed[v.id]) plan_code(v);
    return std::move(plan_);
  }

 private:
  static constexpr ir::RegionId kNowhere = UINT32_MAX;

  void note_region(ir::RegionId r) {
    const std::vector<Value>& body = f_.region(r).body;
    for (uint32_t k = 0; k < body.size(); ++k) {
      region_[body[k].id] = r;
      place_[body[k].id] = k;
      for (Value operand : f_.operands(body[k])) users_[operand.id].push_back(body[k]);
    }
  }

  bool is_choice(Value v) const { return f_[v].op == Op::Where && (f_[v].flags & ir::kLikely); }
  bool is_later(Value v, Value first) const { return region_[v.id] == region_[first.id] && place_[v.id] > place_[first.id]; }

  /// The first choice and those that can be made with it.
  void plan_code(Value first) {
    RareCode code{f_.operand(first, 0), {first}, {}, {}};
    const std::vector<Value>& body = f_.region(region_[first.id]).body;
    for (size_t k = place_[first.id] + 1; k < body.size(); ++k) {
      bool joins = is_choice(body[k]) && f_.operand(body[k], 0) == code.condition && !plan_.is_placed[body[k].id];
      std::vector<Value> before = code.before;
      if (!joins || !can_hoist(f_.operand(body[k], 1), first, &before)) continue;
      code.before = std::move(before);
      code.choices.push_back(body[k]);
    }
    find_slow(first, &code);
    for (Value v : code.slow)
      for (Value operand : f_.operands(v))
        if (!contains(code.slow, operand) && !can_hoist(operand, first, &code.before)) return;
    for (Value choice : code.choices)
      if (Value slow = f_.operand(choice, 2); !contains(code.slow, slow) && !can_hoist(slow, first, &code.before)) return;
    if (code.slow.empty()) return;
    keep(first, std::move(code));
  }

  static bool contains(const std::vector<Value>& list, Value v) { return std::find(list.begin(), list.end(), v) != list.end(); }

  /// Whether `v` can be computed before `first`; adds what must be computed for it. Nothing that depends on a choice can.
  bool can_hoist(Value v, Value first, std::vector<Value>* before) const {
    if (v == first) return false;
    if (!is_later(v, first) || contains(*before, v)) return true;
    if (!is_pure(f_[v].op) || f_[v].op == Op::Result || is_choice(v) || plan_.is_placed[v.id]) return false;
    for (Value operand : f_.operands(v))
      if (!can_hoist(operand, first, before)) return false;
    before->push_back(v);
    return true;
  }

  /// Pure values of the region that only slow ones use, or choices as their third operand: users stand later.
  void find_slow(Value first, RareCode* code) const {
    std::vector<bool> slow(f_.size());
    const std::vector<Value>& body = f_.region(region_[first.id]).body;
    auto needs = [&](Value user, Value v) {
      if (slow[user.id]) return true;
      return contains(code->choices, user) && f_.operand(user, 0) != v && f_.operand(user, 1) != v;
    };
    for (size_t k = body.size(); k-- > 0;) {
      Value v = body[k];
      const auto& users = users_[v.id];
      if (!is_pure(f_[v].op) || f_[v].op == Op::Result || is_choice(v) || users.empty() || plan_.is_placed[v.id]) continue;
      slow[v.id] = std::all_of(users.begin(), users.end(), [&](Value user) { return needs(user, v); });
      if (slow[v.id]) code->slow.push_back(v);
    }
    std::reverse(code->slow.begin(), code->slow.end());
  }

  void keep(Value first, RareCode code) {
    for (const auto* list : {&code.choices, &code.slow, &code.before})
      for (Value v : *list) plan_.is_placed[v.id] = true;
    plan_.code_of[first.id] = static_cast<int>(plan_.codes.size());
    plan_.codes.push_back(std::move(code));
  }

  const ir::Function& f_;
  std::vector<std::vector<Value>> users_;
  std::vector<ir::RegionId> region_;
  std::vector<uint32_t> place_;
  RarePlan plan_;
};

}  // namespace

RarePlan plan_rare_code(const ir::Function& f) { return Planner(f).run(); }

}  // namespace strider::codegen
