// SPDX-License-Identifier: Apache-2.0
// The tile language's functions on values: those of front/lang.
#include "front/lang/arith.h"
#include "front/lang/dot.h"
#include "front/lang/fold.h"
#include "front/lang/memory.h"
#include "front/lang/shape.h"
#include "front/lang/sort.h"
#include "front/trace/body.h"
#include "front/trace/construct.h"
#include "front/trace/trace.h"
#include "ir/promote.h"

namespace strider {
inline namespace v0 {

using front::Trace;
using front::write;
using front::Writer;

namespace detail {

Value ptr_add(const Value& pointer, const Operand& offset, bool subtract) {
  return write(offset.where, front::ptr_add, pointer, offset, subtract);
}

// --- combine functions

namespace {

using front::terms;
using front::wrapped;

/// A combine function of the user's on nodes.
front::Combine on_nodes(const Body& combine) {
  return [&combine](std::span<const ir::Value> elements) {
    Trace& trace = Trace::current();
    return terms(trace, combine(wrapped(trace, elements)));
  };
}

}  // namespace

Values trace_reduce(const Values& tiles, std::optional<int> axis, bool keep_dims, const Body& combine, Place where) {
  const Body body = front::without_assignments(Trace::current(), "the combine function of reduce", combine);
  auto fold = [&](Writer& w) { return front::reduce(w, terms(Trace::current(), tiles), axis, keep_dims, on_nodes(body)); };
  return write(where, fold);
}

Values trace_scan(const Values& tiles, int axis, bool reverse, const Body& combine, Place where) {
  const Body body = front::without_assignments(Trace::current(), "the combine function of associative_scan", combine);
  auto fold = [&](Writer& w) {
    return front::associative_scan(w, terms(Trace::current(), tiles), axis, reverse, on_nodes(body));
  };
  return write(where, fold);
}

}  // namespace detail

namespace tl {

// --- indices and shapes

Value program_id(int axis, Place where) { return write(where, front::program_id, axis); }
Value num_programs(int axis, Place where) { return write(where, front::num_programs, axis); }
Value arange(int64_t begin, int64_t end, Place where) { return write(where, front::arange, begin, end); }

Value full(const Dims& shape, const Operand& value, DType dtype) { return write(value.where, front::full, shape, value, dtype); }
Value zeros(const Dims& shape, DType dtype, Place where) { return full(shape, Operand(false, where), dtype); }
Value zeros_like(const Operand& x) { return full_like(x, Operand(false, x.where)); }
Value full_like(const Operand& x, const Operand& value) { return write(value.where, front::full_like, x, value); }

Value broadcast_to(const Operand& x, const Dims& shape) { return write(x.where, front::broadcast_to, x, shape); }
std::pair<Value, Value> broadcast(const Operand& a, const Operand& b) { return write(a.where, front::broadcast_pair, a, b); }
Value expand_dims(const Operand& x, int axis) { return write(x.where, front::expand_dims, x, axis); }
Value reshape(const Operand& x, const Dims& shape) { return write(x.where, front::reshape, x, shape); }
Value ravel(const Operand& x) { return write(x.where, front::ravel, x); }
Value trans(const Operand& x, const Dims& axes) { return write(x.where, front::trans, x, axes); }
Value permute(const Operand& x, const Dims& axes) { return write(x.where, front::permute, x, axes); }

Value join(const Operand& a, const Operand& b) { return write(a.where, front::join, a, b); }
std::array<Value, 2> split(const Operand& x) { return write(x.where, front::split, x); }
Value interleave(const Operand& a, const Operand& b) { return write(a.where, front::interleave, a, b); }
Value cat(const Operand& a, const Operand& b, int axis) { return write(a.where, front::cat, a, b, axis); }
Value flip(const Operand& x, int axis) { return write(x.where, front::flip, x, axis); }
Value gather(const Operand& x, const Operand& index, int axis) { return write(x.where, front::gather, x, index, axis); }

StaticRange static_range(int64_t begin, int64_t end, int64_t step, Place where) {
  if (step == 0) Trace::current().at(where, [&] { user_error("static_range({}, {}, 0): the step is 0", begin, end); });
  return {begin, end, step};
}

// --- memory

Value load(const Pointer& p, const Value& mask, const Value& other, Place where) {
  return write(where, front::load, p, mask, other);
}
void store(const Pointer& p, const Value& value, const Value& mask, Place where) { write(where, front::store, p, value, mask); }

#define STRIDER_ATOMIC(name, kind)                                                   \
  Value name(const Pointer& p, const Value& value, const Value& mask, Place where) { \
    return write(where, front::atomic, ir::AtomicKind::kind, p, value, mask);        \
  }
STRIDER_ATOMIC(atomic_add, Add)
STRIDER_ATOMIC(atomic_max, Max)
STRIDER_ATOMIC(atomic_min, Min)
STRIDER_ATOMIC(atomic_and, And)
STRIDER_ATOMIC(atomic_or, Or)
STRIDER_ATOMIC(atomic_xor, Xor)
STRIDER_ATOMIC(atomic_xchg, Exchange)
#undef STRIDER_ATOMIC

Value atomic_cas(const Pointer& p, const Value& compare, const Value& value, const Value& mask, Place where) {
  return write(where, front::atomic_cas, p, compare, value, mask);
}

Value multiple_of(const Operand& x, const Dims& numbers) {
  return write(x.where, front::hinted, ir::HintKind::MultipleOf, x, numbers);
}
Value max_contiguous(const Operand& x, const Dims& numbers) {
  return write(x.where, front::hinted, ir::HintKind::MaxContiguous, x, numbers);
}
Value max_constancy(const Operand& x, const Dims& numbers) {
  return write(x.where, front::hinted, ir::HintKind::MaxConstancy, x, numbers);
}
void assume(const Operand& condition) { write(condition.where, front::assume, condition); }

Pointer where(const Operand& condition, const Pointer& a, const Pointer& b) {
  return Pointer(write(condition.where, front::where, condition, a, b));
}

Value clamp(const Operand& x, const Operand& low, const Operand& high, nan nans) {
  return write(x.where, front::clamp, x, low, high, nans == nan::drop);
}

// --- folds

namespace {
front::ExtremeRule rule_of(const ExtremeOptions& options) {
  return {options.keep_dims, options.nans == nan::drop, options.ties == tie::highest};
}
}  // namespace

Value sum(const Operand& x, FoldAxis axis, const SumOptions& options) {
  return write(x.where, front::sum, x, axis.number(), options.keep_dims, options.dtype);
}
Value prod(const Operand& x, FoldAxis axis, const SumOptions& options) {
  return write(x.where, front::prod, x, axis.number(), options.keep_dims, options.dtype);
}
Value max(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return write(x.where, front::max, x, axis.number(), rule_of(options));
}
Value min(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return write(x.where, front::min, x, axis.number(), rule_of(options));
}
std::array<Value, 2> max_with_indices(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return write(x.where, front::max_with_index, "max_with_indices", x, axis.number(), rule_of(options));
}
std::array<Value, 2> min_with_indices(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return write(x.where, front::min_with_index, "min_with_indices", x, axis.number(), rule_of(options));
}
Value argmax(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return write(x.where, front::max_with_index, "argmax", x, axis.number(), rule_of(options))[1];
}
Value argmin(const Operand& x, FoldAxis axis, const ExtremeOptions& options) {
  return write(x.where, front::min_with_index, "argmin", x, axis.number(), rule_of(options))[1];
}
Value any(const Operand& x, FoldAxis axis, bool keep) { return write(x.where, front::any, x, axis.number(), keep); }
Value all(const Operand& x, FoldAxis axis, bool keep) { return write(x.where, front::all, x, axis.number(), keep); }
Value xor_sum(const Operand& x, FoldAxis axis, bool keep) { return write(x.where, front::xor_sum, x, axis.number(), keep); }

Value cumsum(const Operand& x, int axis, bool reverse, std::optional<DType> dtype) {
  return write(x.where, front::cumsum, x, axis, reverse, dtype);
}
Value cumprod(const Operand& x, int axis, bool reverse) { return write(x.where, front::cumprod, x, axis, reverse); }

// --- whole tiles

Value sort(const Operand& x, int axis, bool descending) { return write(x.where, front::sort, x, axis, descending); }
Value topk(const Operand& x, int64_t k, int axis, bool largest) { return write(x.where, front::topk, x, k, axis, largest); }
std::array<Value, 2> topk_with_indices(const Operand& x, int64_t k, int axis, bool largest) {
  return write(x.where, front::topk_with_indices, x, k, axis, largest);
}
Value histogram(const Operand& x, int64_t bins, const Value& mask) { return write(x.where, front::histogram, x, bins, mask); }
Value dot(const Operand& a, const Operand& b, const Value& acc, std::optional<DType> out_dtype) {
  return write(a.where, front::dot, a, b, acc, out_dtype);
}

}  // namespace tl
}  // namespace v0
}  // namespace strider
