// SPDX-License-Identifier: Apache-2.0
// Operations that make tiles, put them together, take them apart and reorder them. Those that only move lanes work on tiles of
// pointers, too.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "front/lang/writer.h"

namespace strider::front {

/// i32, along axis 0, 1 or 2 of the grid.
ir::Value program_id(Writer& w, int axis);
ir::Value num_programs(Writer& w, int axis);

/// The i32 tile begin ... end - 1.
ir::Value arange(Writer& w, int64_t begin, int64_t end);
ir::Value full(Writer& w, const ir::Shape& shape, const Term& value, DType dtype);
/// A tile of the shape and the dtype of `like`.
ir::Value full_like(Writer& w, const Term& like, const Term& value);

/// Repeated as in NumPy: missing leading axes and axes of size 1.
ir::Value broadcast_to(Writer& w, const Term& x, const ir::Shape& shape);
/// Both in the shape that they broadcast to.
std::pair<ir::Value, ir::Value> broadcast_pair(Writer& w, const Term& a, const Term& b);
/// An axis of size 1 that becomes axis `axis`; -1 puts it last.
ir::Value expand_dims(Writer& w, const Term& x, int axis);
/// A subscript, for each of its axes: whether it is a new one of size 1; others are axes of x, in order.
ir::Value subscript(Writer& w, const Term& x, std::span<const bool> is_new);
ir::Value reshape(Writer& w, const Term& x, const ir::Shape& shape);
/// All elements in row-major order, as one axis.
ir::Value ravel(Writer& w, const Term& x);
/// Axis k of the result is axis axes[k]; without axes their order is reversed.
ir::Value trans(Writer& w, const Term& x, std::span<const int64_t> axes);
/// The same, with the axes required.
ir::Value permute(Writer& w, const Term& x, std::span<const int64_t> axes);

/// Side by side along a new last axis of size 2, and the two halves of such an axis.
ir::Value join(Writer& w, const Term& a, const Term& b);
std::array<ir::Value, 2> split(Writer& w, const Term& x);
/// a0, b0, a1, b1, ... along the last axis.
ir::Value interleave(Writer& w, const Term& a, const Term& b);
/// `a` and then `b` along the axis.
ir::Value cat(Writer& w, const Term& a, const Term& b, int axis);
ir::Value flip(Writer& w, const Term& x, int axis);
/// Element index[..i..] along the axis; 0 where it is out of range.
ir::Value gather(Writer& w, const Term& x, const Term& index, int axis);

// --- what these are composed of

/// 0 <= result < rank; negative axes count from the last.
int check_axis(std::string_view what, const ir::Shape& shape, int axis);

/// A value in a shape that it broadcasts to.
ir::Value broadcast(ir::Builder& b, ir::Value v, const ir::Shape& shape);
/// Whether a tile of shape `from` broadcasts to `to`, which keeps its own sizes.
bool broadcasts_to(const ir::Shape& from, const ir::Shape& to);

/// The i32 tile of `shape` that holds each lane's index along the axis.
ir::Value numbers_along(ir::Builder& b, const ir::Shape& shape, int axis);
/// The tile in the opposite order along the axis.
ir::Value flipped(ir::Builder& b, ir::Value v, int axis);
/// Integers as i32 where 0 <= v < size, else -1.
ir::Value index_below(ir::Builder& b, ir::Value v, int64_t size);

}  // namespace strider::front
