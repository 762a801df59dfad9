// SPDX-License-Identifier: Apache-2.0
// Combine functions of the library are written in the IR, so that they belong to the user's line like everything around them.
#include "front/lang/fold.h"

#include <algorithm>

#include "front/lang/shape.h"
#include "ir/promote.h"

namespace strider::front {

using ir::Builder;
using ir::Op;

namespace {

using Nodes = Builder::Values;

// --- what folds have in common

/// `tiles` folded along an axis, or one axis after the other from the last on.
Nodes reduce_nodes(Writer& w, std::string_view what, Nodes tiles, Axis axis, bool keep_dims, const Builder::RegionFn& combine) {
  const ir::Shape shape = w.type(tiles[0]).shape;
  if (axis) {
    int at = check_axis(what, shape, *axis);
    tiles = w.b.reduce(tiles, at, combine);
    if (keep_dims)
      for (ir::Value& v : tiles) v = w.b.expand_dims(v, at);
    return tiles;
  }
  for (int k = shape.rank(); k-- > 0;) tiles = w.b.reduce(tiles, k, combine);
  for (int k = 0; keep_dims && k < shape.rank(); ++k)
    for (ir::Value& v : tiles) v = w.b.expand_dims(v, 0);
  return tiles;
}

/// Reversed: the scan of the flipped tiles, flipped back.
Nodes scan_nodes(Writer& w, std::string_view what, Nodes tiles, int axis, bool reverse, const Builder::RegionFn& combine) {
  int at = check_axis(what, w.type(tiles[0]).shape, axis);
  auto turn = [&] {
    if (reverse)
      for (ir::Value& v : tiles) v = flipped(w.b, v, at);
  };
  turn();
  tiles = w.b.scan(tiles, at, combine);
  turn();
  return tiles;
}

Builder::RegionFn by(Writer& w, Op op) {
  return [&w, op](std::span<const ir::Value> p) { return Nodes{w.b.binary(op, p[0], p[1])}; };
}

/// Folds of numbers by one op: its errors would name that op, which the user did not write.
void check_folds(const Writer& w, std::string_view what, Op op, ir::Value v) {
  if (w.type(v).dtype == DType::Bool && (op == Op::Add || op == Op::Mul))
    user_error("{}: the dtype is bool, expected one of numbers", what);
}

ir::Value reduced(Writer& w, std::string_view what, ir::Value v, Axis axis, bool keep_dims, Op op) {
  check_folds(w, what, op, v);
  return reduce_nodes(w, what, {v}, axis, keep_dims, by(w, op))[0];
}
ir::Value running(Writer& w, std::string_view what, ir::Value v, int axis, bool reverse, Op op) {
  check_folds(w, what, op, v);
  return scan_nodes(w, what, {v}, axis, reverse, by(w, op))[0];
}

/// The dtype in which elements of another one are summed and multiplied.
DType sum_dtype(DType dtype) {
  if (bits_of(dtype) >= 32 || is_float(dtype)) return dtype;
  return is_unsigned_int(dtype) ? DType::U32 : DType::I32;
}

// --- combine functions of the user's

/// What a combine function returned: a scalar for each tile, of its dtype.
Nodes combined(Writer& w, std::string_view what, const std::vector<Term>& terms, const std::vector<ir::Type>& elements) {
  if (terms.size() != elements.size())
    user_error("{}: combine returns {} values for {} tiles", what, terms.size(), elements.size());
  Nodes result;
  for (size_t k = 0; k < elements.size(); ++k) {
    result.push_back(w.node_for(terms[k], elements[k]));
    if (w.type(result[k]) != elements[k])
      user_error("{}: combine returns {} as value {} for a tile of {}; they must agree: convert it with .to(st::{})", what,
                 to_string(w.type(result[k])), k, to_string(elements[k]), ir::constant_of(elements[k].dtype));
  }
  return result;
}

/// The op, or what the user wrote where it stands for that: prints, assertions and taps are stores and atomics to hidden memory.
std::string_view name_in_source(const Writer& w, ir::Value v) {
  const ir::Function& f = w.b.function();
  if (!has(f[v].op, ir::Reads | ir::Writes)) return ir::name_of(f[v].op, f[v].imm);
  ir::Value root = f.operand(v, 0);
  while (f[root].op == Op::PtrAdd || has(f[root].op, ir::Shapes)) root = f.operand(root, 0);
  const auto& hidden = w.effects.hidden_nodes;
  bool is_effect = std::find(hidden.begin(), hidden.end(), root) != hidden.end();
  return is_effect ? "device_assert, print or tap" : ir::name_of(f[v].op, f[v].imm);
}

/// A combine function has scalars, pointwise operations and control flow. What else was written in it is a user error.
void check_combine(const Writer& w, std::string_view what, std::span<const ir::Value> body) {
  const ir::Function& f = w.b.function();
  constexpr Op kFine[] = {Op::For, Op::While, Op::If, Op::Yield, Op::Result, Op::Constant, Op::ProgramId, Op::NumPrograms};
  for (ir::Value v : body) {
    const ir::Node& node = f[v];
    const bool fine = ir::is_pointwise(node.op) || std::find(std::begin(kFine), std::end(kFine), node.op) != std::end(kFine);
    if (!fine || (!node.type.is_void && !node.type.is_scalar()))
      user_error("{}: its combine function holds `{}`{}, but may only compute on scalars: do this before or after the {}", what,
                 name_in_source(w, v), f.span(v).line ? fmt::format(" (line {})", f.span(v).line) : "", what);
    for (int k = 0; k < node.region_count; ++k) check_combine(w, what, f.region(v, k).body);
  }
}

Builder::RegionFn combine_region(Writer& w, std::string_view what, const Nodes& tiles, const Combine& combine) {
  std::vector<ir::Type> elements;
  for (ir::Value v : tiles) elements.push_back(w.type(v).with_shape({}));
  return [&w, &combine, what, elements](std::span<const ir::Value> params) {
    w.enter();
    Nodes results = combined(w, what, combine(params), elements);
    check_combine(w, what, w.b.open_body());
    w.leave();
    return results;
  };
}

Nodes nodes_of(Writer& w, std::span<const Term> terms) {
  Nodes result;
  for (const Term& t : terms) result.push_back(w.node(t));
  return result;
}

// --- the extreme element and its index

/// Whether element w should take the place of v; equal ones are left to their indices.
struct Order {
  ir::Value better, equal;
};
Order order_of(Builder& b, bool largest, bool drops_nan, ir::Value v, ir::Value w) {
  Order order{b.binary(largest ? Op::Gt : Op::Lt, w, v), b.binary(Op::Eq, v, w)};
  if (!is_float(b.type(v).dtype)) return order;
  ir::Value v_is_nan = b.unary(Op::IsNan, v), w_is_nan = b.unary(Op::IsNan, w);
  ir::Value one = b.binary(Op::And, drops_nan ? v_is_nan : w_is_nan, b.unary(Op::Not, drops_nan ? w_is_nan : v_is_nan));
  return {b.binary(Op::Or, order.better, one), b.binary(Op::Or, order.equal, b.binary(Op::And, v_is_nan, w_is_nan))};
}

std::array<ir::Value, 2> extreme_with_index(Writer& w, std::string_view what, bool largest, const Term& x, Axis axis,
                                            const ExtremeRule& rule) {
  Builder& b = w.b;
  ir::Value tile = w.node(x);
  const int rank = b.type(tile).shape.rank();
  if (!axis) tile = b.reshape(tile, {b.type(tile).elements()});
  int at = check_axis(what, b.type(tile).shape, axis.value_or(0));
  auto combine = [&](std::span<const ir::Value> p) {
    Order order = order_of(b, largest, rule.drop_nan, p[0], p[2]);
    ir::Value first = b.binary(rule.highest_index ? Op::Gt : Op::Lt, p[3], p[1]);
    ir::Value right = b.binary(Op::Or, order.better, b.binary(Op::And, order.equal, first));
    return Nodes{b.where(right, p[2], p[0]), b.where(right, p[3], p[1])};
  };
  Nodes tiles{tile, numbers_along(b, b.type(tile).shape, at)};
  tiles = reduce_nodes(w, what, tiles, at, axis && rule.keep_dims, combine);
  for (int k = 0; !axis && rule.keep_dims && k < rank; ++k)
    for (ir::Value& v : tiles) v = b.expand_dims(v, 0);
  return {tiles[0], tiles[1]};
}

}  // namespace

// --- by a combine function

std::vector<ir::Value> reduce(Writer& w, std::span<const Term> tiles, Axis axis, bool keep_dims, const Combine& combine) {
  Nodes inputs = nodes_of(w, tiles);
  return reduce_nodes(w, "reduce", inputs, axis, keep_dims, combine_region(w, "reduce", inputs, combine));
}

std::vector<ir::Value> associative_scan(Writer& w, std::span<const Term> tiles, int axis, bool reverse, const Combine& combine) {
  Nodes inputs = nodes_of(w, tiles);
  return scan_nodes(w, "associative_scan", inputs, axis, reverse, combine_region(w, "associative_scan", inputs, combine));
}

// --- by name

ir::Value sum(Writer& w, const Term& x, Axis axis, bool keep_dims, std::optional<DType> dtype) {
  ir::Value v = w.node(x);
  return reduced(w, "sum", w.b.cast(v, dtype ? *dtype : sum_dtype(w.type(v).dtype)), axis, keep_dims, Op::Add);
}

ir::Value prod(Writer& w, const Term& x, Axis axis, bool keep_dims, std::optional<DType> dtype) {
  ir::Value v = w.node(x);
  return reduced(w, "prod", w.b.cast(v, dtype ? *dtype : sum_dtype(w.type(v).dtype)), axis, keep_dims, Op::Mul);
}

ir::Value any(Writer& w, const Term& x, Axis axis, bool keep_dims) {
  return reduced(w, "any", w.b.cast(w.node(x), DType::Bool), axis, keep_dims, Op::Or);
}

ir::Value all(Writer& w, const Term& x, Axis axis, bool keep_dims) {
  return reduced(w, "all", w.b.cast(w.node(x), DType::Bool), axis, keep_dims, Op::And);
}

ir::Value xor_sum(Writer& w, const Term& x, Axis axis, bool keep_dims) {
  ir::Value v = w.node(x);
  DType dtype = w.type(v).dtype;
  if (is_float(dtype)) user_error("xor_sum: the tile is {}, expected integers or bool", strider::name_of(dtype));
  return reduced(w, "xor_sum", v, axis, keep_dims, Op::Xor);
}

ir::Value max(Writer& w, const Term& x, Axis axis, const ExtremeRule& rule) {
  return reduced(w, "max", w.node(x), axis, rule.keep_dims, rule.drop_nan ? Op::FMax : Op::Maximum);
}

ir::Value min(Writer& w, const Term& x, Axis axis, const ExtremeRule& rule) {
  return reduced(w, "min", w.node(x), axis, rule.keep_dims, rule.drop_nan ? Op::FMin : Op::Minimum);
}

std::array<ir::Value, 2> max_with_index(Writer& w, std::string_view what, const Term& x, Axis axis, const ExtremeRule& rule) {
  return extreme_with_index(w, what, true, x, axis, rule);
}

std::array<ir::Value, 2> min_with_index(Writer& w, std::string_view what, const Term& x, Axis axis, const ExtremeRule& rule) {
  return extreme_with_index(w, what, false, x, axis, rule);
}

ir::Value cumsum(Writer& w, const Term& x, int axis, bool reverse, std::optional<DType> dtype) {
  ir::Value v = w.node(x);
  DType own = w.type(v).dtype;
  DType wanted = dtype ? *dtype : own == DType::BF16 ? DType::F32 : sum_dtype(own);
  return running(w, "cumsum", w.b.cast(v, wanted), axis, reverse, Op::Add);
}

ir::Value cumprod(Writer& w, const Term& x, int axis, bool reverse) {
  ir::Value v = w.node(x);
  DType own = w.type(v).dtype;
  DType wanted = own == DType::BF16 ? DType::F32 : own == DType::Bool ? DType::I32 : own;
  return running(w, "cumprod", w.b.cast(v, wanted), axis, reverse, Op::Mul);
}

}  // namespace strider::front
