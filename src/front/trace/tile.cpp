// SPDX-License-Identifier: Apache-2.0
// The tile language's own operations: indices, memory, folds, control flow.
#include <algorithm>

#include "front/trace/body.h"
#include "front/trace/shape.h"
#include "front/trace/trace.h"
#include "ir/infer.h"
#include "ir/promote.h"

namespace strider {
inline namespace v0 {

using front::Trace;

namespace {

ir::Type type_of(Trace& trace, ir::Value v) { return trace.b.type(v); }

ir::Value pointer_node(Trace& trace, const tl::Pointer& p) { return trace.node(p.raw()); }

int check_grid_axis(std::string_view what, int axis) {
  if (axis < 0 || axis > 2) user_error("{}: axis {} of the grid, expected 0, 1 or 2", what, axis);
  return axis;
}

}  // namespace

namespace detail {

// --- pointers

namespace {

/// An offset as an integer node; negated if asked, in i64 so that no unsigned offset wraps.
ir::Value offset_node(Trace& trace, const Value& offset, bool negate) {
  if (ir::category_of(offset.dtype()) != ir::Category::Int)
    user_error("a pointer is moved by {}, expected an integer", name_of(offset.dtype()));
  ir::Value node = trace.node(offset);
  return negate ? trace.b.unary(ir::Op::Neg, trace.b.cast(node, DType::I64)) : node;
}

}  // namespace

Value ptr_add(const Value& pointer, const Operand& offset, bool subtract) {
  Trace& trace = Trace::current();
  return trace.at(offset.where, [&] {
    ir::Value p = trace.node(pointer), i = offset_node(trace, offset.value, subtract);
    ir::Shape shape = front::common_shape(type_of(trace, p).shape, type_of(trace, i).shape);
    return trace.wrap(trace.b.ptr_add(front::broadcast(trace.b, p, shape), front::broadcast(trace.b, i, shape)));
  });
}

// --- bodies

namespace {

using front::next_carried;
using front::nodes;
using front::region;
using front::types_of;
using front::wrapped;
using ir::Builder;

ir::Value scalar_condition(Trace& trace, std::string_view what, const Value& condition) {
  ir::Value v = trace.node(condition);
  if (!trace.b.type(v).is_scalar())
    user_error("{}: the condition is a tile of shape {}, expected a scalar; choose between tiles with where(condition, a, b)",
               what, to_string(trace.b.type(v).shape));
  if (trace.b.type(v) != ir::Type::scalar(DType::Bool))
    user_error("{}: the condition is {}, expected bool; compare it with 0", what, to_string(trace.b.type(v)));
  return v;
}

/// Bounds and step of a loop in one integer dtype.
std::array<ir::Value, 3> loop_bounds(Trace& trace, const Operand& lo, const Operand& hi, const Operand& step) {
  std::array<const Value*, 3> bounds{&lo.value, &hi.value, &step.value};
  DType dtype = DType::Bool;
  for (const Value* v : bounds) {
    if (ir::category_of(v->dtype()) != ir::Category::Int || v->shape().rank() != 0)
      user_error("range: a bound is {} of shape {}, expected an integer scalar", name_of(v->dtype()), to_string(v->shape()));
    if (!v->is_literal()) dtype = dtype == DType::Bool ? v->dtype() : trace.promote(dtype, v->dtype());
  }
  if (dtype == DType::Bool)
    for (const Value* v : bounds) dtype = dtype == DType::Bool ? v->dtype() : trace.promote(dtype, v->dtype());
  if (step.value.is_literal() && static_cast<int64_t>(step.value.handle().bits) < 1)
    user_error("range: the step is {}, expected at least 1", static_cast<int64_t>(step.value.handle().bits));
  return {trace.node(lo.value, dtype), trace.node(hi.value, dtype), trace.node(step.value, dtype)};
}

}  // namespace

Values trace_for(const Operand& lo, const Operand& hi, const Operand& step, const Values& carried, const Body& body) {
  Trace& trace = Trace::current();
  return trace.at(lo.where, [&] {
    auto [begin, end, by] = loop_bounds(trace, lo, hi, step);
    Builder::Values initial = nodes(trace, carried);
    std::vector<ir::Type> types = types_of(trace, initial);
    auto convert = [&](const Values& v) { return next_carried(trace, v, types); };
    return wrapped(trace, trace.b.for_loop(begin, end, by, initial, region(trace, body, convert)));
  });
}

Values trace_while(const Values& carried, const Body& condition, const Body& body, Place where) {
  Trace& trace = Trace::current();
  return trace.at(where, [&] {
    Builder::Values initial = nodes(trace, carried);
    std::vector<ir::Type> types = types_of(trace, initial);
    auto test = [&](const Values& v) {
      if (v.size() != 1) user_error("while_: the condition returns {} values, expected one", v.size());
      return Builder::Values{scalar_condition(trace, "while_", v[0])};
    };
    auto convert = [&](const Values& v) { return next_carried(trace, v, types); };
    return wrapped(trace, trace.b.while_loop(initial, region(trace, condition, test), region(trace, body, convert)));
  });
}

Values trace_if(const Operand& condition, const Body& then, const Body& otherwise) {
  Trace& trace = Trace::current();
  return trace.at(condition.where, [&] {
    ir::Value c = scalar_condition(trace, "if_", condition.value);
    std::vector<ir::Type> types;
    auto first = [&](const Values& v) {
      Builder::Values results = nodes(trace, v);
      types = types_of(trace, results);
      return results;
    };
    auto second = [&](const Values& v) {
      if (v.size() != types.size()) user_error("if_: the bodies return {} and {} values", types.size(), v.size());
      Builder::Values results;
      for (size_t k = 0; k < v.size(); ++k) {
        results.push_back(v[k].is_literal() ? trace.constant(v[k], types[k].dtype) : trace.node(v[k]));
        if (trace.b.type(results[k]) != types[k])
          user_error("if_: value {} of the bodies is {} and {}; they must agree", k, to_string(types[k]),
                     to_string(trace.b.type(results[k])));
      }
      return results;
    };
    return wrapped(trace, trace.b.if_else(c, region(trace, then, first), region(trace, otherwise, second)));
  });
}

}  // namespace detail

namespace tl {

// --- indices and shapes

Value program_id(int axis, Place where) {
  Trace& trace = Trace::current();
  return trace.at(where, [&] { return trace.wrap(trace.b.program_id(check_grid_axis("program_id", axis))); });
}

Value num_programs(int axis, Place where) {
  Trace& trace = Trace::current();
  return trace.at(where, [&] { return trace.wrap(trace.b.num_programs(check_grid_axis("num_programs", axis))); });
}

Value arange(int64_t begin, int64_t end, Place where) {
  Trace& trace = Trace::current();
  return trace.at(where, [&] {
    if (begin < INT32_MIN || end > int64_t{INT32_MAX} + 1) user_error("arange({}, {}) leaves the range of i32", begin, end);
    return trace.wrap(trace.b.arange(DType::I32, begin, end));
  });
}

Value full(const Dims& shape, const Operand& value, DType dtype) {
  Trace& trace = Trace::current();
  return trace.at(value.where, [&] {
    return trace.wrap(front::broadcast(trace.b, trace.node(value.value, dtype), front::shape_of(shape)));
  });
}

Value zeros(const Dims& shape, DType dtype, Place where) { return full(shape, Operand(false, where), dtype); }

Value broadcast_to(const Operand& x, const Dims& shape) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] {
    ir::Value v = trace.node(x.value);
    ir::Shape wanted = front::shape_of(shape);
    if (!front::broadcasts_to(trace.b.type(v).shape, wanted))
      user_error("a tile of shape {} does not broadcast to {}", to_string(trace.b.type(v).shape), to_string(wanted));
    return trace.wrap(front::broadcast(trace.b, v, wanted));
  });
}

