// SPDX-License-Identifier: Apache-2.0
#include "lowering/random_program.h"

#include <random>

#include "base/error.h"
#include "ir/builder.h"

namespace strider::lowering {

namespace {

using ir::AtomicKind;
using ir::Builder;
using ir::Op;
using ir::Shape;
using ir::Type;
using Node = ir::Value;

constexpr int kMostDepth = 3;          // of loops and branches
constexpr int kMostPrograms = 3;
constexpr int64_t kSlack = 9;  // elements behind the last segment, for aliases that begin later

/// Shapes of one program have one of two counts of elements, so that tiles can be reshaped into each other.
const std::vector<std::vector<Shape>> kShapes = {
    {{1}, {1, 1}},
    {{33}, {3, 11}, {11, 3}, {1, 33}},
    {{64}, {8, 8}, {4, 16}, {2, 4, 8}, {64, 1}},
    {{100}, {10, 10}, {4, 25}, {5, 2, 10}},
    {{257}, {257, 1}},
    {{128}, {16, 8}, {128, 1}, {4, 4, 8}, {2, 2, 4, 8}},
    {{512}, {32, 16}, {8, 64}, {8, 8, 8}},
    {{2048}, {64, 32}, {16, 128}},
};

const DType kDTypes[] = {DType::Bool, DType::I8,  DType::I16, DType::I32,  DType::I64, DType::U8,  DType::U16,
                         DType::U32,  DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

bool is_costly(Op op, DType dtype) { return has(op, ir::Approx) || ((op == Op::Rem || op == Op::Remainder) && is_float(dtype)); }

struct Buffer {
  Node pointer;
  DType dtype;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed), b_("random_" + std::to_string(seed)) {}

  Kernel make();

 private:
  // --- choices
  uint64_t below(uint64_t n) { return random_() % n; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& from) { return from[below(from.size())]; }
  DType any_dtype() { return dtypes_[below(dtypes_.size())]; }
  Shape any_shape() { return pick(shapes_); }

  // --- values in scope
  void keep(Node v) { pool_.push_back(v); }
  Node known(const Type& type);
  Node operand(const Type& type);
  Node fresh(const Type& type);
  Node converted(Node v, const Type& type);
  Node index_tile(const Shape& shape);
  Node narrow_product(const Shape& shape);

  // --- memory
  void add_buffers();
  void add_buffer(DType dtype, Argument argument, std::vector<Buffer>& list);
  void add_alias();
  Node segment(const Buffer& buffer);
  Node bijection(const Shape& shape);
  Node column_major(const Shape& shape);
  Node readable(const Shape& shape);
  Node bounded_index(const Shape& shape);
  Node any_mask(const Shape& shape) { return operand(Type::tile(DType::Bool, shape)); }

  // --- statements
  void statements(int count, int depth);
  void statement(int depth);
  void write_pointwise();
  void write_cast();
  void write_load();
  void write_scalar_load();
  void write_store();
  void write_scalar_store();
  void write_shared_update();
  void write_atomic();
  void write_fold(bool scan);
  void write_outer_fold(bool scan);
  void write_pair_fold(bool scan);
  void keep_folded(std::span<const Node> folded, int axis, const Shape& shape);
  void write_shape_change();
  Node index_below(const Shape& shape, int64_t size);
  void write_gather();
  void write_histogram();
  void write_dot();
  void write_for(int depth);
  void write_while(int depth);
  void write_if(int depth);
  Builder::Values body(std::span<const Node> params, const std::vector<Type>& types, int depth);
  std::vector<Type> carried_types();

  std::mt19937_64 random_;
  Builder b_;
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  int64_t elements_ = 0;       // of every tile of full size, and of a program's segment of each buffer
  std::vector<Buffer> buffers_, counters_;
  std::vector<Argument> arguments_;
  std::vector<Node> pool_;
  Grid grid_{1, 1, 1};
};

// --- values

Node Generator::known(const Type& type) {
  std::vector<Node> fitting;
  for (Node v : pool_)
    if (b_.type(v) == type) fitting.push_back(v);
  return fitting.empty() ? Node{} : fitting[std::max(below(fitting.size()), below(fitting.size()))];  // late ones more often
}

Node Generator::index_tile(const Shape& shape) {
  return b_.reshape(b_.arange(DType::I32, 0, shape.elements()), shape);
}

/// Lane numbers times a power of two in 8 or 16 bits, where they wrap.
Node Generator::narrow_product(const Shape& shape) {
  constexpr DType kNarrow[] = {DType::I8, DType::U8, DType::I16, DType::U16};
  DType dtype = kNarrow[below(4)];
  int64_t power = int64_t{1} << below(static_cast<uint64_t>(bits_of(dtype)) - 1);
  return b_.mul(b_.cast(index_tile(shape), dtype), b_.constant_int(Type::tile(dtype, shape), power));
}

Node Generator::converted(Node v, const Type& type) {
  if (b_.type(v).is_scalar()) return b_.broadcast(b_.cast(v, type.dtype), type.shape);
  return b_.cast(v, type.dtype);
}

Node Generator::fresh(const Type& type) {
  if (one_in(3)) return b_.constant(type, static_cast<double>(below(7)) - 2);
  if (type.is_scalar()) return b_.cast(b_.add(b_.program_id(0), b_.i32(1)), type.dtype);
  if (one_in(5)) return converted(narrow_product(type.shape), type);
  Node varied = b_.binary(Op::Rem, index_tile(type.shape), b_.constant(Type::tile(DType::I32, type.shape), static_cast<double>(2 + below(6))));
  return converted(varied, type);
}

/// A value of this type: one at hand, or a conversion of one, or a new one.
Node Generator::operand(const Type& type) {
  if (Node v = known(type); v.valid() && !one_in(8)) return v;
  for (int tries = 0; tries < 4; ++tries) {
    Node v = known(Type::tile(any_dtype(), one_in(4) ? Shape{} : type.shape));
    if (v.valid()) return converted(v, type);
  }
  return fresh(type);
}

// --- memory

void Generator::add_buffer(DType dtype, Argument argument, std::vector<Buffer>& list) {
  std::string name = "arg" + std::to_string(arguments_.size());
  list.push_back({b_.param(Type::pointer(dtype), {.name = name, .divisible = argument.align, .no_alias = argument.no_alias}), dtype});
  arguments_.push_back(std::move(argument));
}

/// A second pointer into the first buffer; of a single program, because segments would overlap.
void Generator::add_alias() {
  DType dtype = buffers_[0].dtype;
  auto offset = static_cast<int64_t>(below(kSlack));
  add_buffer(dtype, {.kind = Argument::Alias, .dtype = dtype, .align = size_of(dtype), .no_alias = false, .of = 0, .offset = offset}, buffers_);
}

void Generator::add_buffers() {
  bool aliases = grid_[0] == 1 && one_in(3);
  for (int k = 0, n = 2 + static_cast<int>(below(4)); k < n; ++k) {
    DType dtype = any_dtype();
    Argument argument{.dtype = dtype, .fill = Fill::Mixed, .count = elements_ * grid_[0] + kSlack};
    if (one_in(3)) argument.align = size_of(dtype);
    argument.no_alias = !(aliases && k == 0) && !one_in(4);
    add_buffer(dtype, std::move(argument), buffers_);
  }
  if (aliases) add_alias();
  add_buffer(DType::I32, zeroed<int>(elements_), counters_);
}

/// The part of a buffer that belongs to this program: no other one touches it.
Node Generator::segment(const Buffer& buffer) {
  return b_.ptr_add(buffer.pointer, b_.mul(b_.program_id(0), b_.i32(elements_)));
}

/// Every index of the segment once: what a store may use.
Node Generator::bijection(const Shape& shape) {
  Node i = shape.rank() == 2 && one_in(3) ? column_major(shape) : index_tile(shape);
  Type type = b_.type(i);
  auto constant = [&](int64_t c) { return b_.constant_int(type, c); };
  auto c = static_cast<int64_t>(below(static_cast<uint64_t>(elements_)));
  switch (below(5)) {
    case 0: return b_.sub(constant(elements_ - 1), i);
    case 1: return b_.binary(Op::Rem, b_.add(i, constant(c)), constant(elements_));
    case 2: return (elements_ & (elements_ - 1)) == 0 ? b_.binary(Op::Xor, i, constant(c)) : i;
    default: return i;
  }
}

/// i + j * rows at row i, column j, as kernels write it: from two ranges.
Node Generator::column_major(const Shape& shape) {
  Node i = b_.broadcast(b_.expand_dims(b_.arange(DType::I32, 0, shape[0]), 1), shape);
  Node j = b_.broadcast(b_.expand_dims(b_.arange(DType::I32, 0, shape[1]), 0), shape);
  return b_.add(i, b_.mul(j, b_.constant_int(b_.type(j), shape[0])));
}

/// What a load may use: any indices inside the segment.
Node Generator::readable(const Shape& shape) {
  Node i = index_tile(shape);
  auto constant = [&](int64_t c) { return b_.constant_int(b_.type(i), c); };
  switch (below(8)) {
    case 0: return bounded_index(shape);
    case 1: return constant(static_cast<int64_t>(below(static_cast<uint64_t>(elements_))));
    case 2: return b_.binary(Op::Div, i, constant(2));
    case 3: return b_.binary(Op::Rem, b_.mul(i, constant(2)), constant(elements_));
    default: return bijection(shape);
  }
}

/// Any index inside the segment, from data.
Node Generator::bounded_index(const Shape& shape) {
  Type wide = Type::tile(DType::U32, shape);
  return b_.binary(Op::Rem, operand(wide), b_.constant_int(wide, elements_));
}

void Generator::write_load() {
  Shape shape = any_shape();
  Node pointer = b_.ptr_add(b_.broadcast(segment(pick(buffers_)), shape), readable(shape));
  Node mask = one_in(2) ? any_mask(shape) : Node{};
  Node other = mask.valid() && one_in(2) ? operand(b_.type(pointer).pointee()) : Node{};
  keep(b_.load(pointer, mask, other));
}

void Generator::write_scalar_load() {
  Node at = b_.ptr_add(segment(pick(buffers_)), bounded_index({}));
  keep(b_.load(at));
}

void Generator::write_store() {
  Shape shape = any_shape();
  const Buffer& buffer = pick(buffers_);
  Node value = operand(Type::tile(buffer.dtype, shape));
  Node pointer = b_.ptr_add(b_.broadcast(segment(buffer), shape), bijection(shape));
  b_.store(pointer, value, one_in(3) ? any_mask(shape) : Node{});
}

/// Lanes share addresses; they all store what they all have loaded there, changed alike.
void Generator::write_shared_update() {
  Shape shape = any_shape();
  const Buffer& buffer = pick(buffers_);
  Node i = index_tile(shape);
  Node shared = b_.binary(one_in(2) ? Op::Div : Op::Rem, i, b_.constant_int(b_.type(i), 2 + static_cast<int64_t>(below(5))));
  Node pointer = b_.ptr_add(b_.broadcast(segment(buffer), shape), shared);
  Node value = b_.load(pointer);
  if (one_in(2)) write_store();
  Node one = b_.constant(b_.type(value), 1);
  b_.store(pointer, buffer.dtype == DType::Bool ? b_.binary(Op::Xor, value, one) : b_.add(value, one));
}

void Generator::write_scalar_store() {
  const Buffer& buffer = pick(buffers_);
  b_.store(b_.ptr_add(segment(buffer), bounded_index({})), operand(Type::scalar(buffer.dtype)), one_in(3) ? any_mask({}) : Node{});
}

void Generator::write_atomic() {
  Shape shape = one_in(3) ? Shape{} : any_shape();
  const Buffer& buffer = counters_[0];
  Node pointer = b_.ptr_add(b_.broadcast(buffer.pointer, shape), bounded_index(shape));
  // One kind in a program, of those whose order does not show.
  constexpr AtomicKind kKinds[] = {AtomicKind::Add, AtomicKind::Max, AtomicKind::Min, AtomicKind::And, AtomicKind::Or, AtomicKind::Xor};
  Node value = operand(Type::tile(buffer.dtype, shape)), mask = one_in(2) ? any_mask(shape) : Node{};
  b_.atomic(kKinds[elements_ % 6], pointer, value, mask);
  if (grid_[0] == 1 && one_in(2)) keep(b_.load(pointer));  // all lanes have added
}

// --- computation

/// Which NaN an operation gives is not specified, so bits of floats are not looked at.
bool is_usable(Op op) { return is_pointwise(op) && op != Op::PtrAdd && op != Op::Call && op != Op::Cast && op != Op::Bitcast; }

void Generator::write_pointwise() {
  Type type = Type::tile(any_dtype(), one_in(6) ? Shape{} : any_shape());
  Op op = ir::op_at(static_cast<int>(below(ir::kOpCount)));
  if (!is_usable(op) || (is_costly(op, type.dtype) && !one_in(6))) return;
  Builder::Values operands;
  for (int k = 0; k < ir::info(op).least; ++k) operands.push_back(operand(op == Op::Where && k == 0 ? type.with_dtype(DType::Bool) : type));
  try {
    keep(b_.emit(op, operands));
  } catch (const Error&) {
    return;  // this op does not take this dtype
  }
}

void Generator::write_cast() {
  Type type = Type::tile(any_dtype(), one_in(4) ? Shape{} : any_shape());
  keep(b_.cast(operand(type), any_dtype()));
}

/// The folded values, and repeated along the axis again.
void Generator::keep_folded(std::span<const Node> folded, int axis, const Shape& shape) {
  for (Node v : folded) {
    if (b_.type(v).is_scalar()) keep(v);
    keep(b_.broadcast(b_.type(v).is_scalar() ? v : b_.expand_dims(v, axis), shape));
  }
}

void Generator::write_fold(bool scan) {
  constexpr Op kNumberFolds[] = {Op::Add, Op::Maximum, Op::Minimum, Op::Mul};
  constexpr Op kBoolFolds[] = {Op::And, Op::Or, Op::Xor};
  Shape shape = any_shape();
  Node tile = operand(Type::tile(any_dtype(), shape));
  int axis = static_cast<int>(below(static_cast<uint64_t>(shape.rank())));
  Op op = b_.type(tile).dtype == DType::Bool ? kBoolFolds[below(3)] : kNumberFolds[below(4)];
  if (scan) keep(b_.scan(tile, axis, op));
  else keep_folded({{b_.reduce(tile, axis, op)}}, axis, shape);
}

/// Of one operand and a scalar from outside: what is given depends on the order.
void Generator::write_outer_fold(bool scan) {
  constexpr Op kOps[] = {Op::Add, Op::Maximum, Op::Minimum, Op::Xor};
  Shape shape = any_shape();
  int axis = static_cast<int>(below(static_cast<uint64_t>(shape.rank())));
  const Node tiles[] = {operand(Type::tile(DType::I32, shape))};
  Node outer = operand(Type::scalar(DType::I32));
  Op op = kOps[below(4)];
  size_t side = below(2);
  auto combine = [&](std::span<const Node> p) { return Builder::Values{b_.binary(op, p[side], outer)}; };
  Builder::Values folded = scan ? b_.scan(tiles, axis, combine) : b_.reduce(tiles, axis, combine);
  if (!scan) return keep_folded(folded, axis, shape);
  keep(folded[0]);
}

/// Two tiles at once; neither the choice nor the difference commutes.
void Generator::write_pair_fold(bool scan) {
  Shape shape = any_shape();
  int axis = static_cast<int>(below(static_cast<uint64_t>(shape.rank())));
  Node first = operand(Type::tile(any_dtype(), shape)), second = operand(Type::tile(DType::I32, shape));
  auto combine = [&](std::span<const Node> p) {
    Node left = b_.binary(Op::Le, p[0], p[2]);
    return Builder::Values{b_.where(left, p[0], p[2]), b_.where(left, b_.sub(p[1], p[3]), p[3])};
  };
  const Node tiles[] = {first, second};
  Builder::Values folded = scan ? b_.scan(tiles, axis, combine) : b_.reduce(tiles, axis, combine);
  if (!scan) return keep_folded(folded, axis, shape);
  for (Node v : folded) keep(v);
}

void Generator::write_shape_change() {
  Shape from = any_shape();
  Node tile = operand(Type::tile(any_dtype(), from));
  if (from.rank() == 2 && one_in(2)) {
    const int axes[] = {1, 0};
    tile = b_.trans(tile, axes);
  }
  keep(b_.reshape(tile, any_shape()));
}

/// Indices from 0 to size - 1.
Node Generator::index_below(const Shape& shape, int64_t size) {
  Node any = b_.cast(operand(Type::tile(DType::I32, shape)), DType::U32);
  return b_.cast(b_.binary(Op::Rem, any, b_.constant_int(b_.type(any), size)), DType::I32);
}

void Generator::write_gather() {
  Shape shape = any_shape();
  int axis = static_cast<int>(below(static_cast<uint64_t>(shape.rank())));
  keep(b_.gather(operand(Type::tile(any_dtype(), shape)), index_below(shape, shape[axis]), axis));
}

/// Of a tile, some of whose lanes count nowhere; and the counts at other lanes.
void Generator::write_histogram() {
  Shape shape = any_shape();
  int64_t bins = one_in(3) ? shape.elements() : 1 + static_cast<int64_t>(below(40));
  Node counts = b_.histogram(operand(Type::tile(DType::I32, shape)), bins);
  keep(b_.reduce(b_.mul(counts, b_.arange(DType::I32, 0, bins)), 0, Op::Add));
  if (bins == shape.elements()) keep(b_.reshape(counts, shape));
  Shape row{shape.elements()};
  keep(b_.reshape(b_.gather(counts, index_below(row, bins), 0), shape));
}

/// Of a tile and its like, turned so that the product is the smaller one; its rows or columns are summed.
void Generator::write_dot() {
  Shape shape = any_shape();
  if (shape.rank() != 2) return;
  const int turned[] = {1, 0};
  DType dtype = one_in(2) ? DType::F32 : DType::I32;
  Node a = operand(Type::tile(dtype, shape)), x = operand(Type::tile(dtype, shape));
  int kept = shape[0] <= shape[1] ? 0 : 1;
  Node left = kept == 0 ? a : b_.trans(a, turned), right = kept == 0 ? b_.trans(x, turned) : x;
  Node start = operand(Type::scalar(dtype));
  Node product = b_.dot(b_.broadcast(start, {shape[kept], shape[kept]}), left, right);
  Node folded = b_.reduce(product, static_cast<int>(below(2)), Op::Add);
  keep(b_.broadcast(b_.type(folded).is_scalar() ? folded : b_.expand_dims(folded, 1 - kept), shape));
}

// --- control flow

std::vector<Type> Generator::carried_types() {
  std::vector<Type> types;
  for (uint64_t k = 0, n = below(4); k < n; ++k) types.push_back(Type::tile(any_dtype(), one_in(4) ? Shape{} : any_shape()));
  return types;
}

/// Statements on the parameters, whose values are then out of scope again; gives values of the types.
Builder::Values Generator::body(std::span<const Node> params, const std::vector<Type>& types, int depth) {
  std::vector<Node> outside = pool_;
  for (Node p : params) keep(p);
  statements(1 + static_cast<int>(below(5)), depth + 1);
  Builder::Values results;
  for (const Type& t : types) results.push_back(operand(t));
  pool_ = std::move(outside);
  return results;
}

void Generator::write_for(int depth) {
  std::vector<Type> types = carried_types();
  Builder::Values initial;
  for (const Type& t : types) initial.push_back(operand(t));
  Node run_time = b_.binary(Op::And, operand(Type::scalar(DType::I32)), b_.i32(3));
  Node bound = one_in(2) ? run_time : b_.i32(static_cast<int64_t>(below(4)));
  auto results = b_.for_loop(b_.i32(0), bound, b_.i32(1 + static_cast<int64_t>(below(2))), initial,
                             [&](std::span<const Node> params) { return body(params, types, depth); });
  for (Node v : results) keep(v);
}

void Generator::write_while(int depth) {
  std::vector<Type> types = carried_types();
  Builder::Values initial{b_.i32(0)};
  for (const Type& t : types) initial.push_back(operand(t));
  Node limit = b_.binary(Op::And, operand(Type::scalar(DType::I32)), b_.i32(3));
  auto results = b_.while_loop(
      initial, [&](std::span<const Node> params) { return Builder::Values{b_.binary(Op::Lt, params[0], limit)}; },
      [&](std::span<const Node> params) {
        Builder::Values next = body(params.subspan(1), types, depth);
        next.insert(next.begin(), b_.add(params[0], b_.i32(1)));
        return next;
      });
  for (Node v : results) keep(v);
}

void Generator::write_if(int depth) {
  std::vector<Type> types = carried_types();
  auto branch = [&](std::span<const Node>) { return body({}, types, depth); };
  for (Node v : b_.if_else(operand(Type::scalar(DType::Bool)), branch, branch)) keep(v);
}

void Generator::statement(int depth) {
  uint64_t choice = below(100);
  if (choice < 38) return write_pointwise();
  if (choice < 44) return write_cast();
  if (choice < 56) return write_load();
  if (choice < 60) return write_scalar_load();
  if (choice < 68) return write_store();
  if (choice < 70) return write_shared_update();
  if (choice < 73) return write_scalar_store();
  if (choice < 76) return write_atomic();
  if (choice < 81) return write_fold(false);
  if (choice < 83) return write_fold(true);
  if (choice < 84) return write_outer_fold(one_in(2));
  if (choice < 86) return write_pair_fold(one_in(2));
  if (choice < 88) return write_shape_change();
  if (choice < 90) return write_gather();
  if (choice < 91) return one_in(2) ? write_histogram() : write_dot();
  if (depth >= kMostDepth) return;
  if (choice < 94) return write_for(depth);
  if (choice < 96) return write_while(depth);
  write_if(depth);
}

void Generator::statements(int count, int depth) {
  for (int k = 0; k < count; ++k) statement(depth);
}

Kernel Generator::make() {
  shapes_ = pick(kShapes);
  elements_ = shapes_[0].elements();
  grid_[0] = 1 + static_cast<int64_t>(below(kMostPrograms));
  dtypes_ = {DType::Bool, DType::I32, DType::F32};
  for (int k = 0; k < 2; ++k) dtypes_.push_back(kDTypes[below(std::size(kDTypes))]);
  add_buffers();
  write_load();
  write_scalar_load();
  statements(8 + static_cast<int>(below(25)), 0);
  write_store();
  std::string name = b_.function().name;
  return {name, b_.finish(), grid_, arguments_};
}

}  // namespace

Kernel random_kernel(uint64_t seed) { return Generator(seed).make(); }

}  // namespace strider::lowering
