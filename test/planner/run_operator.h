// SPDX-License-Identifier: Apache-2.0
// Runs an operator on host memory: plan, tile kernel, tile interpreter. And the plain loop that it must equal.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <vector>

#include <strider/pointwise.h>

#include "backend/interp/tile.h"
#include "ir/semantics.h"
#include "ir/verify.h"
#include "planner/instantiate.h"
#include "call/generate.h"
#include "tensor/shape.h"

namespace strider::test {

/// Elements in memory of their own, with a rim of guard bytes, seen through strides.
class Strided {
 public:
  Strided(DType dtype, Dims shape, Dims strides)
      : dtype_(dtype), shape_(shape), strides_(strides), extent_(extent(shape, strides)) {
    bytes_.assign(static_cast<size_t>((std::max<int64_t>(extent_.elements(), 0) + 2 * kRim) * size_of(dtype)), kGuard);
  }

  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  const Dims& strides() const { return strides_; }
  char* data() { return bytes_.data() + (kRim - extent_.low) * size_of(dtype_); }

  /// Element i in row-major order is value(i).
  template <class F>
  Strided& fill(F value) {
    int64_t i = 0;
    for_each_offset(shape_, strides_, [&](int64_t offset) { set(offset, ir::bits_of_double(dtype_, value(i++))); });
    return *this;
  }
  std::vector<double> values() {
    std::vector<double> result;
    for_each_offset(shape_, strides_, [&](int64_t offset) { result.push_back(ir::double_of_bits(dtype_, get(offset))); });
    return result;
  }
  /// How many bytes differ from the guard pattern outside of the elements.
  int64_t damaged() {
    std::vector<char> copy = bytes_;
    for_each_offset(shape_, strides_, [&](int64_t offset) {
      std::memset(copy.data() + (data() - bytes_.data()) + offset * size_of(dtype_), kGuard,
                  static_cast<size_t>(size_of(dtype_)));
    });
    return static_cast<int64_t>(copy.size()) - std::count(copy.begin(), copy.end(), kGuard);
  }
  interp::Memory memory() { return {"", bytes_.data(), static_cast<int64_t>(bytes_.size())}; }

 private:
  static constexpr int64_t kRim = 16;
  static constexpr char kGuard = 0x5a;
  void set(int64_t offset, uint64_t bits) {
    std::memcpy(data() + offset * size_of(dtype_), &bits, static_cast<size_t>(size_of(dtype_)));
  }
  uint64_t get(int64_t offset) {
    uint64_t bits = 0;
    std::memcpy(&bits, data() + offset * size_of(dtype_), static_cast<size_t>(size_of(dtype_)));
    return bits;
  }

  DType dtype_;
  Dims shape_, strides_;
  Extent extent_;
  std::vector<char> bytes_;
};

/// An argument of a run: a tensor, or a number.
struct Given {
  Strided* tensor = nullptr;
  DType dtype = DType::F64;
  uint64_t bits = 0;
  Given(Strided& t) : tensor(&t), dtype(t.dtype()) {}
  Given(double x) : bits(ir::bits_of_double(DType::F64, x)) {}
  Given(int x) : dtype(DType::I64), bits(static_cast<uint64_t>(int64_t{x})) {}

  planner::Source source() const {
    if (!tensor) return planner::Source::Number;
    return tensor->shape().rank() == 0 ? planner::Source::ZeroDim : planner::Source::Tensor;
  }
  uint64_t passed_as(DType passed) const {
    return passed == dtype ? bits : ir::evaluate(ir::Op::Cast, dtype, passed, &bits);
  }
};

inline Target small_target(int threads = 1) {
  Target target = usual_target(threads > 1 ? TargetKind::Gpu : TargetKind::Cpu);
  target.name = "test";
  target.max_threads = threads;
  return target;
}

/// The plan and the tile kernel of a call.
struct Planned {
  std::vector<planner::Operand> operands;
  uint64_t scalars[planner::kMaxOperands];
  planner::Plan plan;
  ir::Function tile{};
};

inline void make_plan(Planned& p, const Operator& op, const std::vector<Strided*>& outputs,
                      const std::vector<Given>& inputs, const Target& target) {
  std::vector<planner::ArgumentType> types;
  for (const Given& g : inputs) types.push_back({g.source(), g.dtype});
  planner::Typing typing = type_operator(op.declaration(), types);
  for (Strided* o : outputs) p.operands.push_back({planner::Role::Output, o->dtype(), o->data(), &o->shape(), &o->strides()});
  for (const Given& g : inputs) {
    DType passed = typing.arguments[p.operands.size() - outputs.size()].passed;
    p.scalars[p.operands.size()] = g.passed_as(passed);
    if (g.tensor)
      p.operands.push_back({planner::Role::Input, g.dtype, g.tensor->data(), &g.tensor->shape(), &g.tensor->strides()});
    else p.operands.push_back({planner::Role::Scalar, passed, nullptr, nullptr, nullptr});
  }
  p.plan = planner::plan(p.operands, target);
  if (p.plan.empty) return;
  p.tile = generate(op.declaration(), typing, p.plan.key);
  ir::verify(p.tile, ir::Form::Tile);
}

/// Runs every program in the interpreter, which must find no fault; nothing but the outputs' elements may change.
inline Planned run_interpreted(const Operator& op, std::vector<Strided*> outputs, std::vector<Given> inputs,
                               const Target& target = small_target()) {
  Planned p;
  make_plan(p, op, outputs, inputs, target);
  if (p.plan.empty) return p;
  uint64_t slots[planner::kMaxParameters];
  size_t count = planner::write_arguments(p.plan, p.scalars, slots);
  interp::InterpOptions options;
  for (Strided* o : outputs) options.memories.push_back(o->memory());
  for (const Given& g : inputs)
    if (g.tensor) options.memories.push_back(g.tensor->memory());
  auto reports = interp::interpret_tiles(p.tile, {p.plan.programs, 1, 1}, {slots, count}, options);
  EXPECT_TRUE(reports.empty()) << interp::to_string(reports);
  for (Strided* o : outputs) EXPECT_EQ(o->damaged(), 0);
  return p;
}

/// The elements of an input in the order of `shape`, to which it broadcasts.
inline std::vector<double> expanded(Strided& t, const Dims& shape) {
  Dims strides = Dims::filled(shape.rank(), 0);
  int missing = shape.rank() - t.shape().rank();
  for (int k = missing; k < shape.rank(); ++k) strides[k] = t.shape()[k - missing] == 1 ? 0 : t.strides()[k - missing];
  std::vector<double> result;
  for_each_offset(shape, strides, [&](int64_t offset) {
    uint64_t bits = 0;
    std::memcpy(&bits, t.data() + offset * size_of(t.dtype()), static_cast<size_t>(size_of(t.dtype())));
    result.push_back(ir::double_of_bits(t.dtype(), bits));
  });
  return result;
}

}  // namespace strider::test
