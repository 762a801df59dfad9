// SPDX-License-Identifier: Apache-2.0
#include "ir/builder.h"

#include <algorithm>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.h"
#include "ir/fold.h"
#include "ir/infer.h"
#include "ir/semantics.h"

namespace strider::ir {

Builder::Builder(std::string name, size_t most) : most_(most) {
  function_.name = std::move(name);
  function_.regions_.emplace_back();
}

size_t Builder::KeyHash::operator()(const Key& k) const {
  XXH64_hash_t hash = XXH3_64bits(k.operands.data(), k.operands.size() * sizeof(Value));
  hash ^= XXH3_64bits(k.table.data(), k.table.size() * sizeof(int64_t)) * 3;
  const int64_t rest[] = {static_cast<int64_t>(k.op), k.imm, static_cast<int64_t>(k.type.dtype),
                          static_cast<int64_t>(k.type.space), k.type.shape.rank(), k.type.elements()};
  return hash ^ XXH3_64bits(rest, sizeof rest);
}

std::vector<Type> Builder::types(std::span<const Value> values) const {
  std::vector<Type> result;
  for (Value v : values) result.push_back(function_.type(v));
  return result;
}

// --- writing nodes

uint8_t Builder::promises(Op op, const Type& type) const {
  bool can_wrap = op == Op::Add || op == Op::Sub || op == Op::Mul;
  return no_wrap_ && can_wrap && is_int(type.dtype) && !type.is_pointer() ? kNoWrap : 0;
}

Value Builder::append(Op op, std::span<const Value> operands, int64_t imm, const Type& type) {
  if (function_.nodes_.size() >= most_)
    user_error("the program is too long: it has more than {} operations; write a loop, or several kernels", most_);
  Node node{.op = op, .type = type, .imm = imm};
  node.operand_count = static_cast<uint16_t>(operands.size());
  node.operands = static_cast<uint32_t>(function_.operands_.size());
  node.span = span_;
  node.flags = promises(op, type);
  std::vector<Value> copy(operands.begin(), operands.end());  // they may lie in the array that grows
  function_.operands_.insert(function_.operands_.end(), copy.begin(), copy.end());
  function_.nodes_.push_back(node);
  Value v{static_cast<uint32_t>(function_.nodes_.size() - 1)};
  if (op != Op::Param) function_.regions_[open_.back()].body.push_back(v);
  return v;
}

Value Builder::emit(Op op, std::span<const Value> operands, int64_t imm, const Type* type, std::vector<int64_t> table) {
  std::vector<Type> operand_types = types(operands);
  Type result = infer(op, operand_types, imm, type);
  auto finish = [&](Value v) {
    if (op == Op::Vector || op == Op::Shuffle) {
      function_.tables_.push_back(std::move(table));
      function_.nodes_[v.id].aux = static_cast<uint32_t>(function_.tables_.size() - 1);
    }
    return v;
  };
  if (literal_ || !is_pure(op)) return finish(append(op, operands, imm, result));
  if (Value folded = fold(*this, op, operands, imm, result); folded.valid()) return folded;

  Key key{op, result, imm, promises(op, result), {operands.begin(), operands.end()}, table};
  if (has(op, Commutes)) std::sort(key.operands.begin(), key.operands.end(), [](Value a, Value b) { return a.id < b.id; });
  auto [entry, fresh] = numbers_.try_emplace(key, Value{});
  if (!fresh) return entry->second;
  Value v = finish(append(op, operands, imm, result));
  entry->second = v;
  scopes_.back().push_back(std::move(key));
  return v;
}

// --- regions

Value Builder::open(Op op, std::span<const Value> operands, int64_t imm, const Type& type, int regions) {
  Value v = append(op, operands, imm, type);
  Node& node = function_.nodes_[v.id];
  node.regions = static_cast<uint32_t>(function_.regions_.size());
  node.region_count = static_cast<uint16_t>(regions);
  function_.regions_.resize(function_.regions_.size() + regions);
  return v;
}

void Builder::begin_region(Value owner, int index, std::span<const Type> params) {
  RegionId id = function_.region_of(owner, index);
  open_.push_back(id);
  scopes_.emplace_back();
  for (size_t k = 0; k < params.size(); ++k) {
    Value p = append(Op::Param, {}, static_cast<int64_t>(k), params[k]);
    function_.regions_[id].params.push_back(p);
  }
}

void Builder::end_region() {
  forget(0);
  scopes_.pop_back();
  open_.pop_back();
}

void Builder::forget(size_t keys) {
  std::vector<Key>& scope = scopes_.back();
  for (size_t k = keys; k < scope.size(); ++k) numbers_.erase(scope[k]);
  scope.resize(std::min(keys, scope.size()));
}

Builder::Mark Builder::mark() const {
  const Function& f = function_;
  return {f.nodes_.size(),  f.operands_.size(), f.regions_.size(), f.param_info_.size(), f.tables_.size(),
          f.spans_.size(),  open_.size(),       open_body().size(), scopes_.back().size(), span_};
}

void Builder::rollback(const Mark& mark) {
  Function& f = function_;
  while (open_.size() > mark.open) end_region();
  forget(mark.keys);
  f.regions_[open_.back()].body.resize(mark.body);
  f.regions_[0].params.resize(mark.params);
  f.regions_.resize(mark.regions);
  f.nodes_.erase(f.nodes_.begin() + static_cast<std::ptrdiff_t>(mark.nodes), f.nodes_.end());
  f.operands_.resize(mark.operands);
  f.param_info_.resize(mark.params);
  f.tables_.resize(mark.tables);
  f.spans_.resize(mark.spans);
  span_ = mark.span;
}

std::span<const Value> Builder::region_params() const { return function_.regions_[open_.back()].params; }

Value Builder::result(Value owner, int index, const Type& type) { return append(Op::Result, {{owner}}, index, type); }

void Builder::yield(std::span<const Value> values) { append(Op::Yield, values, 0, Type::none()); }

Builder::Values Builder::region_op(Op op, std::span<const Value> operands, int64_t imm, std::span<const Type> results,
                                   std::span<const std::vector<Type>> params, std::span<const RegionFn> bodies) {
  Value owner = open(op, operands, imm, Type::none(), static_cast<int>(bodies.size()));
  std::vector<Type> yielded;
  for (size_t k = 0; k < bodies.size(); ++k) {
    begin_region(owner, static_cast<int>(k), params[k]);
    std::vector<Value> arguments(region_params().begin(), region_params().end());
    Values values = bodies[k](arguments);
    yield(values);
    yielded = types(values);
    end_region();
  }
  std::vector<Type> result_types(results.begin(), results.end());
  if (op == Op::If) result_types = yielded;
  Values out;
  for (size_t k = 0; k < result_types.size(); ++k) out.push_back(result(owner, static_cast<int>(k), result_types[k]));
  check_regions(function_, owner);
  return out;
}

Builder::Values Builder::reduce(std::span<const Value> tiles, int axis, const RegionFn& combine) {
  std::vector<Type> results, elements;
  for (Value v : tiles) {
    Type t = type(v);
    check_axis("reduce", t.shape, axis);
    elements.push_back(t.with_shape({}));
    t.shape.erase(axis);
    results.push_back(t);
  }
  std::vector<Type> params = elements;
  params.insert(params.end(), elements.begin(), elements.end());
  return region_op(Op::Reduce, tiles, axis, results, {{params}}, {{combine}});
}

Builder::Values Builder::scan(std::span<const Value> tiles, int axis, const RegionFn& combine) {
  std::vector<Type> elements;
  for (Value v : tiles) {
    check_axis("scan", type(v).shape, axis);
    elements.push_back(type(v).with_shape({}));
  }
  std::vector<Type> params = elements;
  params.insert(params.end(), elements.begin(), elements.end());
  return region_op(Op::Scan, tiles, axis, types(tiles), {{params}}, {{combine}});
}

Value Builder::reduce(Value tile, int axis, Op combine) {
  return reduce({{tile}}, axis, [&](std::span<const Value> p) { return Values{binary(combine, p[0], p[1])}; })[0];
}

Value Builder::scan(Value tile, int axis, Op combine) {
  return scan({{tile}}, axis, [&](std::span<const Value> p) { return Values{binary(combine, p[0], p[1])}; })[0];
}

Builder::Values Builder::for_loop(Value lo, Value hi, Value step, std::span<const Value> carried, const RegionFn& body) {
  Values operands{lo, hi, step};
  operands.insert(operands.end(), carried.begin(), carried.end());
  std::vector<Type> params = types(carried);
  params.insert(params.begin(), type(lo));
  return region_op(Op::For, operands, 0, types(carried), {{params}}, {{body}});
}

Builder::Values Builder::while_loop(std::span<const Value> carried, const RegionFn& condition, const RegionFn& body) {
  std::vector<Type> params[] = {types(carried), types(carried)};
  RegionFn bodies[] = {condition, body};
  return region_op(Op::While, carried, 0, params[0], params, bodies);
}

Builder::Values Builder::if_else(Value condition, const RegionFn& then, const RegionFn& otherwise) {
  std::vector<Type> params[] = {{}, {}};
  RegionFn bodies[] = {then, otherwise};
  return region_op(Op::If, {{condition}}, 0, {}, params, bodies);
}

void Builder::nest(const Shape& shape, const std::function<void()>& body) {
  Value owner = open(Op::Nest, {}, 0, Type::none().with_shape(shape), 1);
  begin_region(owner, 0, {});
  body();
  end_region();
}

// --- leaves

Value Builder::param(const Type& type, ParamInfo info) {
  Value v = append(Op::Param, {}, static_cast<int64_t>(function_.param_info_.size()), type);
  function_.regions_[0].params.push_back(v);
  function_.param_info_.push_back(std::move(info));
  return v;
}

Value Builder::constant_bits(const Type& type, uint64_t bits) { return emit(Op::Constant, {}, static_cast<int64_t>(bits), &type); }
Value Builder::constant(const Type& type, double value) { return constant_bits(type, bits_of_double(type.dtype, value)); }
Value Builder::constant_int(const Type& type, int64_t value) { return constant_bits(type, bits_of_int(type.dtype, value)); }

Value Builder::program_id(int axis) {
  Type type = Type::scalar(DType::I32);
  return emit(Op::ProgramId, {}, axis, &type);
}
Value Builder::num_programs(int axis) {
  Type type = Type::scalar(DType::I32);
  return emit(Op::NumPrograms, {}, axis, &type);
}
Value Builder::arange(DType dtype, int64_t begin, int64_t end) {
  if (end <= begin) user_error("arange({}, {}) is empty: the end must be above the begin", begin, end);
  Type type = Type::tile(dtype, {end - begin});
  return emit(Op::Arange, {}, begin, &type);
}

Value Builder::cast(Value a, DType dtype) {
  Type result = type(a).with_dtype(dtype);
  return emit(Op::Cast, {a}, 0, &result);
}
Value Builder::bitcast(Value a, DType dtype) {
  Type result = type(a).with_dtype(dtype);
  return emit(Op::Bitcast, {a}, 0, &result);
}

Value Builder::broadcast(Value a, const Shape& shape) {
  if (type(a).shape == shape) return a;
  Type result = type(a).with_shape(shape);
  return emit(Op::Broadcast, {a}, 0, &result);
}
Value Builder::expand_dims(Value a, int axis) {
  Type result = type(a);
  if (axis < 0 || axis > result.shape.rank())
    user_error("expand_dims: axis {} is out of range for a tile of shape {}", axis, to_string(result.shape));
  result.shape.insert(axis, 1);
  return emit(Op::ExpandDims, {a}, axis, &result);
}
Value Builder::reshape(Value a, const Shape& shape) {
  Type result = type(a).with_shape(shape);
  return emit(Op::Reshape, {a}, 0, &result);
}
Value Builder::trans(Value a, std::span<const int> axes) {
  Type result = type(a);
  if (static_cast<int>(axes.size()) != result.shape.rank())
    user_error("trans: {} axes named for a tile of shape {}", axes.size(), to_string(result.shape));
  int64_t imm = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    check_axis("trans", type(a).shape, axes[k]);
    result.shape[static_cast<int>(k)] = type(a).shape[axes[k]];
    imm |= static_cast<int64_t>(axes[k]) << (4 * k);
  }
  return emit(Op::Trans, {a}, imm, &result);
}

