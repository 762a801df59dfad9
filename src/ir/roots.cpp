// SPDX-License-Identifier: Apache-2.0
// In the whole program, a value's origin starts unknown, becomes a root, and may become "several"; joins repeat until nothing changes, which
// takes a round more than loops are deep.
#include "ir/roots.h"

#include <algorithm>
#include <utility>

namespace strider::ir {

namespace {

constexpr Value kUnknown{};
constexpr Value kSeveral{UINT32_MAX - 1};

class Roots {
 public:
  explicit Roots(const Function& f) : f_(f), roots_(f.size(), kUnknown) {
    for (Value p : f.params()) roots_[p.id] = f.type(p).is_pointer() ? p : kUnknown;
  }

  std::vector<Value> solve() {
    do {
      changed_ = false;
      visit_region(0);
    } while (changed_);
    for (Value& r : roots_)
      if (r == kSeveral) r = kUnknown;
    return std::move(roots_);
  }

 private:
  void join(Value into, Value root) {
    Value& known = roots_[into.id];
    if (!f_.type(into).is_pointer() || root == kUnknown || known == root || known == kSeveral) return;
    known = known == kUnknown ? root : kSeveral;
    changed_ = true;
  }
  void join_value(Value into, Value from) { join(into, roots_[from.id]); }

  void visit_region(RegionId id) {
    for (Value v : f_.region(id).body) visit(v);
  }

  void visit(Value v) {
    const Op op = f_[v].op;
    if (f_[v].region_count > 0) return visit_owner(v);
    if (op == Op::Result) return visit_result(v);
    if (op == Op::Alloc) return join(v, v);
    if (op == Op::Constant) return join(v, kSeveral);
    for (Value operand : f_.operands(v)) join_value(v, operand);
  }

  std::span<const Value> yields(Value owner, int region) const {
    const Region& r = f_.region(owner, region);
    if (r.body.empty() || f_[r.body.back()].op != Op::Yield) return {};
    return f_.operands(r.body.back());
  }

  /// Parameters of loops join what goes in and what comes round; those of a combine region every element.
  void visit_owner(Value v) {
    const Op op = f_[v].op;
    const bool folds = op == Op::Reduce || op == Op::Scan;
    const int last = f_[v].region_count - 1;
    const size_t first = op == Op::For ? 1 : 0;
    std::span<const Value> inputs = f_.operands(v).subspan(op == Op::For ? 3 : 0);
    for (int region = 0; region <= last; ++region) {
      const auto& params = f_.region(v, region).params;
      for (size_t k = first; k < params.size(); ++k) {
        const size_t carried = folds ? k % inputs.size() : k - first;
        join_value(params[k], inputs[carried]);
        join_value(params[k], yields(v, last)[carried]);
      }
      visit_region(f_.region_of(v, region));
    }
  }

  void visit_result(Value v) {
    const Value owner = f_.operand(v, 0);
    const size_t k = static_cast<size_t>(f_[v].imm);
    const Op op = f_[owner].op;
    for (int region = op == Op::While ? 1 : 0; region < f_[owner].region_count; ++region) join_value(v, yields(owner, region)[k]);
    if (op != Op::If) join_value(v, f_.operands(owner)[k + (op == Op::For ? 3 : 0)]);
  }

  const Function& f_;
  std::vector<Value> roots_;
  bool changed_ = false;
};

}  // namespace

Value root_of(const Function& f, Value pointer) {
  auto is_step = [](Op op) { return op == Op::PtrAdd || op == Op::Extract || op == Op::Cast || op == Op::Hint || has(op, Shapes); };
  while (is_step(f[pointer].op)) pointer = f.operand(pointer, 0);
  const auto params = f.params();
  const bool is_root = f[pointer].op == Op::Alloc || std::find(params.begin(), params.end(), pointer) != params.end();
  return is_root ? pointer : Value{};
}

std::vector<Value> pointer_roots(const Function& f) { return Roots(f).solve(); }

}  // namespace strider::ir
