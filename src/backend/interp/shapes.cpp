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

/// Where each lane of the result lies in the operand.
Strides lane_strides(const Machine& m, Value v) {
  const Shape& from = m.function.type(m.function.operand(v, 0)).shape;
  Strides strides = row_major(from);
  if (m.function[v].op == ir::Op::Trans) {
    const Strides own = strides;
    for (int axis = 0; axis < from.rank(); ++axis) strides[axis] = own[m.function[v].imm >> 4 * axis & 15];
    return strides;
  }
  for (int axis = 0; axis < from.rank(); ++axis)
    if (from[axis] == 1) strides[axis] = 0;
  return strides;
}

}  // namespace

void move_lanes(const Machine& m, Value v, const uint64_t* from, uint64_t* to) {
  const Strides strides = lane_strides(m, v);
  const int64_t lanes = m.values[m.function.operand(v, 0)].lanes;
  const Shape& shape = m.function.type(v).shape;
  for (int64_t t = 0; t < m.context.width; ++t) to = gather(to, from + t * lanes, shape, strides);
}

/// The operand may be a view of one slot; then so is the result, and there is nothing to move.
void run_moves(Machine& m, Value v) {
  if (!m.values[v].uniform) move_lanes(m, v, m.values[m.function.operand(v, 0)].data, m.out(v));
}

int64_t gathered_lane(const Machine& m, Value v, int64_t i) {
  const Shape& source = m.function.type(m.function.operand(v, 0)).shape;
  const Shape& shape = m.function.type(v).shape;
  const int axis = static_cast<int>(m.function[v].imm);
  const int64_t inner = row_major(shape)[axis], line = i / (inner * shape[axis]) * source[axis];
  const int64_t at = static_cast<int32_t>(m.in(m.function.operand(v, 1)).at(i));
  return at >= 0 && at < source[axis] ? (line + at) * inner + i % inner : -1;
}

/// An index out of range is a fault of the program; the lane gets 0.
void run_gather(Machine& m, Value v) {
  const Slots from = m.in(m.function.operand(v, 0)), index = m.in(m.function.operand(v, 1));
  uint64_t* out = m.out(v);
  for (int64_t i = 0; i < m.function.type(v).elements(); ++i) {
    const int64_t lane = gathered_lane(m, v, i);
    out[i] = lane >= 0 ? from.at(lane) : 0;
    if (lane >= 0) continue;
    m.reports.add(ReportKind::Misuse, v, {.lane = i}, [&] {
      const int axis = static_cast<int>(m.function[v].imm);
      return fmt::format("index {} of an axis of size {}", static_cast<int32_t>(index.at(i)), m.function.type(m.function.operand(v, 0)).shape[axis]);
    });
  }
}

}  // namespace strider::interp
