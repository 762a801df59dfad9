// SPDX-License-Identifier: Apache-2.0
#include "pass/stage.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/fold.h"
#include "ir/rewrite.h"

namespace strider::pass {

using namespace ir;

namespace {

constexpr int64_t kLeastSize = 8;  // of both axes; smaller tiles are not worth a detour

/// By how much `v` changes from one lane to the next along `axis`: a constant, or nothing when that is not known.
std::optional<int64_t> step_along(const Function& f, Value v, int axis) {
  const Node& n = f[v];
  if (n.type.is_scalar() || n.op == Op::Constant) return 0;
  auto of = [&](int k, int a) { return step_along(f, f.operand(v, k), a); };
  int64_t factor;
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
    case Op::Mul:
      if (auto a = of(0, axis), c = of(1, axis); a == 0 && c == 0) return 0;
      for (int k = 0; k < 2; ++k)
        if (constant_int(f, f.operand(v, k), &factor))
          if (auto other = of(1 - k, axis)) return *other * factor;
      return std::nullopt;
    case Op::Broadcast: {
      const Type& inner = f.type(f.operand(v, 0));
      return inner.is_scalar() || inner.shape[axis] == 1 ? 0 : of(0, axis);
    }
    case Op::ExpandDims: return axis == n.imm ? 0 : of(0, axis > n.imm ? axis - 1 : axis);
    case Op::Trans: return of(0, static_cast<int>(n.imm >> (4 * axis)) & 15);
    default: return std::nullopt;
  }
}

/// The axis along which the addresses are consecutive, if it is another than the last and both are long enough.
std::optional<int> other_axis(const Function& f, Value pointer) {
  const Shape& shape = f.type(pointer).shape;
  int last = shape.rank() - 1;
  if (last < 1 || shape[last] < kLeastSize) return std::nullopt;
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