Value Builder::gather(Value a, Value index, int axis) {
  Type result = type(a).with_shape(type(index).shape);
  return emit(Op::Gather, {{a, index}}, axis, &result);
}
Value Builder::histogram(Value a, int64_t bins) {
  Type result = Type::tile(DType::I32, {bins});
  return emit(Op::Histogram, {a}, 0, &result);
}

// --- memory

namespace {
Builder::Values present(std::initializer_list<Value> values) {
  Builder::Values result;
  for (Value v : values)
    if (v.valid()) result.push_back(v);
  return result;
}
}  // namespace

Value Builder::load(Value pointer, Value mask, Value other, int64_t access) {
  return emit(Op::Load, present({pointer, mask, other}), access);
}
void Builder::store(Value pointer, Value value, Value mask, int64_t access) {
  emit(Op::Store, present({pointer, value, mask}), access);
}
Value Builder::atomic(AtomicKind kind, Value pointer, Value value, Value mask) {
  return emit(Op::Atomic, present({pointer, value, mask}), static_cast<int64_t>(kind));
}
Value Builder::atomic_cas(Value pointer, Value compare, Value value, Value mask) {
  return emit(Op::Atomic, present({pointer, value, compare, mask}), static_cast<int64_t>(AtomicKind::CompareExchange));
}

