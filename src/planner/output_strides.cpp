// SPDX-License-Identifier: Apache-2.0
// Strides of new outputs: the rule of PyTorch's TensorIterator, for the preserve_format that it promises.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "planner/plan.h"

namespace strider::planner {
namespace {

using Axes = std::array<int, kMaxAxes>;  // innermost first

/// How an input steps along an axis of the output, forwards or backwards: 0 where it is broadcast. An axis of size 1 that the
/// output has too keeps its stride.
int64_t step_along(const Operand& o, const Dims& shape, int axis) {
  int own = axis - (shape.rank() - o.shape->rank());
  if (own < 0 || ((*o.shape)[own] == 1 && shape[axis] != 1)) return 0;
  return std::abs((*o.strides)[own]);
}

/// Whether axis a lies outside axis b: the first input that steps along both decides. Of equal steps the larger size is outside.
enum class Order : int8_t { Inside, Unknown, Outside };
Order order_of(std::span<const Operand> operands, const Dims& shape, int a, int b) {
  for (const Operand& o : operands) {
    if (o.role != Role::Input) continue;
    int64_t step_a = step_along(o, shape, a), step_b = step_along(o, shape, b);
    if (step_a == 0 || step_b == 0) continue;
    if (step_a != step_b) return step_a < step_b ? Order::Inside : Order::Outside;
    if (shape[a] > shape[b]) return Order::Outside;
  }
  return Order::Unknown;
}

Axes row_major(int rank) {
  Axes axes{};
  for (int k = 0; k < rank; ++k) axes[static_cast<size_t>(k)] = rank - 1 - k;
  return axes;
}

/// Row-major axes sorted by insertion; pairs of unknown order are passed over.
Axes sorted_axes(std::span<const Operand> operands, const Dims& shape) {
  Axes axes = row_major(shape.rank());
  for (size_t k = 1; k < static_cast<size_t>(shape.rank()); ++k)
    for (size_t moved = k, other = k; other-- > 0;) {
      Order order = order_of(operands, shape, axes[other], axes[moved]);
      if (order == Order::Inside) break;
      if (order == Order::Unknown) continue;
      std::swap(axes[other], axes[moved]);
      moved = other;
    }
  return axes;
}

Dims strides_in_order(const Dims& shape, const Axes& axes) {
  Dims strides = Dims::filled(shape.rank(), 1);
  int64_t step = 1;
  for (int k = 0; k < shape.rank(); ++k) {
    int axis = axes[static_cast<size_t>(k)];
    strides[axis] = step;
    step *= std::max<int64_t>(shape[axis], 1);
  }
  return strides;
}

bool has_elements(const Dims& shape) { return std::find(shape.begin(), shape.end(), 0) == shape.end(); }

/// Whether these are the strides of axes in that order, where a size leaves a choice.
bool has_order(const Dims& shape, const Dims& strides, const Axes& axes) {
  Dims dense = strides_in_order(shape, axes);
  for (int a = 0; a < shape.rank(); ++a)
    if (shape[a] != 1 && strides[a] != dense[a]) return false;
  return true;
}

/// Whether positive strides number the elements without gaps, in any order of the axes.
bool is_dense(const Dims& shape, const Dims& strides) {
  int64_t elements = 1, step = 1;
  for (int64_t size : shape) elements *= size;
  while (step < elements) {
    int axis = 0;
    while (axis < shape.rank() && (shape[axis] == 1 || strides[axis] != step)) ++axis;
    if (axis == shape.rank()) return false;
    step *= shape[axis];
  }
  return true;
}

template <class Test>
bool all_inputs(std::span<const Operand> operands, Test test) {
  return std::all_of(operands.begin(), operands.end(), [&](const Operand& o) { return o.role == Role::Output || test(o); });
}

/// The strides of the first input.
const Dims& first_strides(std::span<const Operand> operands) {
  return *std::find_if(operands.begin(), operands.end(), [](const Operand& o) { return o.role == Role::Input; })->strides;
}

}  // namespace

Dims output_strides(std::span<const Operand> operands, const Dims& shape) {
  auto has_shape = [&](const Operand& o) { return o.role == Role::Scalar ? shape.rank() == 0 : *o.shape == shape; };
  if (!all_inputs(operands, has_shape)) return strides_in_order(shape, sorted_axes(operands, shape));
  // Inputs of one shape and layout leave nothing to decide.
  auto all = [&](auto test) {
    return all_inputs(operands, [&](const Operand& o) { return o.role == Role::Scalar || test(*o.strides); });
  };
  constexpr Axes kChannelsLast = {1, 3, 2, 0};
  Axes rows = row_major(shape.rank());
  if (!has_elements(shape) || all([&](const Dims& s) { return has_order(shape, s, rows); })) return strides_in_order(shape, rows);
  if (shape.rank() == 4 && all([&](const Dims& s) { return has_order(shape, s, kChannelsLast); }))
    return strides_in_order(shape, kChannelsLast);
  const Dims& first = first_strides(operands);
  if (is_dense(shape, first) && all([&](const Dims& s) { return s == first; })) return first;
  return strides_in_order(shape, sorted_axes(operands, shape));
}

Dims kept_strides(const Dims& shape, const Dims& strides) {
  if (is_dense(shape, strides)) return strides;
  Operand o{Role::Input, DType::U8, nullptr, &shape, &strides};
  return strides_in_order(shape, sorted_axes({&o, 1}, shape));
}

}  // namespace strider::planner
