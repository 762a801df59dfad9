// SPDX-License-Identifier: Apache-2.0
// Reductions and scans.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "front/lang/writer.h"

namespace strider::front {

using Axis = std::optional<int>;  // none: all of them, the last one first

/// A user's combine function: two scalars of each tile, those of the lower index first, give one for each tile.
using Combine = std::function<std::vector<Term>(std::span<const ir::Value> elements)>;

/// One to four tiles of one shape, folded by a combine function.
std::vector<ir::Value> reduce(Writer& w, std::span<const Term> tiles, Axis axis, bool keep_dims, const Combine& combine);
/// Running folds: element i is the fold of elements 0..i, or reversed of n-1..i.
std::vector<ir::Value> associative_scan(Writer& w, std::span<const Term> tiles, int axis, bool reverse, const Combine& combine);

/// In the given dtype; without one bool and integers below 32 bits in i32 or u32, others in their own.
ir::Value sum(Writer& w, const Term& x, Axis axis, bool keep_dims, std::optional<DType> dtype);
ir::Value prod(Writer& w, const Term& x, Axis axis, bool keep_dims, std::optional<DType> dtype);
ir::Value any(Writer& w, const Term& x, Axis axis, bool keep_dims);
ir::Value all(Writer& w, const Term& x, Axis axis, bool keep_dims);
ir::Value xor_sum(Writer& w, const Term& x, Axis axis, bool keep_dims);

struct ExtremeRule {
  bool keep_dims = false;
  bool drop_nan = false;       // the extreme of the others; else NaN is carried
  bool highest_index = false;  // of equal elements; else the lowest
};
ir::Value max(Writer& w, const Term& x, Axis axis, const ExtremeRule& rule);
ir::Value min(Writer& w, const Term& x, Axis axis, const ExtremeRule& rule);
/// The element and its i32 index. Messages call the operation `what`.
std::array<ir::Value, 2> max_with_index(Writer& w, std::string_view what, const Term& x, Axis axis, const ExtremeRule& rule);
std::array<ir::Value, 2> min_with_index(Writer& w, std::string_view what, const Term& x, Axis axis, const ExtremeRule& rule);

/// Running sums and products along an axis.
ir::Value cumsum(Writer& w, const Term& x, int axis, bool reverse, std::optional<DType> dtype);
ir::Value cumprod(Writer& w, const Term& x, int axis, bool reverse);

}  // namespace strider::front
