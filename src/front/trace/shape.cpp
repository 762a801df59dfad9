// SPDX-License-Identifier: Apache-2.0
// The tile language's operations that put tiles together, take them apart and reorder them.
#include "front/trace/shape.h"

#include <numeric>

#include "front/trace/trace.h"
#include "ir/promote.h"

namespace strider {
namespace front {

using ir::Builder;
using ir::Op;

ir::Value numbers_along(Builder& b, const ir::Shape& shape, int axis) {
  ir::Value v = b.arange(DType::I32, 0, shape[axis]);
  for (int k = 0; k < shape.rank(); ++k)
    if (k != axis) v = b.expand_dims(v, k);
  return b.broadcast(v, shape);
}

ir::Value flipped(Builder& b, ir::Value v, int axis) {
  const ir::Shape shape = b.type(v).shape;
  ir::Value last = b.constant_int(ir::Type::tile(DType::I32, shape), shape[axis] - 1);
  return b.gather(v, b.sub(last, numbers_along(b, shape, axis)), axis);
}

bool broadcasts_to(const ir::Shape& from, const ir::Shape& to) {
  bool fits = from.rank() <= to.rank();
  for (int k = 1; fits && k <= from.rank(); ++k) {
    int64_t size = from[from.rank() - k];
    fits = size == 1 || size == to[to.rank() - k];
  }
  return fits;
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

}  // namespace front

inline namespace v0 {
namespace tl {

using front::Trace;
using ir::Op;

namespace {

/// Runs `make(builder, node of x)` at the place of x.
template <class Make>
Value shaped(const Operand& x, Make&& make) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] { return trace.wrap(make(trace.b, trace.node(x.value))); });
}

}  // namespace

Value permute(const Operand& x, const Dims& axes) {
  if (axes.rank() > 0 || x.value.shape().rank() == 0) return trans(x, axes);
  return Trace::current().at(x.where, [&]() -> Value {
    user_error("permute: no axes are named for a tile of shape {}", to_string(front::shape_of(x.value.shape())));
  });
}

Value ravel(const Operand& x) {
  return shaped(x, [](ir::Builder& b, ir::Value v) { return b.reshape(v, {b.type(v).elements()}); });
}

std::pair<Value, Value> broadcast(const Operand& a, const Operand& b) {
  Trace& trace = Trace::current();
  return trace.at(a.where, [&] {
    ir::Value x = trace.node(a.value), y = trace.node(b.value);
    ir::Shape shape = front::common_shape(trace.b.type(x).shape, trace.b.type(y).shape);
    return std::pair(trace.wrap(front::broadcast(trace.b, x, shape)), trace.wrap(front::broadcast(trace.b, y, shape)));
  });
}

Value zeros_like(const Operand& x) { return full_like(x, Operand(false, x.where)); }
Value full_like(const Operand& x, const Operand& value) { return full(x.value.shape(), value, x.value.dtype()); }

Value join(const Operand& a, const Operand& b) {
  return Trace::current().at(a.where, [&] {
    auto [x, y] = broadcast(a, b);
    return strider::where(arange(0, 2, a.where) == 0, expand_dims(x, -1), expand_dims(y, -1));
  });
}

std::array<Value, 2> split(const Operand& x) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] {
    ir::Builder& b = trace.b;
    ir::Value v = trace.node(x.value);
    ir::Shape shape = b.type(v).shape;
    const int last = shape.rank() - 1;
    if (last < 0 || shape[last] != 2) user_error("split: a tile of shape {}, expected a last axis of size 2", to_string(shape));
    ir::Shape half = shape;
    half[last] = 1;
    shape.erase(last);
    auto take = [&](int which) {
      ir::Value index = b.constant_int(ir::Type::tile(DType::I32, half), which);
      return trace.wrap(b.reshape(b.gather(v, index, last), shape));
    };
    return std::array{take(0), take(1)};
  });
}

Value interleave(const Operand& a, const Operand& b) {
  return Trace::current().at(a.where, [&] {
    Value pairs = join(a, b);
    Dims shape = pairs.shape();
    const int last = shape.rank() - 1;
    if (last > 0) shape[last - 1] *= 2;
    return last > 0 ? reshape(pairs, Dims(shape.data(), static_cast<size_t>(last))) : pairs;
  });
}

Value cat(const Operand& a, const Operand& b, int axis) {
  Trace& trace = Trace::current();
  return trace.at(a.where, [&] {
    ir::Shape shape = front::shape_of(a.value.shape());
    if (shape != front::shape_of(b.value.shape()))
      user_error("cat: tiles of shapes {} and {}, expected the same shape", to_string(shape),
                 to_string(front::shape_of(b.value.shape())));
    const int at = front::check_axis("cat", shape, axis);
    Value x = expand_dims(a, at), y = expand_dims(b, at);
    ir::Shape pair = shape;
    pair.insert(at, 2);
    Value which = trace.wrap(front::numbers_along(trace.b, pair, at));
    shape[at] *= 2;
    return reshape(strider::where(which == 0, x, y), Dims(shape.dims()));
  });
}

Value flip(const Operand& x, int axis) {
  return shaped(x, [&](ir::Builder& b, ir::Value v) {
    return front::flipped(b, v, front::check_axis("flip", b.type(v).shape, axis));
  });
}

Value gather(const Operand& x, const Operand& index, int axis) {
  return shaped(x, [&](ir::Builder& b, ir::Value v) {
    const ir::Shape shape = b.type(v).shape;
    const int at = front::check_axis("gather", shape, axis);
    ir::Value i = Trace::current().node(index.value);
    const ir::Type given = b.type(i);
    if (!is_int(given.dtype) || given.is_pointer()) user_error("gather: the index is {}, expected integers", to_string(given));
    ir::Shape result = shape;
    if (given.shape.rank() == shape.rank()) result[at] = given.shape[at];
    if (given.shape.rank() != shape.rank() || !front::broadcasts_to(given.shape, result))
      user_error("gather: the index has shape {}, expected that of the tile, {}, but for axis {}", to_string(given.shape),
                 to_string(shape), at);
    ir::Value known = front::index_below(b, front::broadcast(b, i, result), shape[at]);
    auto number = [&](int64_t n) { return b.constant_int(b.type(known), n); };
    ir::Value element = b.gather(v, b.binary(Op::Maximum, known, number(0)), at);
    return b.where(b.binary(Op::Ge, known, number(0)), element, b.constant_bits(b.type(element), 0));
  });
}

StaticRange static_range(int64_t begin, int64_t end, int64_t step, Place where) {
  if (step == 0) Trace::current().at(where, [&] { user_error("static_range({}, {}, 0): the step is 0", begin, end); });
  return {begin, end, step};
}

}  // namespace tl
}  // namespace v0
}  // namespace strider
