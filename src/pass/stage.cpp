// SPDX-License-Identifier: Apache-2.0
#include "pass/stage.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/rewrite.h"
#include "pass/index_map.h"

namespace strider::pass {

using namespace ir;

namespace {

constexpr int64_t kLeastSize = 8;  // of both axes; smaller tiles are not worth a detour

/// The axis along which the addresses are consecutive, if it is another than the last and both are long enough.
std::optional<int> other_axis(const Function& f, Value pointer) {
  const Shape& shape = f.type(pointer).shape;
  int last = shape.rank() - 1;
  if (last < 1 || shape[last] < kLeastSize || is_large(f, pointer)) return std::nullopt;
  auto in_order = step_along(f, pointer, last);
  if (in_order && std::abs(*in_order) <= 1) return std::nullopt;
  for (int axis = 0; axis < last; ++axis)
    if (shape[axis] >= kLeastSize && step_along(f, pointer, axis) == 1) return axis;
  return std::nullopt;
}

class Stager : public Rewriter {
 public:
  using Rewriter::Rewriter;

 protected:
  void visit(Value v) override;

 private:
  Value swapped(Value v, int axis);
  void stage_load(Value v, int axis);
};

/// The tile with `axis` and the last axis exchanged.
Value Stager::swapped(Value v, int axis) {
  std::vector<int> axes(b.type(v).shape.rank());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axis], axes.back());
  return b.trans(v, axes);
}

void Stager::visit(Value v) {
  Op op = from[v].op;
  if (op != Op::Load && op != Op::Store) return copy(v);
  auto axis = other_axis(from, from.operand(v, 0));
  if (!axis) return copy(v);
  if (op == Op::Load) return stage_load(v, *axis);
  std::vector<Value> operands;
  for (Value o : map(from.operands(v))) operands.push_back(swapped(o, *axis));
  b.emit(Op::Store, operands, from[v].imm);
}

void Stager::stage_load(Value v, int axis) {
  std::vector<Value> operands;
  for (Value o : map(from.operands(v))) operands.push_back(swapped(o, axis));
  Value loaded = b.emit(Op::Load, operands, from[v].imm);
  b.set_flags(loaded, static_cast<uint8_t>(from[v].flags | kStaged));
  set(v, swapped(loaded, axis));
}

}  // namespace

Function stage(const Function& tile) { return Stager(tile).run(); }

}  // namespace strider::pass