Value expand_dims(const Operand& x, int axis) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] {
    ir::Value v = trace.node(x.value);
    int rank = trace.b.type(v).shape.rank();
    return trace.wrap(trace.b.expand_dims(v, axis < 0 ? axis + rank + 1 : axis));
  });
}

Value reshape(const Operand& x, const Dims& shape) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] { return trace.wrap(trace.b.reshape(trace.node(x.value), front::shape_of(shape))); });
}

Value trans(const Operand& x, const Dims& axes) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] {
    ir::Value v = trace.node(x.value);
    int rank = trace.b.type(v).shape.rank();
    std::vector<int> order;
    if (axes.rank() > 0) order.assign(axes.begin(), axes.end());
    else for (int k = rank; k-- > 0;) order.push_back(k);
    uint32_t seen = 0;
    for (int a : order) seen |= 1u << front::check_axis("trans", trace.b.type(v).shape, a);
    if (static_cast<int>(order.size()) != rank || seen != (1u << rank) - 1)
      user_error("trans: axes {} are no permutation of those of a tile of shape {}", to_string(axes),
                 to_string(trace.b.type(v).shape));
    return trace.wrap(trace.b.trans(v, order));
  });
}

// --- memory

namespace {

/// A mask in the shape of what is accessed.
ir::Value mask_node(Trace& trace, std::string_view what, const Value& mask, const ir::Shape& shape) {
  if (mask.is_empty()) return {};
  ir::Value v = trace.node(mask);
  const ir::Type type = trace.b.type(v);
  if (type.dtype != DType::Bool) user_error("{}: the mask is {}, expected bool, as a comparison gives it", what, to_string(type));
  if (!front::broadcasts_to(type.shape, shape))
    user_error("{}: the mask has shape {}, the pointer {}: a mask broadcasts to its pointer", what, to_string(type.shape),
               to_string(shape));
  return front::broadcast(trace.b, v, shape);
}

/// A value as elements of what a pointer points to, widened where nothing can be lost.
ir::Value element_node(Trace& trace, std::string_view op, std::string_view what, const Value& value, const ir::Type& pointer) {
  if (value.is_empty()) return {};
  ir::Value v = value.is_literal() ? trace.constant(value, pointer.dtype) : trace.node(value);
  const ir::Type type = trace.b.type(v);
  if (type.is_pointer() || !ir::widens(type.dtype, pointer.dtype))
    user_error("{}: the {} is {}, the pointer is {}: convert it with .to(st::{})", op, what, to_string(type), to_string(pointer),
               name_of(pointer.dtype));
  if (!front::broadcasts_to(type.shape, pointer.shape))
    user_error("{}: the {} has shape {}, the pointer {}: a {} broadcasts to its pointer", op, what, to_string(type.shape),
               to_string(pointer.shape), what);
  return front::broadcast(trace.b, trace.b.cast(v, pointer.dtype), pointer.shape);
}

}  // namespace

