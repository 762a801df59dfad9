// SPDX-License-Identifier: Apache-2.0
// The tile language's reductions and scans.
//
// Combine functions of the library are written in the IR, so that they belong to the user's line like everything around them.
#include <algorithm>

#include "front/trace/body.h"
#include "front/trace/shape.h"
#include "front/trace/trace.h"
#include "ir/promote.h"

namespace strider {
inline namespace v0 {

using front::Trace;
using ir::Builder;
using ir::Op;

namespace {

using Nodes = Builder::Values;
using Axis = std::optional<int>;  // none: all of them

/// `tiles` folded along an axis, or one axis after the other from the last on.
Nodes reduce_nodes(Trace& trace, std::string_view what, Nodes tiles, Axis axis, bool keep_dims,
                   const Builder::RegionFn& combine) {
  const ir::Shape shape = trace.b.type(tiles[0]).shape;
  if (axis) {
    int at = front::check_axis(what, shape, *axis);
    tiles = trace.b.reduce(tiles, at, combine);
    if (keep_dims)
      for (ir::Value& v : tiles) v = trace.b.expand_dims(v, at);
    return tiles;
  }
  for (int k = shape.rank(); k-- > 0;) tiles = trace.b.reduce(tiles, k, combine);
  for (int k = 0; keep_dims && k < shape.rank(); ++k)
    for (ir::Value& v : tiles) v = trace.b.expand_dims(v, 0);
  return tiles;
}

Builder::RegionFn by(Trace& trace, Op op) {
  return [&trace, op](std::span<const ir::Value> p) { return Nodes{trace.b.binary(op, p[0], p[1])}; };
}

/// The dtype in which elements of another one are summed and multiplied.
DType sum_dtype(DType dtype) {
  if (bits_of(dtype) >= 32 || is_float(dtype)) return dtype;
  return is_unsigned_int(dtype) ? DType::U32 : DType::I32;
}

Value reduced(const Operand& x, std::string_view what, Axis axis, bool keep_dims, Op op, std::optional<DType> dtype = {}) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] {
    ir::Value v = trace.node(x.value);
    if (dtype) v = trace.b.cast(v, *dtype);
    return trace.wrap(reduce_nodes(trace, what, {v}, axis, keep_dims, by(trace, op))[0]);
  });
}

Value total(const Operand& x, std::string_view what, Axis axis, const tl::SumOptions& options, Op op) {
  return reduced(x, what, axis, options.keep_dims, op, options.dtype ? *options.dtype : sum_dtype(x.value.dtype()));
}

// --- the extreme element and its index

struct Extreme {
  std::string_view what;
  bool largest;
};

/// Whether element w should take the place of v; equal ones are left to their indices.
struct Order {
  ir::Value better, equal;
};
Order order_of(Builder& b, const Extreme& extreme, tl::nan nans, ir::Value v, ir::Value w) {
  Order order{b.binary(extreme.largest ? Op::Gt : Op::Lt, w, v), b.binary(Op::Eq, v, w)};
  if (!is_float(b.type(v).dtype)) return order;
  ir::Value v_is_nan = b.unary(Op::IsNan, v), w_is_nan = b.unary(Op::IsNan, w);
  bool carries = nans == tl::nan::carry;
  ir::Value one = b.binary(Op::And, carries ? w_is_nan : v_is_nan, b.unary(Op::Not, carries ? v_is_nan : w_is_nan));
  return {b.binary(Op::Or, order.better, one), b.binary(Op::Or, order.equal, b.binary(Op::And, v_is_nan, w_is_nan))};
}

std::array<Value, 2> extreme_with_index(const Operand& x, Axis axis, const tl::ExtremeOptions& options, const Extreme& extreme) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] {
    Builder& b = trace.b;
    ir::Value tile = trace.node(x.value);
    const int rank = b.type(tile).shape.rank();
    if (!axis) tile = b.reshape(tile, {b.type(tile).elements()});
    int at = front::check_axis(extreme.what, b.type(tile).shape, axis.value_or(0));
    auto combine = [&](std::span<const ir::Value> p) {
      Order order = order_of(b, extreme, options.nans, p[0], p[2]);
      ir::Value first = b.binary(options.ties == tl::tie::lowest ? Op::Lt : Op::Gt, p[3], p[1]);
      ir::Value right = b.binary(Op::Or, order.better, b.binary(Op::And, order.equal, first));
      return Nodes{b.where(right, p[2], p[0]), b.where(right, p[3], p[1])};
    };
    Nodes tiles{tile, front::numbers_along(b, b.type(tile).shape, at)};
    tiles = reduce_nodes(trace, extreme.what, tiles, at, axis && options.keep_dims, combine);
    for (int k = 0; !axis && options.keep_dims && k < rank; ++k)
      for (ir::Value& v : tiles) v = b.expand_dims(v, 0);
    return std::array{trace.wrap(tiles[0]), trace.wrap(tiles[1])};
  });
}

// --- scans

/// With `reverse`, the scan of the flipped tiles, flipped back.
Nodes scan_nodes(Trace& trace, std::string_view what, Nodes tiles, int axis, bool reverse, const Builder::RegionFn& combine) {
  Builder& b = trace.b;
  int at = front::check_axis(what, b.type(tiles[0]).shape, axis);
  if (reverse)
    for (ir::Value& v : tiles) v = front::flipped(b, v, at);
  tiles = b.scan(tiles, at, combine);
  if (reverse)
    for (ir::Value& v : tiles) v = front::flipped(b, v, at);
  return tiles;
}

Value running(const Operand& x, std::string_view what, int axis, bool reverse, DType dtype, Op op) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] {
    ir::Value v = trace.b.cast(trace.node(x.value), dtype);
    return trace.wrap(scan_nodes(trace, what, {v}, axis, reverse, by(trace, op))[0]);
  });
}

}  // namespace

