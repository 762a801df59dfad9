// SPDX-License-Identifier: Apache-2.0
#include "front/lang/shape.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "front/lang/arith.h"

namespace strider::front {

using ir::Builder;
using ir::Op;
using ir::Shape;

namespace {

int check_grid_axis(std::string_view what, int axis) {
  if (axis < 0 || axis > 2) user_error("{}: axis {} of the grid, expected 0, 1 or 2", what, axis);
  return axis;
}

}  // namespace

// --- new tiles

ir::Value program_id(Writer& w, int axis) { return w.b.program_id(check_grid_axis("program_id", axis)); }
ir::Value num_programs(Writer& w, int axis) { return w.b.num_programs(check_grid_axis("num_programs", axis)); }

ir::Value arange(Writer& w, int64_t begin, int64_t end) {
  if (begin < INT32_MIN || end > int64_t{INT32_MAX} + 1) user_error("arange({}, {}) leaves the range of i32", begin, end);
  return w.b.arange(DType::I32, begin, end);
}

ir::Value full(Writer& w, const Shape& shape, const Term& value, DType dtype) {
  return broadcast(w.b, w.node(value, dtype), shape);
}

ir::Value full_like(Writer& w, const Term& like, const Term& value) {
  return full(w, w.shape_of(like), value, w.dtype_of(like));
}

// --- one tile

ir::Value broadcast_to(Writer& w, const Term& x, const Shape& shape) {
  ir::Value v = w.node(x);
  if (!broadcasts_to(w.type(v).shape, shape))
    user_error("a tile of shape {} does not broadcast to {}", to_string(w.type(v).shape), to_string(shape));
  return broadcast(w.b, v, shape);
}

std::pair<ir::Value, ir::Value> broadcast_pair(Writer& w, const Term& a, const Term& b) {
  ir::Value values[] = {w.node(a), w.node(b)};
  broadcast_all(w.b, "", values);
  return {values[0], values[1]};
}

ir::Value expand_dims(Writer& w, const Term& x, int axis) {
  ir::Value v = w.node(x);
  return w.b.expand_dims(v, axis < 0 ? axis + w.type(v).shape.rank() + 1 : axis);
}

ir::Value subscript(Writer& w, const Term& x, std::span<const bool> is_new) {
  ir::Value v = w.node(x);
  const Shape shape = w.type(v).shape;
  const auto named = std::count(is_new.begin(), is_new.end(), false);
  if (named > shape.rank())
    user_error("a subscript of {} axes for a tile of shape {}: it has {}; newaxis adds one", named, to_string(shape),
               shape.rank());
  for (size_t axis = 0; axis < is_new.size(); ++axis)
    if (is_new[axis]) v = w.b.expand_dims(v, static_cast<int>(axis));
  return v;
}

ir::Value reshape(Writer& w, const Term& x, const Shape& shape) { return w.b.reshape(w.node(x), shape); }

ir::Value ravel(Writer& w, const Term& x) {
  ir::Value v = w.node(x);
  return w.b.reshape(v, {w.type(v).elements()});
}

ir::Value trans(Writer& w, const Term& x, std::span<const int64_t> axes) {
  ir::Value v = w.node(x);
  const Shape shape = w.type(v).shape;
  const int rank = shape.rank();
  std::vector<int> order;
  auto narrow = [](int64_t a) { return static_cast<int>(std::clamp<int64_t>(a, INT32_MIN, INT32_MAX)); };
  for (int64_t a : axes) order.push_back(check_axis("trans", shape, narrow(a)));
  for (int k = rank; axes.empty() && k-- > 0;) order.push_back(k);
  uint32_t seen = 0;
  for (int a : order) seen |= 1u << a;
  if (static_cast<int>(order.size()) != rank || seen != (1u << rank) - 1)
    user_error("trans: axes ({}) are no permutation of those of a tile of shape {}", fmt::join(axes, ", "), to_string(shape));
  return w.b.trans(v, order);
}

ir::Value permute(Writer& w, const Term& x, std::span<const int64_t> axes) {
  if (axes.empty() && w.shape_of(x).rank() > 0)
    user_error("permute: no axes are named for a tile of shape {}", to_string(w.shape_of(x)));
  return trans(w, x, axes);
}

ir::Value flip(Writer& w, const Term& x, int axis) {
  ir::Value v = w.node(x);
  return flipped(w.b, v, check_axis("flip", w.type(v).shape, axis));
}

// --- several tiles

ir::Value join(Writer& w, const Term& a, const Term& b) {
  auto [x, y] = broadcast_pair(w, a, b);
  Expr which = Expr{&w, arange(w, 0, 2)} == 0;
  return where(w, which.term, expand_dims(w, x, -1), expand_dims(w, y, -1));
}

std::array<ir::Value, 2> split(Writer& w, const Term& x) {
  Builder& b = w.b;
  ir::Value v = w.node(x);
  Shape shape = w.type(v).shape;
  const int last = shape.rank() - 1;
  if (last < 0 || shape[last] != 2) user_error("split: a tile of shape {}, expected a last axis of size 2", to_string(shape));
  Shape half = shape;
  half[last] = 1;
  shape.erase(last);
  auto take = [&](int which) {
    ir::Value index = b.constant_int(ir::Type::tile(DType::I32, half), which);
    return b.reshape(b.gather(v, index, last), shape);
  };
  return {take(0), take(1)};
}

ir::Value interleave(Writer& w, const Term& a, const Term& b) {
  ir::Value pairs = join(w, a, b);
  Shape shape = w.type(pairs).shape;
  const int last = shape.rank() - 1;
  if (last == 0) return pairs;
  shape.erase(last);
  shape[last - 1] *= 2;
  return w.b.reshape(pairs, shape);
}

ir::Value cat(Writer& w, const Term& a, const Term& b, int axis) {
  Shape shape = w.shape_of(a);
  if (shape != w.shape_of(b))
    user_error("cat: tiles of shapes {} and {}, expected the same shape", to_string(shape), to_string(w.shape_of(b)));
  const int at = check_axis("cat", shape, axis);
  ir::Value x = expand_dims(w, a, at), y = expand_dims(w, b, at);
  Shape pair = shape;
  pair.insert(at, 2);
  Expr which = Expr{&w, numbers_along(w.b, pair, at)} == 0;
  shape[at] *= 2;
  return w.b.reshape(where(w, which.term, x, y), shape);
}

ir::Value gather(Writer& w, const Term& x, const Term& index, int axis) {
  Builder& b = w.b;
  ir::Value v = w.node(x);
  const Shape shape = w.type(v).shape;
  const int at = check_axis("gather", shape, axis);
  ir::Value i = w.node(index);
  const ir::Type given = w.type(i);
  if (!is_int(given.dtype) || given.is_pointer()) user_error("gather: the index is {}, expected integers", to_string(given));
  Shape result = shape;
  if (given.shape.rank() == shape.rank()) result[at] = given.shape[at];
  if (given.shape.rank() != shape.rank() || !broadcasts_to(given.shape, result))
    user_error("gather: the index has shape {}, expected that of the tile, {}, but for axis {}", to_string(given.shape),
               to_string(shape), at);
  ir::Value known = index_below(b, broadcast(b, i, result), shape[at]);
  auto number = [&](int64_t n) { return b.constant_int(w.type(known), n); };
  ir::Value element = b.gather(v, b.binary(Op::Maximum, known, number(0)), at);
  return b.where(b.binary(Op::Ge, known, number(0)), element, b.constant_bits(w.type(element), 0));
}

// --- what these are composed of

int check_axis(std::string_view what, const Shape& shape, int axis) {
  int from_front = axis < 0 ? axis + shape.rank() : axis;
  if (from_front < 0 || from_front >= shape.rank())
    user_error("{}: axis {} is out of range for a tile of shape {}", what, axis, to_string(shape));
  return from_front;
}

ir::Value broadcast(Builder& b, ir::Value v, const Shape& shape) {
  if (b.type(v).is_scalar()) return b.broadcast(v, shape);
  while (b.type(v).shape.rank() < shape.rank()) v = b.expand_dims(v, 0);
  return b.broadcast(v, shape);
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  bool fits = from.rank() <= to.rank();
  for (int k = 1; fits && k <= from.rank(); ++k) {
    int64_t size = from[from.rank() - k];
    fits = size == 1 || size == to[to.rank() - k];
  }
  return fits;
}

ir::Value numbers_along(Builder& b, const Shape& shape, int axis) {
  ir::Value v = b.arange(DType::I32, 0, shape[axis]);
  for (int k = 0; k < shape.rank(); ++k)
    if (k != axis) v = b.expand_dims(v, k);
  return b.broadcast(v, shape);
}

ir::Value flipped(Builder& b, ir::Value v, int axis) {
  const Shape shape = b.type(v).shape;
  ir::Value last = b.constant_int(ir::Type::tile(DType::I32, shape), shape[axis] - 1);
  return b.gather(v, b.sub(last, numbers_along(b, shape, axis)), axis);
}

ir::Value index_below(Builder& b, ir::Value v, int64_t size) {
  DType dtype = b.type(v).dtype;
  if (bits_of(dtype) < 32) v = b.cast(v, DType::I32);
  if (dtype == DType::U32) v = b.cast(v, DType::I64);
  const ir::Type type = b.type(v);
  auto number = [&](int64_t n) { return b.constant_int(type, n); };
  ir::Value inside = b.binary(Op::And, b.binary(Op::Ge, v, number(0)), b.binary(Op::Lt, v, number(size)));
  ir::Value index = b.cast(v, DType::I32);
  return b.where(inside, index, b.constant_int(b.type(index), -1));
}

}  // namespace strider::front
