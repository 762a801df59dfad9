// SPDX-License-Identifier: Apache-2.0
// Slots that no lane needs: a nest whose stores are all masked by `index < bound` ends its loops where that is false in
// every lane that follows. A short tensor then costs what its elements cost, not what a whole block does.
#include <algorithm>

#include "ir/fold.h"
#include "pass/index_map.h"
#include "pass/lanes/program.h"

namespace strider::pass {

using namespace ir;

namespace {

bool is_comparison(Op op) { return op == Op::Lt || op == Op::Le || op == Op::Gt || op == Op::Ge; }

/// A comparison that must hold for an access, and the axes of the index space in the order of its tile's axes.
struct Condition {
  Value mask;
  std::vector<int> axes;  // of the space; -1: an axis of size 1
  bool operator==(const Condition&) const = default;
};

/// The comparisons that a mask is a conjunction of.
void collect(const Function& f, Value v, std::vector<int> axes, std::vector<Condition>& found) {
  const Node& n = f[v];
  if (n.type.is_scalar()) return;
  if (is_comparison(n.op)) return found.push_back({v, std::move(axes)});
  if (n.op == Op::And)
    for (Value o : f.operands(v)) collect(f, o, axes, found);
  if (n.op == Op::ExpandDims) {
    axes.erase(axes.begin() + n.imm);
    collect(f, f.operand(v, 0), std::move(axes), found);
  } else if (n.op == Op::Broadcast && f.type(f.operand(v, 0)).shape.rank() == n.type.shape.rank()) {
    const Shape& inner = f.type(f.operand(v, 0)).shape;
    for (int k = 0; k < inner.rank(); ++k)
      if (inner[k] == 1) axes[static_cast<size_t>(k)] = -1;
    collect(f, f.operand(v, 0), std::move(axes), found);
  }
}

std::vector<Condition> conditions_of(const Function& f, Value access) {
  std::vector<Condition> found;
  size_t at = f[access].op == Op::Load ? 1 : 2;
  if (f.operands(access).size() <= at) return found;
  Value mask = f.operand(access, static_cast<int>(at));
  if (is_large(f, mask)) return found;
  std::vector<int> axes;
  int next = 0;
  for (int64_t size : f.type(mask).shape.dims()) axes.push_back(size == 1 ? -1 : next++);
  collect(f, mask, std::move(axes), found);
  return found;
}

/// True if all that the nest does is in its masked stores and atomics: nothing it computes is used after it.
bool only_writes(const Function& f, Value nest) {
  for (Value s : f.region(nest, 0).body) {
    const Node& n = f[s];
    if (n.op == Op::Reduce || n.op == Op::Scan || (n.flags & (kKeepPrivate | kKeepShared))) return false;
  }
  return true;
}

/// The one axis of the space along which a comparison's index moves, or -1.
int moving_axis(const Function& f, const Condition& c) {
  int moving = -1;
  const Shape& shape = f.type(c.mask).shape;
  for (int k = 0; k < shape.rank(); ++k) {
    int axis = c.axes[static_cast<size_t>(k)];
    if (axis < 0 || shape[k] == 1) continue;
    if (moving >= 0) return -1;
    moving = axis;
  }
  return moving;
}

/// How the lanes of an index follow each other: by a constant above zero from each to the next; else nothing. Casts are left
/// out: inside one dtype an index that wraps is known by a last lane below the first.
std::optional<int64_t> lane_step(const Function& f, Value v) {
  const Node& n = f[v];
  if (n.type.is_scalar() || n.op == Op::Constant || n.type.shape.elements() == 1) return 0;  // one lane, repeated
  if (n.op == Op::Arange) return 1;
  auto of = [&](int k) { return lane_step(f, f.operand(v, k)); };
  if (has(n.op, Shapes) && n.op != Op::Reshape && n.op != Op::Trans && n.op != Op::Gather) return of(0);
  if (n.op != Op::Add && n.op != Op::Sub && n.op != Op::Mul) return std::nullopt;
  auto a = of(0), b = of(1);
  if (!a || !b) return std::nullopt;
  if (n.op == Op::Add) return *a + *b;
  if (n.op == Op::Sub) return *b == 0 ? a : std::nullopt;
  int64_t factor;
  for (int k = 0; k < 2; ++k)
    if (constant_int(f, f.operand(v, k), &factor) && factor > 0 && factor < kMaxElements) return (k == 0 ? *b : *a) * factor;
  return std::nullopt;
}

}  // namespace

/// A scalar of the scheduled program, if it has been written; or an invalid value.
ir::Value LaneProgram::known_scalar(Value v) {
  while (has(f_[v].op, Shapes)) v = f_.operand(v, 0);
  if (f_[v].op == Op::Constant) return b_.constant_bits(f_.type(v).with_shape({}), static_cast<uint64_t>(f_[v].imm));
  return f_.type(v).is_scalar() ? map_[v.id] : Value{};
}

/// What an index is in its first lane.
std::optional<ir::Value> LaneProgram::first_index(Value v) {
  const Node& n = f_[v];
  if (n.op == Op::Arange) return b_.constant_int(n.type.with_shape({}), n.imm);
  if (n.type.is_scalar() || n.op == Op::Constant) {
    Value known = known_scalar(v);
    return known.valid() ? std::optional(known) : std::nullopt;
  }
  if (n.op == Op::Gather) return std::nullopt;
  if (has(n.op, Shapes)) return first_index(f_.operand(v, 0));
  if (n.op != Op::Add && n.op != Op::Sub && n.op != Op::Mul) return std::nullopt;
  auto a = first_index(f_.operand(v, 0)), b = first_index(f_.operand(v, 1));
  return a && b ? std::optional(b_.binary(n.op, *a, *b)) : std::nullopt;
}

/// How many slots along `axis` the comparison needs: those after it are false in all lanes.
std::optional<ir::Value> LaneProgram::slots_below(Value mask, int axis) {
  const Layout& layout = pass_->layout;
  Op op = f_[mask].op;
  bool swapped = op == Op::Gt || op == Op::Ge, inclusive = op == Op::Le || op == Op::Ge;
  Value index = f_.operand(mask, swapped ? 1 : 0);
  DType dtype = f_.type(index).dtype;
  if (is_large(f_, index) || f_.type(index).is_pointer() || !is_signed_int(dtype) || bits_of(dtype) < 32) return std::nullopt;
  auto step = lane_step(f_, index);
  Value bound = known_scalar(f_.operand(mask, swapped ? 0 : 1));
  constexpr int64_t kMostRise = 1 << 30;  // more than half of the range of i32 could wrap unseen
  if (!step || *step < 1 || *step >= kMaxElements || *step * layout.space[axis] > kMostRise) return std::nullopt;
  if (!bound.valid()) return std::nullopt;
  auto first = first_index(index);
  if (!first) return std::nullopt;
  auto number = [&](int64_t n) { return b_.constant_int(Type::scalar(dtype), n); };
  auto before = [&](Value a, Value b) { return b_.binary(inclusive ? Op::Le : Op::Lt, a, b); };
  Value last = b_.add(*first, number(*step * (layout.space[axis] - 1)));
  Value distance = b_.sub(b_.sub(bound, *first), number(inclusive ? 0 : 1));  // counts where the bound lies between the two
  Value some = b_.add(b_.binary(Op::Div, distance, number(*step * layout.unit[axis])), number(1));
  Value needed = b_.where(before(*first, bound), some, number(0));
  Value all = b_.binary(Op::Or, before(last, bound), b_.binary(Op::Lt, last, *first));  // or the index wraps
  return b_.cast(b_.where(all, number(layout.slots[axis]), needed), DType::I32);
}

/// For each axis of the current layout, the slots that some access of the nest may need; invalid: all.
LaneProgram::Values LaneProgram::slot_limits(Value nest) {
  const Layout& layout = pass_->layout;
  Values limits(static_cast<size_t>(layout.rank()));
  if (threads_ > 1 || layout.slot_count() <= target_.unroll_slots || !only_writes(f_, nest)) return limits;
  std::vector<Condition> common;
  bool is_first = true;
  for (Value s : f_.region(nest, 0).body) {
    if (!has(f_[s].op, Writes)) continue;
    std::vector<Condition> own = conditions_of(f_, s);
    if (is_first) common = own;
    std::erase_if(common, [&](const Condition& c) { return std::find(own.begin(), own.end(), c) == own.end(); });
    is_first = false;
  }
  for (const Condition& c : common) {
    int axis = moving_axis(f_, c);
    if (axis < 0 || layout.slots[axis] == 1) continue;
    auto limit = slots_below(c.mask, axis);
    if (!limit) continue;
    Value& least = limits[static_cast<size_t>(axis)];
    least = least.valid() ? b_.binary(Op::Minimum, least, *limit) : *limit;
  }
  return limits;
}

}  // namespace strider::pass
