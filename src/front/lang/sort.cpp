// SPDX-License-Identifier: Apache-2.0
// Elements are sorted as integer keys of the same order, by a bitonic network whose exchanges all put the smaller key at the
// lower index: so what would lie beyond the end of the axis may be left out, and its length need not be a power of two.
#include "front/lang/sort.h"

#include <bit>

#include "front/lang/shape.h"
#include "ir/promote.h"

namespace strider::front {

using ir::Builder;
using ir::Op;

namespace {

using Nodes = Builder::Values;

constexpr int64_t kMostSorted = 4096;
constexpr int64_t kMostBins = 4096;

DType key_dtype(DType dtype) {
  if (dtype == DType::Bool) return DType::U8;
  return is_float(dtype) ? ir::signed_of_size(size_of(dtype)) : dtype;
}

/// The bits of floats as signed integers of the same order, -0 below +0; and back: below zero all bits but the sign are inverted.
ir::Value ordered(Builder& b, ir::Value bits) {
  const ir::Type type = b.type(bits);
  ir::Value sign = b.binary(Op::Shr, bits, b.constant_int(type, bits_of(type.dtype) - 1));
  ir::Value magnitude = b.constant_bits(type, (uint64_t{1} << (bits_of(type.dtype) - 1)) - 1);
  return b.binary(Op::Xor, bits, b.binary(Op::And, sign, magnitude));
}

/// All NaNs become the one whose key is above that of infinity.
ir::Value key_of(Builder& b, ir::Value v) {
  const ir::Type type = b.type(v);
  if (!is_float(type.dtype)) return b.cast(v, key_dtype(type.dtype));
  ir::Value quiet = b.constant(type, std::numeric_limits<double>::quiet_NaN());
  ir::Value plain = b.where(b.unary(Op::IsNan, v), b.unary(Op::Abs, quiet), v);
  return ordered(b, b.bitcast(plain, key_dtype(type.dtype)));
}

ir::Value value_of(Builder& b, ir::Value key, DType dtype) {
  return is_float(dtype) ? b.bitcast(ordered(b, key), dtype) : b.cast(key, dtype);
}

/// Sorts tiles of one shape by the first; equal elements by the second, whose elements all differ, if there is one.
class Network {
 public:
  Network(Builder& b, const ir::Shape& shape, int axis)
      : b_(b), shape_(shape), axis_(axis), index_(numbers_along(b, shape, axis)) {}

  Nodes sort(const Nodes& tiles) {
    const int levels = std::bit_width(static_cast<uint64_t>(shape_[axis_] - 1));
    if (levels == 0) return tiles;
    if (levels == 1) return exchange(tiles, b_.i32(1));
    return b_.for_loop(b_.i32(0), b_.i32(levels), b_.i32(1), tiles,
                       [&](std::span<const ir::Value> p) { return merge(p[0], Nodes(p.begin() + 1, p.end())); });
  }
  ir::Value index() const { return index_; }

 private:
  /// Sorted runs of 2^level elements become runs of twice that: the first exchange mirrors the two, the others halve the
  /// distance.
  Nodes merge(ir::Value level, const Nodes& tiles) {
    ir::Value mirror = b_.sub(b_.binary(Op::Shl, b_.i32(2), level), b_.i32(1));
    Nodes mirrored = exchange(tiles, mirror);
    return b_.for_loop(b_.i32(0), level, b_.i32(1), mirrored, [&](std::span<const ir::Value> p) {
      ir::Value exponent = b_.sub(b_.sub(level, b_.i32(1)), p[0]);
      return exchange(Nodes(p.begin() + 1, p.end()), b_.binary(Op::Shl, b_.i32(1), exponent));
    });
  }

  /// Every element meets the one whose index differs in the bits of `mask`; one without a partner meets itself.
  Nodes exchange(const Nodes& tiles, ir::Value mask) {
    ir::Value partner = b_.binary(Op::Xor, index_, b_.broadcast(mask, shape_));
    const int64_t length = shape_[axis_];
    if (!std::has_single_bit(static_cast<uint64_t>(length))) {
      ir::Value inside = b_.binary(Op::Lt, partner, b_.constant_int(b_.type(partner), length));
      partner = b_.where(inside, partner, index_);
    }
    Nodes others;
    for (ir::Value v : tiles) others.push_back(b_.gather(v, partner, axis_));
    ir::Value is_lower = b_.binary(Op::Gt, partner, index_);
    if (tiles.size() == 1)
      return {b_.where(is_lower, b_.binary(Op::Minimum, tiles[0], others[0]), b_.binary(Op::Maximum, tiles[0], others[0]))};
    ir::Value swap = b_.where(is_lower, before(others, tiles), before(tiles, others));
    Nodes result;
    for (size_t k = 0; k < tiles.size(); ++k) result.push_back(b_.where(swap, others[k], tiles[k]));
    return result;
  }

