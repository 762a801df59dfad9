// SPDX-License-Identifier: Apache-2.0
#include "pass/index_map.h"

#include <algorithm>
#include <cstdlib>

#include "ir/fold.h"

namespace strider::pass {

using namespace ir;

namespace {
constexpr int kMostInlineCost = 64;
constexpr int kMostCost = 1 << 20;  // of addresses, which are inlined at any cost
constexpr int kDivisionCost = 8;
constexpr int kMostTree = 256;
constexpr int64_t kMostStep = int64_t{1} << 31;
}  // namespace

Shape squeeze(const Shape& shape) {
  Shape result;
  for (int64_t d : shape.dims())
    if (d != 1) result.insert(result.rank(), d);
  return result;
}

bool keeps_lanes(const Function& f, Value v) {
  const Shape& to = f.type(v).shape;
  const Shape& source = f.type(f.operand(v, 0)).shape;
  if (f[v].op == Op::Gather || squeeze(to) != squeeze(source)) return false;
  if (f[v].op != Op::Trans) return true;
  int last = -1;  // the axes of size above 1 must stay in order
  for (int k = 0; k < to.rank(); ++k) {
    int axis = static_cast<int>(f[v].imm >> (4 * k)) & 15;
    if (to[k] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

namespace {

/// Counts up to `most`.
int tree_size(const Function& f, Value v, int most) {
  int size = 1;
  for (Value o : f.operands(v))
    if (size <= most) size += tree_size(f, o, most - size);
  return size;
}

}  // namespace

bool is_large(const Function& f, Value v) { return tree_size(f, v, kMostTree) > kMostTree; }

std::optional<int64_t> step_along(const Function& f, Value v, int axis) {
  const Node& n = f[v];
  if (n.type.is_scalar() || n.op == Op::Constant) return 0;
  auto of = [&](int k, int a) { return step_along(f, f.operand(v, k), a); };
  switch (n.op) {
    case Op::Arange: return 1;
    case Op::Cast: return is_int(n.type.dtype) && is_int(f.type(f.operand(v, 0)).dtype) ? of(0, axis) : std::nullopt;
    case Op::PtrAdd:
    case Op::Add:
    case Op::Sub: {
      auto a = of(0, axis), c = of(1, axis);
      if (!a || !c) return std::nullopt;
      return n.op == Op::Sub ? *a - *c : *a + *c;
    }
    case Op::Mul: {
      std::optional<int64_t> steps[] = {of(0, axis), of(1, axis)};
      if (steps[0] == 0 && steps[1] == 0) return 0;
      for (int k = 0; k < 2; ++k)
        if (int64_t factor; constant_int(f, f.operand(v, k), &factor) && std::abs(factor) < kMostStep && steps[1 - k])
          if (int64_t step = *steps[1 - k]; std::abs(step) < kMostStep) return step * factor;
      return std::nullopt;
    }
    case Op::Broadcast: {
      const Type& inner = f.type(f.operand(v, 0));
      return inner.is_scalar() || inner.shape[axis] == 1 ? 0 : of(0, axis);
    }
    case Op::ExpandDims: return axis == n.imm ? 0 : of(0, axis > n.imm ? axis - 1 : axis);
    case Op::Trans: return of(0, static_cast<int>(n.imm >> (4 * axis)) & 15);
    default: return std::nullopt;
  }
}

namespace {

/// The same of one value, where that of its operands is known.
bool is_never_negative(const Function& f, Value v, const std::vector<bool>& known) {
  const Node& n = f[v];
  if (n.type.is_void || n.type.is_pointer()) return false;
  if (is_unsigned_int(n.type.dtype)) return true;
  if (int64_t c; constant_int(f, v, &c)) return c >= 0;
  auto of = [&](int k) { return known[f.operand(v, k).id]; };
  switch (n.op) {
    case Op::ProgramId:
    case Op::NumPrograms: return true;
    case Op::Arange: return n.imm >= 0;
    case Op::Broadcast:
    case Op::ExpandDims:
    case Op::Reshape:
    case Op::Trans:
    case Op::Rem: return of(0);
    case Op::Div:
    case Op::Minimum: return of(0) && of(1);
    case Op::And:
    case Op::Maximum: return of(0) || of(1);
    case Op::Add:
    case Op::Mul: return (n.flags & kNoWrap) && of(0) && of(1);
    case Op::Cast: {
      DType source = f.type(f.operand(v, 0)).dtype;
      bool is_held = is_int(source) && bits_of(source) - is_signed_int(source) < bits_of(n.type.dtype);
      return is_held && of(0);
    }
    default: return false;
  }
}

}  // namespace

std::vector<bool> never_negative(const Function& f) {
  std::vector<bool> known(f.size());
  for (uint32_t id = 0; id < f.size(); ++id) known[id] = is_never_negative(f, Value{id}, known);
  return known;
}

namespace {

int own_cost(Op op) { return op == Op::Call ? kMostInlineCost : op == Op::Div || op == Op::Rem ? kDivisionCost : 1; }

bool is_index_type(const Type& t) { return t.is_pointer() || !is_float(t.dtype); }

Inlining classify(const Function& f, Value v, const std::vector<Inlining>& known) {
  const Node& n = f[v];
  if (n.type.is_void || n.type.is_scalar()) return {.index_only = true};
  if (n.op == Op::Constant || n.op == Op::Arange) return {.inlined = true, .index_only = true, .cost = 1};
  if (!is_pointwise(n.op) && !has(n.op, Shapes)) return {};
  Inlining result{.index_only = is_index_type(n.type) || has(n.op, Shapes), .cost = own_cost(n.op)};
  for (Value o : f.operands(v)) {
    result.index_only &= known[o.id].index_only && is_index_type(f.type(o));
    result.cost = std::min(kMostCost, result.cost + known[o.id].cost);
  }
  bool moves_lanes_only = has(n.op, Shapes) || n.type.is_pointer();
  result.inlined = moves_lanes_only || (result.index_only && result.cost <= kMostInlineCost);
  return result.inlined ? result : Inlining{};
}

}  // namespace

std::vector<Inlining> classify(const Function& f) {
  std::vector<Inlining> result(f.size());
  for (uint32_t id = 0; id < f.size(); ++id) result[id] = classify(f, Value{id}, result);
  return result;
}

}  // namespace strider::pass