Value load(const Pointer& p, const Value& mask, const Value& other, Place where) {
  Trace& trace = Trace::current();
  return trace.at(where, [&] {
    ir::Value pointer = pointer_node(trace, p);
    const ir::Type type = type_of(trace, pointer);
    if (!other.is_empty() && mask.is_empty()) user_error("load: `other` without a mask has no effect");
    ir::Value m = mask_node(trace, "load", mask, type.shape);
    return trace.wrap(trace.b.load(pointer, m, element_node(trace, "load", "other", other, type)));
  });
}

void store(const Pointer& p, const Value& value, const Value& mask, Place where) {
  Trace& trace = Trace::current();
  trace.at(where, [&] {
    ir::Value pointer = pointer_node(trace, p);
    const ir::Type type = type_of(trace, pointer);
    if (value.is_empty()) user_error("store: there is no value");
    ir::Value element = element_node(trace, "store", "value", value, type);
    trace.b.store(pointer, element, mask_node(trace, "store", mask, type.shape));
  });
}

// --- atomics

namespace {

Value atomic(ir::AtomicKind kind, const Pointer& p, const Value* compare, const Value& value, const Value& mask, Place where) {
  Trace& trace = Trace::current();
  return trace.at(where, [&] {
    std::string_view name = ir::name_of(ir::Op::Atomic, static_cast<int64_t>(kind));
    ir::Value pointer = pointer_node(trace, p);
    const ir::Type type = type_of(trace, pointer);
    if (!ir::atomic_takes(kind, type.dtype))
      user_error("{}: the pointer is {}, expected one to {}", name, to_string(type), ir::atomic_dtypes(kind));
    if (value.is_empty() || (compare && compare->is_empty())) user_error("{}: there is no value", name);
    ir::Value element = element_node(trace, name, "value", value, type), m = mask_node(trace, name, mask, type.shape);
    if (!compare) return trace.wrap(trace.b.atomic(kind, pointer, element, m));
    return trace.wrap(trace.b.atomic_cas(pointer, element_node(trace, name, "compared value", *compare, type), element, m));
  });
}

}  // namespace

