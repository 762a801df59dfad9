// SPDX-License-Identifier: Apache-2.0
// Index maps that the tile language's operations are composed of.
#pragma once

#include "ir/builder.h"

namespace strider::front {

/// The i32 tile of `shape` that holds each lane's index along the axis.
ir::Value numbers_along(ir::Builder& b, const ir::Shape& shape, int axis);

/// The tile in the opposite order along the axis.
ir::Value flipped(ir::Builder& b, ir::Value v, int axis);

/// Whether a tile of shape `from` broadcasts to `to`, which keeps its own sizes.
bool broadcasts_to(const ir::Shape& from, const ir::Shape& to);

/// Integers as i32 where 0 <= v < size, else -1.
ir::Value index_below(ir::Builder& b, ir::Value v, int64_t size);

}  // namespace strider::front