namespace detail {

namespace {

/// What a combine function returned: a scalar for each tile, of its dtype.
Nodes combined(Trace& trace, std::string_view what, const Values& values, const std::vector<ir::Type>& elements) {
  if (values.size() != elements.size())
    user_error("{}: combine returns {} values for {} tiles", what, values.size(), elements.size());
  Nodes result;
  for (size_t k = 0; k < elements.size(); ++k) {
    result.push_back(front::adapted(trace, values[k], elements[k]));
    if (trace.b.type(result[k]) != elements[k])
      user_error("{}: combine returns {} as value {} for a tile of {}; they must agree: convert with .to()", what,
                 to_string(trace.b.type(result[k])), k, to_string(elements[k]));
  }
  return result;
}

/// A combine function has scalars, pointwise operations and control flow. What else was written in it is a user error.
void check_combine(const ir::Function& f, std::string_view what, std::span<const ir::Value> body) {
  constexpr Op kFine[] = {Op::For, Op::While, Op::If, Op::Yield, Op::Result, Op::Constant, Op::ProgramId, Op::NumPrograms};
  for (ir::Value v : body) {
    const ir::Node& node = f[v];
    const bool fine = ir::is_pointwise(node.op) || std::find(std::begin(kFine), std::end(kFine), node.op) != std::end(kFine);
    if (!fine || (!node.type.is_void && !node.type.is_scalar()))
      user_error("{}: its combine function holds `{}`{}, but may only compute on scalars: do this before or after the {}", what,
                 ir::name_of(node.op, node.imm), f.span(v).line ? fmt::format(" (line {})", f.span(v).line) : "", what);
    for (int k = 0; k < node.region_count; ++k) check_combine(f, what, f.region(v, k).body);
  }
}

Builder::RegionFn combine_region(Trace& trace, std::string_view what, const Nodes& tiles, const Body& combine) {
  std::vector<ir::Type> elements;
  for (ir::Value v : tiles) elements.push_back(trace.b.type(v).with_shape({}));
  return front::region(trace, combine, [&trace, what, elements](const Values& v) {
    Nodes results = combined(trace, what, v, elements);
    check_combine(trace.b.function(), what, trace.b.open_body());
    return results;
  });
}

}  // namespace

Values trace_reduce(const Values& tiles, std::optional<int> axis, bool keep_dims, const Body& combine, Place where) {
  Trace& trace = Trace::current();
  return trace.at(where, [&] {
    Nodes inputs = front::nodes(trace, tiles);
    Builder::RegionFn body = combine_region(trace, "reduce", inputs, combine);
    return front::wrapped(trace, reduce_nodes(trace, "reduce", inputs, axis, keep_dims, body));
  });
}

Values trace_scan(const Values& tiles, int axis, bool reverse, const Body& combine, Place where) {
  Trace& trace = Trace::current();
  return trace.at(where, [&] {
    Nodes inputs = front::nodes(trace, tiles);
    Builder::RegionFn body = combine_region(trace, "associative_scan", inputs, combine);
    return front::wrapped(trace, scan_nodes(trace, "associative_scan", inputs, axis, reverse, body));
  });
}

}  // namespace detail

namespace tl {

Value sum(const Operand& x, FoldAxis axis, const SumOptions& options) {
  return total(x, "sum", axis.number(), options, Op::Add);
}
Value prod(const Operand& x, FoldAxis axis, const SumOptions& options) {
  return total(x, "prod", axis.number(), options, Op::Mul);
}

Value max(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return reduced(x, "max", axis.number(), options.keep_dims, options.nans == nan::carry ? Op::Maximum : Op::FMax);
}
Value min(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return reduced(x, "min", axis.number(), options.keep_dims, options.nans == nan::carry ? Op::Minimum : Op::FMin);
}

std::array<Value, 2> max_with_indices(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return extreme_with_index(x, axis.number(), options, {"max_with_indices", true});
}
std::array<Value, 2> min_with_indices(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return extreme_with_index(x, axis.number(), options, {"min_with_indices", false});
}
Value argmax(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return extreme_with_index(x, axis.number(), options, {"argmax", true})[1];
}
Value argmin(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return extreme_with_index(x, axis.number(), options, {"argmin", false})[1];
}

Value any(const Operand& x, FoldAxis axis, bool keep) { return reduced(x, "any", axis.number(), keep, Op::Or, DType::Bool); }
Value all(const Operand& x, FoldAxis axis, bool keep) { return reduced(x, "all", axis.number(), keep, Op::And, DType::Bool); }

Value xor_sum(const Operand& x, FoldAxis axis, bool keep) {
  return Trace::current().at(x.where, [&] {
    if (is_float(x.value.dtype())) user_error("xor_sum: the tile is {}, expected integers or bool", name_of(x.value.dtype()));
    return reduced(x, "xor_sum", axis.number(), keep, Op::Xor);
  });
}

Value cumsum(const Operand& x, int axis, bool reverse, std::optional<DType> dtype) {
  DType own = x.value.dtype();
  DType wanted = dtype ? *dtype : own == DType::BF16 ? DType::F32 : sum_dtype(own);
  return running(x, "cumsum", axis, reverse, wanted, Op::Add);
}

Value cumprod(const Operand& x, int axis, bool reverse) {
  DType own = x.value.dtype();
  DType wanted = own == DType::BF16 ? DType::F32 : own == DType::Bool ? DType::I32 : own;
  return running(x, "cumprod", axis, reverse, wanted, Op::Mul);
}

}  // namespace tl
}  // namespace v0
}  // namespace strider