// --- lane form

Value Builder::thread_id() {
  Type type = Type::scalar(DType::I32);
  return emit(Op::ThreadId, {}, 0, &type);
}
Value Builder::alloc(Space space, DType dtype, int64_t count) {
  Type type = Type::pointer(dtype, space);
  return emit(Op::Alloc, {}, count, &type);
}
Value Builder::load_block(Value pointer, DType dtype, int64_t lanes, int log2_align, Value mask, Value other) {
  Type type = Type::vector(dtype, lanes);
  return emit(Op::LoadBlock, present({pointer, mask, other}), static_cast<int64_t>(log2_align) << kAlignShift, &type);
}
void Builder::store_block(Value pointer, Value value, int log2_align, Value mask, int64_t access) {
  emit(Op::StoreBlock, present({pointer, value, mask}), access | static_cast<int64_t>(log2_align) << kAlignShift);
}
Value Builder::vector(DType dtype, std::vector<int64_t> lanes) {
  Type type = Type::vector(dtype, static_cast<int64_t>(lanes.size()));
  if (std::all_of(lanes.begin(), lanes.end(), [&](int64_t x) { return x == lanes[0]; }))
    return constant_bits(type, static_cast<uint64_t>(lanes[0]));
  return emit(Op::Vector, {}, 0, &type, std::move(lanes));
}
Value Builder::extract(Value vector, int64_t lane) {
  Type result = type(vector).with_shape({});
  if (function_.is_constant(vector)) return constant_bits(result, static_cast<uint64_t>(function_[vector].imm));
  if (function_[vector].op == Op::Broadcast && type(function_.operand(vector, 0)).is_scalar()) return function_.operand(vector, 0);
  return emit(Op::Extract, {vector}, lane, &result);
}
Value Builder::shuffle(Value a, Value b, std::vector<int64_t> lanes) {
  Type result = type(a).with_shape({static_cast<int64_t>(lanes.size())});
  return emit(Op::Shuffle, {{a, b}}, 0, &result, std::move(lanes));
}
Value Builder::exchange(Value a, int64_t xor_mask) { return emit(Op::Exchange, {a}, xor_mask); }
void Builder::phase() { emit(Op::Phase, std::initializer_list<Value>{}); }
void Builder::barrier() { emit(Op::Barrier, std::initializer_list<Value>{}); }

// --- places

void Builder::set_span(const Span& span) {
  if (function_.spans_[span_] == span) return;
  auto known = std::find(function_.spans_.begin(), function_.spans_.end(), span);
  span_ = static_cast<uint16_t>(known - function_.spans_.begin());
  if (known == function_.spans_.end() && function_.spans_.size() < UINT16_MAX) function_.spans_.push_back(span);
  if (span_ >= function_.spans_.size()) span_ = 0;
}

Function Builder::finish() {
  STRIDER_CHECK(open_.size() == 1);
  return std::move(function_);
}

}  // namespace strider::ir
