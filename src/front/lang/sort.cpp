// SPDX-License-Identifier: Apache-2.0
// Elements are sorted as integer keys of the same order, by a bitonic network whose exchanges all put the smaller key at the
// lower index: so what would lie beyond the end of the axis may be left out, and its length need not be a power of two.
#include "front/lang/sort.h"

#include <bit>

#include "front/lang/shape.h"

namespace strider::front {

using ir::Builder;
using ir::Op;

namespace {

constexpr int64_t kMostSorted = 4096;
constexpr int64_t kMostBins = 4096;

DType key_dtype(DType dtype) {
  if (dtype == DType::Bool) return DType::U8;
  if (!is_float(dtype)) return dtype;
  return bits_of(dtype) == 16 ? DType::I16 : bits_of(dtype) == 32 ? DType::I32 : DType::I64;
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

class Network {
 public:
  Network(Builder& b, const ir::Shape& shape, int axis)
      : b_(b), shape_(shape), axis_(axis), index_(numbers_along(b, shape, axis)) {}

  ir::Value sort(ir::Value keys) {
    const int levels = std::bit_width(static_cast<uint64_t>(shape_[axis_] - 1));
    if (levels == 0) return keys;
    if (levels == 1) return exchange(keys, b_.i32(1));
    return b_.for_loop(b_.i32(0), b_.i32(levels), b_.i32(1), {{keys}}, [&](std::span<const ir::Value> p) {
      return Builder::Values{merge(p[0], p[1])};
    })[0];
  }

 private:
  /// Sorted runs of 2^level elements become runs of twice that: the first exchange mirrors the two, the others halve the
  /// distance.
  ir::Value merge(ir::Value level, ir::Value keys) {
    ir::Value mirror = b_.sub(b_.binary(Op::Shl, b_.i32(2), level), b_.i32(1));
    ir::Value mirrored = exchange(keys, mirror);
    return b_.for_loop(b_.i32(0), level, b_.i32(1), {{mirrored}}, [&](std::span<const ir::Value> p) {
      ir::Value exponent = b_.sub(b_.sub(level, b_.i32(1)), p[0]);
      return Builder::Values{exchange(p[1], b_.binary(Op::Shl, b_.i32(1), exponent))};
    })[0];
  }

  /// Every element meets the one whose index differs in the bits of `mask`; one without a partner meets itself.
  ir::Value exchange(ir::Value keys, ir::Value mask) {
    ir::Value partner = b_.binary(Op::Xor, index_, b_.broadcast(mask, shape_));
    const int64_t length = shape_[axis_];
    if (!std::has_single_bit(static_cast<uint64_t>(length))) {
      ir::Value inside = b_.binary(Op::Lt, partner, b_.constant_int(b_.type(partner), length));
      partner = b_.where(inside, partner, index_);
    }
    ir::Value other = b_.gather(keys, partner, axis_);
    ir::Value is_lower = b_.binary(Op::Gt, partner, index_);
    return b_.where(is_lower, b_.binary(Op::Minimum, keys, other), b_.binary(Op::Maximum, keys, other));
  }

  Builder& b_;
  ir::Shape shape_;
  int axis_;
  ir::Value index_;
};

ir::Value sorted(Builder& b, std::string_view what, ir::Value v, int axis, bool descending) {
  const ir::Type type = b.type(v);
  const int at = check_axis(what, type.shape, axis);
  if (type.shape[at] > kMostSorted)
    user_error("{}: {} elements along axis {} of a tile of shape {}, at most {} are possible", what, type.shape[at], at,
               to_string(type.shape), kMostSorted);
  auto turned = [&](ir::Value keys) { return descending ? b.unary(Op::Not, keys) : keys; };
  return value_of(b, turned(Network(b, type.shape, at).sort(turned(key_of(b, v)))), type.dtype);
}

}  // namespace

ir::Value sort(Writer& w, const Term& x, int axis, bool descending) { return sorted(w.b, "sort", w.node(x), axis, descending); }

ir::Value topk(Writer& w, const Term& x, int64_t k, int axis) {
  ir::Value v = sorted(w.b, "topk", w.node(x), axis, true);
  ir::Shape shape = w.type(v).shape;
  const int at = check_axis("topk", shape, axis);
  if (k < 1 || k > shape[at]) user_error("topk: {} elements of axis {} of a tile of shape {}", k, at, to_string(shape));
  shape[at] = k;
  return w.b.gather(v, numbers_along(w.b, shape, at), at);
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
