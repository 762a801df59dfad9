// SPDX-License-Identifier: Apache-2.0
#include "pass/index_map.h"

namespace strider::pass {

using namespace ir;

namespace {
constexpr int kMostInlineCost = 64;
constexpr int kDivisionCost = 8;
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
  if (squeeze(to) != squeeze(source)) return false;
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

int own_cost(Op op) { return op == Op::Div || op == Op::Rem ? kDivisionCost : 1; }

bool is_index_type(const Type& t) { return t.is_pointer() || !is_float(t.dtype); }

Inlining classify(const Function& f, Value v, const std::vector<Inlining>& known) {
  const Node& n = f[v];
  if (n.type.is_void || n.type.is_scalar()) return {.index_only = true};
  if (n.op == Op::Constant || n.op == Op::Arange) return {.inlined = true, .index_only = true, .cost = 1};
  if (!is_pointwise(n.op) && !has(n.op, Shapes)) return {};
  Inlining result{.index_only = is_index_type(n.type) || has(n.op, Shapes), .cost = own_cost(n.op)};
  for (Value o : f.operands(v)) {
    result.index_only &= known[o.id].index_only && is_index_type(f.type(o));
    result.cost += known[o.id].cost;
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
