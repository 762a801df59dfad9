// SPDX-License-Identifier: Apache-2.0
// Values in the lanes pass: what a tile holds at given indices.
#include <algorithm>

#include "base/error.h"
#include "pass/index_map.h"
#include "pass/lanes/program.h"

namespace strider::pass {

using namespace ir;

/// The index of each axis of `shape`, from those of its axes of size above 1.
LaneProgram::Index LaneProgram::expand(const Shape& shape, const Index& squeezed) {
  LaneMath m = math(pass_->layout);
  Index index;
  size_t next = 0;
  for (int64_t d : shape.dims()) index.push_back(d == 1 ? m.constant(DType::I32, 0) : squeezed[next++]);
  return index;
}

LaneProgram::Index LaneProgram::squeeze_index(const Shape& shape, const Index& index) const {
  Index squeezed;
  for (int k = 0; k < shape.rank(); ++k)
    if (shape[k] != 1) squeezed.push_back(index[k]);
  return squeezed;
}

/// The value of `v`, a tile over the current index space or a scalar, in the current slot.
LaneValue LaneProgram::eval_here(Value v) {
  bool is_known = !(f_[v].flags & kInline) || pass_->values.contains(v.id);
  if (!is_known && is_large(f_, v)) eval_operands(v);
  return eval(v, expand(f_.type(v).shape, pass_->slot->index), true);
}

/// Evaluates what a large expression reads in the current lanes, operands first, so that no evaluation goes deep.
void LaneProgram::eval_operands(Value large) {
  std::vector<Value> open{large}, needed;
  std::unordered_set<uint32_t> seen;
  while (!open.empty()) {
    Value v = open.back();
    open.pop_back();
    const Node& n = f_[v];
    if (n.type.is_scalar() || !(n.flags & kInline) || pass_->values.contains(v.id) || !seen.insert(v.id).second) continue;
    needed.push_back(v);
    if (n.op == Op::Gather || (has(n.op, Shapes) && !keeps_lanes(f_, v))) continue;
    auto operands = f_.operands(v);
    open.insert(open.end(), operands.begin(), operands.end());
  }
  std::sort(needed.begin(), needed.end(), [](Value a, Value b) { return a.id < b.id; });
  for (Value v : needed) eval(v, expand(f_.type(v).shape, pass_->slot->index), true);
}

/// Indices with equal keys are the same.
static std::vector<int64_t> index_key(const std::vector<LaneValue>& index) {
  std::vector<int64_t> key;
  for (const LaneValue& x : index) {
    key.push_back(x.base.id);
    key.push_back(x.spread.id);
    key.push_back(x.is_vector ? -1 : static_cast<int64_t>(x.offsets.size()));
    key.insert(key.end(), x.offsets.begin(), x.offsets.end());
  }
  return key;
}

LaneValue LaneProgram::eval(Value v, const Index& index, bool same_lane) {
  const Node& n = f_[v];
  if (n.type.is_scalar()) return math(pass_->layout).uniform(map_[v.id]);
  if (same_lane)
    if (auto it = pass_->values.find(v.id); it != pass_->values.end()) return it->second;
  bool is_shared = !same_lane && (n.flags & kInline) && is_pointwise(n.op);  // many may ask for it
  std::pair<uint32_t, std::vector<int64_t>> key;
  if (is_shared) {
    key = {v.id, index_key(index)};
    if (auto it = pass_->elsewhere.find(key); it != pass_->elsewhere.end()) return it->second;
  }
  LaneValue result;
  if (n.flags & kInline) {
    result = eval_inline(v, index, same_lane);
  } else {
    auto it = storage_.find(v.id);
    STRIDER_CHECK(it != storage_.end());
    const Storage& s = it->second;
    result = same_lane && s.own.valid() ? read_own(s, pass_->slot->number) : read_elsewhere(s, squeeze_index(n.type.shape, index));
  }
  if (same_lane) pass_->values[v.id] = result;
  if (is_shared) pass_->elsewhere[std::move(key)] = result;
  return result;
}

LaneValue LaneProgram::eval_inline(Value v, const Index& index, bool same_lane) {
  const Node& n = f_[v];
  LaneMath m = math(pass_->layout);
  if (n.op == Op::Constant) return m.uniform(b_.constant_bits(n.type.with_shape({}), static_cast<uint64_t>(n.imm)));
  if (n.op == Op::Arange) return m.add(m.cast(index[0], n.type.dtype), m.constant(n.type.dtype, n.imm));
  if (has(n.op, Shapes)) return eval_shape(v, index, same_lane);
  bool widens = n.op == Op::Cast && is_int(n.type.dtype) && is_int(f_.type(f_.operand(v, 0)).dtype);
  if (widens) return eval_wide(f_.operand(v, 0), n.type.dtype, index, same_lane);
  std::vector<LaneValue> operands;
  for (Value o : f_.operands(v)) operands.push_back(eval(o, index, same_lane));
  if (n.op == Op::PtrAdd) operands[1] = eval_wide(f_.operand(v, 1), DType::I64, index, same_lane);
  return eval_pointwise(v, operands);
}

/// `v` as an integer of dtype `to`. A sum or product that promises not to overflow is widened term by term, so that the
/// structure of an address survives; any other value is computed first and widened then.
LaneValue LaneProgram::eval_wide(Value v, DType to, const Index& index, bool same_lane) {
  const Node& n = f_[v];
  LaneMath m = math(pass_->layout);
  bool is_wider = bits_of(to) > bits_of(n.type.dtype);
  bool is_sum = n.op == Op::Add || n.op == Op::Sub || n.op == Op::Mul;
  if (!n.type.is_scalar() && is_wider && is_sum && (n.flags & kNoWrap) && (n.flags & kInline)) {
    LaneValue a = eval_wide(f_.operand(v, 0), to, index, same_lane);
    return m.apply(n.op, {a, eval_wide(f_.operand(v, 1), to, index, same_lane)});
  }
  if (!n.type.is_scalar() && has(n.op, Shapes) && !f_.type(f_.operand(v, 0)).is_scalar()) {
    Index inner = inner_index(v, index, same_lane);
    return eval_wide(f_.operand(v, 0), to, inner, same_lane && keeps_lanes(f_, v));
  }
  return m.cast(eval(v, index, same_lane), to);
}

LaneValue LaneProgram::eval_shape(Value v, const Index& index, bool same_lane) {
  return eval(f_.operand(v, 0), inner_index(v, index, same_lane), same_lane && keeps_lanes(f_, v));
}

/// Which element of its operand a shape op shows at `index`, a lane of the current slot if `same_lane`.
LaneProgram::Index LaneProgram::inner_index(Value v, const Index& index, bool same_lane) {
  const Node& n = f_[v];
  const Shape& from = f_.type(f_.operand(v, 0)).shape;
  Index inner(from.rank());
  switch (n.op) {
    case Op::Broadcast:
      for (int k = 0; k < from.rank(); ++k) inner[k] = from[k] == 1 ? math(pass_->layout).constant(DType::I32, 0) : index[k];
      return inner;
    case Op::ExpandDims:
      inner = index;
      inner.erase(inner.begin() + n.imm);
      return inner;
    case Op::Trans:
      for (int k = 0; k < from.rank(); ++k) inner[(n.imm >> (4 * k)) & 15] = index[k];
      return inner;
    case Op::Reshape: return reshape_index(from, n.type.shape, index);
    case Op::Gather:
      inner = index;
      inner[n.imm] = eval(f_.operand(v, 1), index, same_lane);
      return inner;
    default: internal_error("no index map for {}", name_of(n.op));
  }
}

/// The index into `from` of the element that has `index` in `to`, both counted in row-major order.
LaneProgram::Index LaneProgram::reshape_index(const Shape& from, const Shape& to, const Index& index) {
  if (squeeze(from) == squeeze(to)) return expand(from, squeeze_index(to, index));
  LaneMath m = math(pass_->layout);
  LaneValue flat = m.constant(DType::I32, 0);
  for (int k = 0; k < to.rank(); ++k) flat = m.add(m.mul(flat, to[k]), index[k]);
  Index result(from.rank());
  for (int k = from.rank() - 1; k >= 0; --k) {
    LaneValue size = m.constant(DType::I32, from[k]);
    result[k] = k == 0 ? flat : m.apply(Op::Rem, {flat, size});
    flat = m.apply(Op::Div, {flat, size});
  }
  return result;
}

LaneValue LaneProgram::eval_pointwise(Value v, std::span<const LaneValue> operands) {
  const Node& n = f_[v];
  LaneMath m = math(pass_->layout);
  bool divides = (n.op == Op::Div || n.op == Op::Rem) && is_signed_int(n.type.dtype);
  std::vector<int64_t> known;
  if (divides && operands[0].is_affine() && !m.constants(operands[0], &known) && !never_negative_[f_.operand(v, 0).id]) {
    // The quotient is rounded towards zero, so below zero it is not the same in the lanes of an aligned block.
    LaneValue apart[] = {m.vector(m.materialize(operands[0])), operands[1]};
    return m.apply(n.op, n.type.dtype, apart);
  }
  if (n.op == Op::Call) return m.call(n.imm, n.type.dtype, operands);
  if (n.op == Op::Cast && !n.type.is_pointer()) return m.cast(operands[0], n.type.dtype);
  LaneValue result = m.apply(n.op, n.type.dtype, operands);
  if ((n.flags & kLikely) && b_.function()[result.base].op == Op::Where) b_.set_flags(result.base, kLikely);
  return result;
}

/// A product of tiles in the current lanes: a loop over what is summed, with the sums in a register.
LaneValue LaneProgram::eval_dot(Value v) {
  LaneMath m = math(pass_->layout);
  Value a = f_.operand(v, 1), b = f_.operand(v, 2);
  Index index = expand(f_.type(v).shape, pass_->slot->index);
  auto before = pass_->elsewhere;  // what the loop evaluates is not visible after it
  Values sums{m.materialize(eval_here(f_.operand(v, 0)))};
  sums = b_.for_loop(b_.i32(0), b_.i32(f_.type(a).shape[1]), b_.i32(1), sums, [&](std::span<const Value> p) {
    LaneValue k = m.uniform(p[0]), sum = m.vector(p[1]);
    DType dtype = f_.type(v).dtype;
    LaneValue x = m.cast(eval(a, {index[0], k}, false), dtype), y = m.cast(eval(b, {k, index[1]}, false), dtype);
    return Values{m.materialize(is_float(dtype) ? m.apply(Op::Fma, {x, y, sum}) : m.add(sum, m.apply(Op::Mul, {x, y})))};
  });
  pass_->elsewhere = std::move(before);
  return m.vector(sums[0]);
}

/// What the combine function of a reduction or scan gives for operands in the current lanes.
std::vector<LaneValue> LaneProgram::combine(Value owner, std::span<const LaneValue> operands) {
  const Region& region = f_.region(owner, 0);
  LaneMath m = math(pass_->layout);
  std::unordered_map<uint32_t, LaneValue> values;
  for (size_t k = 0; k < region.params.size(); ++k) values[region.params[k].id] = operands[k];
  auto of = [&](Value o) {
    auto it = values.find(o.id);
    return it != values.end() ? it->second : m.uniform(map_[o.id]);
  };
  for (Value v : region.body) {
    const Node& n = f_[v];
    std::vector<LaneValue> arguments;
    for (Value o : f_.operands(v)) arguments.push_back(of(o));
    if (n.op == Op::Yield) return arguments;
    values[v.id] = n.op == Op::Constant ? m.uniform(b_.constant_bits(n.type, static_cast<uint64_t>(n.imm))) : eval_pointwise(v, arguments);
  }
  internal_error("a combine function does not end in yield");
}

}  // namespace strider::pass