#define STRIDER_ATOMIC(name, kind)                                                                \
  Value name(const Pointer& p, const Value& value, const Value& mask, Place where) {              \
    return atomic(ir::AtomicKind::kind, p, nullptr, value, mask, where);                          \
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
  return atomic(ir::AtomicKind::CompareExchange, p, &compare, value, mask, where);
}

// --- hints

namespace {

Value hinted(ir::HintKind kind, const Operand& x, const Dims& numbers) {
  Trace& trace = Trace::current();
  return trace.at(x.where, [&] {
    std::string_view name = ir::kHintNames[static_cast<int>(kind)];
    ir::Value v = trace.node(x.value);
    const ir::Type type = trace.b.type(v);
    const int axes = std::max(type.shape.rank(), 1);
    if (numbers.rank() != axes)
      user_error("{}: {} numbers for a tile of shape {}, expected one for each axis", name, numbers.rank(), to_string(type.shape));
    constexpr int64_t kMost = int64_t{1} << 40;
    for (int axis = 0; axis < axes; ++axis) {
      int64_t n = numbers[axis];
      if (n < 1 || n > kMost) user_error("{}: the number is {}, expected 1 to 2^40", name, n);
      if (n > 1) v = trace.b.hint({kind, axis, n}, v);
    }
    return trace.wrap(v);
  });
}

}  // namespace

Value multiple_of(const Operand& x, const Dims& numbers) { return hinted(ir::HintKind::MultipleOf, x, numbers); }
Value max_contiguous(const Operand& x, const Dims& numbers) { return hinted(ir::HintKind::MaxContiguous, x, numbers); }
Value max_constancy(const Operand& x, const Dims& numbers) { return hinted(ir::HintKind::MaxConstancy, x, numbers); }

void assume(const Operand& condition) {
  Trace& trace = Trace::current();
  trace.at(condition.where, [&] {
    if (condition.value.dtype() != DType::Bool)
      user_error("assume: the condition is {}, expected bool; compare it with 0", name_of(condition.value.dtype()));
    trace.b.assume(trace.node(condition.value));
  });
}

Pointer where(const Operand& condition, const Pointer& a, const Pointer& b) {
  Trace& trace = Trace::current();
  return trace.at(condition.where, [&] {
    ir::Value c = trace.node(condition.value), x = pointer_node(trace, a), y = pointer_node(trace, b);
    ir::Shape shape =
        front::common_shape(type_of(trace, c).shape, front::common_shape(type_of(trace, x).shape, type_of(trace, y).shape));
    ir::Value chosen = trace.b.where(front::broadcast(trace.b, c, shape), front::broadcast(trace.b, x, shape),
                                     front::broadcast(trace.b, y, shape));
    return Pointer(trace.wrap(chosen));
  });
}

void return_if(const Operand& condition) {
  Trace& trace = Trace::current();
  trace.at(condition.where, [&] { trace.return_if(detail::scalar_condition(trace, "return_if", condition.value)); });
}

}  // namespace tl
}  // namespace v0
}  // namespace strider
