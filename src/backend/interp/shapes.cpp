// SPDX-License-Identifier: Apache-2.0
// Ops that move lanes: each is a walk over the result's lanes with one stride an axis in the operand.
#include <array>

#include <fmt/format.h>

#include "backend/interp/machine.h"

namespace strider::interp {

using ir::Shape;
using ir::Value;

namespace {

using Strides = std::array<int64_t, ir::kMaxRank>;

Strides row_major(const Shape& shape) {
  Strides strides{};
  int64_t stride = 1;
  for (int axis = shape.rank(); axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
  return strides;
}

/// out[i, j, ...] = in[i * strides[0] + j * strides[1] + ...], rows of the last axis innermost.
uint64_t* gather(uint64_t* out, const uint64_t* in, const Shape& shape, const Strides& strides, int axis = 0) {
  if (axis == shape.rank()) {
    *out = *in;
    return out + 1;
  }
  for (int64_t k = 0; k < shape[axis]; ++k) out = gather(out, in + k * strides[axis], shape, strides, axis + 1);
  return out;
}

void run_map(Machine& m, Value v, const Strides& strides) {
  const Value from = m.function.operand(v, 0);
  const Place& place = m.values[from];
  const Shape& shape = m.function.type(v).shape;
  uint64_t* out = m.out(v);
  for (int64_t t = 0; t < m.context.width; ++t) out = gather(out, place.data + t * place.lanes, shape, strides);
}

}  // namespace

void run_broadcast(Machine& m, Value v) {
  if (m.values[v].uniform) return;  // a view of the one slot
  const Shape& from = m.function.type(m.function.operand(v, 0)).shape;
  Strides strides = row_major(from);
  for (int axis = 0; axis < from.rank(); ++axis)
    if (from[axis] == 1) strides[axis] = 0;
  if (from.rank() == 0) strides = {};
  run_map(m, v, strides);
}

void run_trans(Machine& m, Value v) {
  if (m.values[v].uniform) return;
  const Strides from = row_major(m.function.type(m.function.operand(v, 0)).shape);
  Strides strides{};
  for (int axis = 0; axis < m.function.type(v).shape.rank(); ++axis) strides[axis] = from[m.function[v].imm >> 4 * axis & 15];
  run_map(m, v, strides);
}

/// An index out of range is a fault of the program; the lane gets 0.
void run_gather(Machine& m, Value v) {
  const Slots from = m.in(m.function.operand(v, 0)), index = m.in(m.function.operand(v, 1));
  const Shape& source = m.function.type(m.function.operand(v, 0)).shape;
  const Shape& shape = m.function.type(v).shape;
  const int axis = static_cast<int>(m.function[v].imm);
  const int64_t inner = row_major(shape)[axis], length = shape[axis];
  uint64_t* out = m.out(v);
  for (int64_t i = 0; i < shape.elements(); ++i) {
    const int64_t at = static_cast<int32_t>(index.at(i));
    const int64_t line = i / (inner * length) * source[axis];
    const bool in_range = at >= 0 && at < source[axis];
    out[i] = in_range ? from.at((line + at) * inner + i % inner) : 0;
    if (in_range) continue;
    m.reports.add(ReportKind::Misuse, v, {.lane = i},
                  [&] { return fmt::format("index {} of an axis of size {}", at, source[axis]); });
  }
}

}  // namespace strider::interp