  ir::Value before(const Nodes& a, const Nodes& b) {
    ir::Value tied = b_.binary(Op::And, b_.binary(Op::Eq, a[0], b[0]), b_.binary(Op::Lt, a[1], b[1]));
    return b_.binary(Op::Or, b_.binary(Op::Lt, a[0], b[0]), tied);
  }

  Builder& b_;
  ir::Shape shape_;
  int axis_;
  ir::Value index_;
};

/// The tile sorted along the axis, and the index that each element had, if asked for.
Nodes sorted(Builder& b, std::string_view what, ir::Value v, int axis, bool descending, bool with_index) {
  const ir::Type type = b.type(v);
  const int at = check_axis(what, type.shape, axis);
  if (type.is_pointer()) user_error("{}: the tile is {}, expected numbers or bools", what, to_string(type));
  if (type.shape[at] > kMostSorted)
    user_error("{}: {} elements along axis {} of a tile of shape {}, at most {} are possible", what, type.shape[at], at,
               to_string(type.shape), kMostSorted);
  auto turned = [&](ir::Value keys) { return descending ? b.unary(Op::Not, keys) : keys; };
  Network network(b, type.shape, at);
  Nodes tiles{turned(key_of(b, v))};
  if (with_index) tiles.push_back(network.index());
  tiles = network.sort(tiles);
  tiles[0] = value_of(b, turned(tiles[0]), type.dtype);
  return tiles;
}

/// The first k of a sorted tile.
ir::Value first(Builder& b, ir::Value v, int64_t k, int axis) {
  ir::Shape shape = b.type(v).shape;
  const int at = check_axis("topk", shape, axis);
  if (k < 1 || k > shape[at]) user_error("topk: {} elements of axis {} of a tile of shape {}", k, at, to_string(shape));
  shape[at] = k;
  return b.gather(v, numbers_along(b, shape, at), at);
}

}  // namespace

ir::Value sort(Writer& w, const Term& x, int axis, bool descending) {
  return sorted(w.b, "sort", w.node(x), axis, descending, false)[0];
}

ir::Value topk(Writer& w, const Term& x, int64_t k, int axis, bool largest) {
  return first(w.b, sorted(w.b, "topk", w.node(x), axis, largest, false)[0], k, axis);
}

std::array<ir::Value, 2> topk_with_indices(Writer& w, const Term& x, int64_t k, int axis, bool largest) {
  Nodes tiles = sorted(w.b, "topk", w.node(x), axis, largest, true);
  return {first(w.b, tiles[0], k, axis), first(w.b, tiles[1], k, axis)};
}

ir::Value histogram(Writer& w, const Term& x, int64_t bins, const Term& mask) {
  Builder& b = w.b;
  ir::Value v = w.node(x);
  const ir::Type type = b.type(v);
  if (!is_int(type.dtype) || type.is_pointer()) user_error("histogram: the tile is {}, expected integers", to_string(type));
  if (bins < 1 || bins > kMostBins) user_error("histogram: {} bins, expected 1 to {}", bins, kMostBins);
  ir::Value index = index_below(b, v, bins);
  if (!mask.is_empty()) {
    ir::Value m = w.node(mask);
    if (b.type(m).dtype != DType::Bool) user_error("histogram: the mask is {}, expected bool", to_string(b.type(m)));
    if (!broadcasts_to(b.type(m).shape, type.shape))
      user_error("histogram: the mask has shape {}, the tile {}: a mask broadcasts to its tile", to_string(b.type(m).shape),
                 to_string(type.shape));
    index = b.where(broadcast(b, m, type.shape), index, b.constant_int(b.type(index), -1));
  }
  if (b.type(index).is_scalar()) index = b.broadcast(index, {1});
  return b.histogram(index, bins);
}

}  // namespace strider::front
