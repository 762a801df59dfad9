// SPDX-License-Identifier: Apache-2.0
// Loops and branches: bodies that a user writes as C++ callables, as regions of the program.
#include "front/trace/body.h"
#include "front/trace/construct.h"
#include "ir/promote.h"
#include "ir/semantics.h"

namespace strider {
inline namespace v0 {
namespace detail {

namespace {

using front::Construct;
using front::Literal;
using front::next_carried;
using front::nodes;
using front::Trace;
using front::types_of;
using front::wrapped;
using ir::Builder;
using ir::Op;

using Nodes = Builder::Values;
using Types = std::vector<ir::Type>;

ir::Value scalar_condition(Trace& trace, std::string_view what, const Value& condition) {
  ir::Value v = trace.node(condition);
  if (!trace.b.type(v).is_scalar())
    user_error("{}: the condition is a tile of shape {}, expected a scalar; choose between tiles with where(condition, a, b)",
               what, to_string(trace.b.type(v).shape));
  if (trace.b.type(v) != ir::Type::scalar(DType::Bool))
    user_error("{}: the condition is {}, expected bool; compare it with 0", what, to_string(trace.b.type(v)));
  return v;
}

// --- bounds of loops

/// A loop that counts down counts up over complements: ~i from ~lo to below ~hi, in every integer dtype and without overflow.
struct Bounds {
  ir::Value lo, hi, step;  // of the loop that counts up
  ir::Value flip;          // what its index is combined with by exclusive or; invalid if it is the index
};

/// The common dtype of the bounds; literals decide only among themselves.
DType bounds_dtype(Trace& trace, std::initializer_list<const Value*> bounds) {
  DType dtype = DType::Bool;
  for (const Value* v : bounds) {
    if (ir::category_of(v->dtype()) != ir::Category::Int || v->shape().rank() != 0)
      user_error("range: a bound is {} of shape {}, expected an integer scalar", name_of(v->dtype()), to_string(v->shape()));
    if (!v->is_literal()) dtype = dtype == DType::Bool ? v->dtype() : trace.promote(dtype, v->dtype());
  }
  if (dtype == DType::Bool)
    for (const Value* v : bounds) dtype = dtype == DType::Bool ? v->dtype() : trace.promote(dtype, v->dtype());
  return dtype;
}

int64_t constant_of(const ir::Function& f, ir::Value v) {
  return ir::int_of_bits(f.type(v).dtype, static_cast<uint64_t>(f[v].imm));
}

/// Whether a step is known to be above zero.
bool counts_up(const ir::Function& f, ir::Value v) {
  switch (f[v].op) {
    case Op::NumPrograms: return true;
    case Op::Constant: return is_unsigned_int(f.type(v).dtype) ? f[v].imm != 0 : constant_of(f, v) > 0;
    case Op::Cast: return counts_up(f, f.operand(v, 0));
    case Op::Mul: return counts_up(f, f.operand(v, 0)) && counts_up(f, f.operand(v, 1));
    default: return false;
  }
}

Bounds constant_step(Trace& trace, DType dtype, ir::Value lo, ir::Value hi, int64_t step) {
  if (step == 0 || step == INT64_MIN) user_error("range: the step is {}", step);
  const ir::Value size = trace.constant(Literal::of(step < 0 ? -step : step), dtype);
  if (step > 0) return {lo, hi, size, {}};
  const ir::Value ones = trace.b.constant_int(ir::Type::scalar(dtype), -1);
  return {trace.b.unary(Op::Not, lo), trace.b.unary(Op::Not, hi), size, ones};
}

/// A step whose sign is known when the program runs. Of 0, or of the least number of the dtype, there is no iteration.
Bounds run_time_step(Trace& trace, DType dtype, ir::Value lo, ir::Value hi, ir::Value own) {
  Builder& b = trace.b;
  const ir::Type type = ir::Type::scalar(dtype);
  const ir::Value step = b.cast(own, dtype), zero = b.constant_int(type, 0);
  if (counts_up(b.function(), own)) return {lo, hi, step, {}};
  if (is_unsigned_int(b.type(own).dtype)) return {lo, b.where(b.binary(Op::Gt, step, zero), hi, lo), step, {}};
  const ir::Value is_negative = b.binary(Op::Lt, own, b.constant_int(b.type(own), 0));
  const ir::Value flip = b.where(is_negative, b.constant_int(type, -1), zero);
  auto flipped = [&](ir::Value v) { return b.binary(Op::Xor, v, flip); };
  const ir::Value size = b.sub(flipped(step), flip);
  return {flipped(lo), b.where(b.binary(Op::Gt, size, zero), flipped(hi), flipped(lo)), size, flip};
}

Bounds loop_bounds(Trace& trace, const Operand& lo, const Operand& hi, const Operand& step) {
  const DType dtype = bounds_dtype(trace, {&lo.value, &hi.value, &step.value});
  const ir::Value begin = trace.node(trace.term(lo.value), dtype), end = trace.node(trace.term(hi.value), dtype);
  if (step.value.handle().kind == Handle::Int)
    return constant_step(trace, dtype, begin, end, static_cast<int64_t>(step.value.handle().bits));
  if (step.value.is_literal()) return {begin, end, trace.node(trace.term(step.value), dtype), {}};
  const ir::Value own = trace.node(step.value);
  const ir::Function& f = trace.b.function();
  if (f.is_constant(own) && is_signed_int(f.type(own).dtype)) return constant_step(trace, dtype, begin, end, constant_of(f, own));
  if (f.is_constant(own) && f[own].imm == 0) user_error("range: the step is 0");
  return run_time_step(trace, dtype, begin, end, own);
}

}  // namespace

// --- constructs

Values trace_for(const Operand& lo, const Operand& hi, const Operand& step, const Values& carried, const Body& body) {
  Trace& trace = Trace::current();
  return trace.at(lo.where, [&] {
    const Bounds bounds = loop_bounds(trace, lo, hi, step);
    const size_t count = carried.size();
    auto write = [&](Construct& c) {
      Nodes initial = nodes(trace, carried);
      c.add_initial(initial);
      const Types types = types_of(trace, initial);
      auto iteration = [&](std::span<const ir::Value> params) {
        trace.enter();
        c.hold(params.subspan(1 + count));
        Values arguments = wrapped(trace, params.first(1 + count));
        if (bounds.flip.valid()) arguments[0] = trace.wrap(trace.b.binary(Op::Xor, params[0], bounds.flip));
        Nodes next = next_carried(trace, body(arguments), std::span(types).first(count));
        c.add_next(next, std::span(types).subspan(count));
        trace.leave();
        return next;
      };
      const Nodes results = trace.b.for_loop(bounds.lo, bounds.hi, bounds.step, initial, iteration);
      c.hold(std::span(results).subspan(count));
      return wrapped(trace, std::span(results).first(count));
    };
    return Construct(trace, "range").run(write);
  });
}

Values trace_while(const Values& carried, const Body& condition, const Body& body, Place where) {
  Trace& trace = Trace::current();
  return trace.at(where, [&] {
    const size_t count = carried.size();
    auto write = [&](Construct& c) {
      Nodes initial = nodes(trace, carried);
      c.add_initial(initial);
      const Types types = types_of(trace, initial);
      auto begin = [&](std::span<const ir::Value> params) {
        trace.enter();
        c.hold(params.subspan(count));
        return wrapped(trace, params.first(count));
      };
      auto test = [&](std::span<const ir::Value> params) {
        const Values arguments = begin(params);
        c.refuse("the condition of while_");
        const Values v = condition(arguments);
        c.allow();
        if (v.size() != 1) user_error("while_: the condition returns {} values, expected one", v.size());
        Nodes result{scalar_condition(trace, "while_", v[0])};
        trace.leave();
        return result;
      };
      auto iteration = [&](std::span<const ir::Value> params) {
        const Values arguments = begin(params);
        Nodes next = next_carried(trace, body(arguments), std::span(types).first(count));
        c.add_next(next, std::span(types).subspan(count));
        trace.leave();
        return next;
      };
      const Nodes results = trace.b.while_loop(initial, test, iteration);
      c.hold(std::span(results).subspan(count));
      return wrapped(trace, std::span(results).first(count));
    };
    return Construct(trace, "while_").run(write);
  });
}

namespace {

/// What the second body of if_ returned, as the first one.
Nodes agreeing(Trace& trace, const Values& v, std::span<const ir::Type> types) {
  if (v.size() != types.size()) user_error("if_: the bodies return {} and {} values", types.size(), v.size());
  Nodes results;
  for (size_t k = 0; k < v.size(); ++k) {
    results.push_back(trace.node_for(trace.term(v[k]), types[k].dtype));
    if (trace.b.type(results[k]) != types[k])
      user_error("if_: value {} of the bodies is {} and {}; they must agree", k, to_string(types[k]),
                 to_string(trace.b.type(results[k])));
  }
  return results;
}

}  // namespace

Values trace_if(const Operand& condition, const Body& then, const Body& otherwise) {
  Trace& trace = Trace::current();
  return trace.at(condition.where, [&] {
    const ir::Value test = scalar_condition(trace, "if_", condition.value);
    auto write = [&](Construct& c) {
      Types types;
      auto first = [&](std::span<const ir::Value>) {
        trace.enter();
        Nodes results = nodes(trace, then({}));
        c.end_branch(results, {});
        types = types_of(trace, results);
        trace.leave();
        return results;
      };
      auto second = [&](std::span<const ir::Value>) {
        trace.enter();
        const size_t count = types.size() - c.carried();
        Nodes results = agreeing(trace, otherwise({}), std::span(types).first(count));
        c.end_branch(results, std::span(types).subspan(count));
        trace.leave();
        return results;
      };
      const Nodes results = trace.b.if_else(test, first, second);
      const size_t count = results.size() - c.carried();
      c.hold(std::span(results).subspan(count));
      return wrapped(trace, std::span(results).first(count));
    };
    return Construct(trace, "if_").run(write);
  });
}

}  // namespace detail

void tl::return_if(const Operand& condition) {
  front::Trace& trace = front::Trace::current();
  trace.at(condition.where, [&] { trace.return_if(detail::scalar_condition(trace, "return_if", condition.value)); });
}

}  // namespace v0
}  // namespace strider
