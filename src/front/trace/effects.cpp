// SPDX-License-Identifier: Apache-2.0
// Prints, assertions and taps as stores and atomics; what is said and checked while tracing.
#include <cstdio>

#include <fmt/ranges.h>

#include "front/trace/trace.h"
#include "ir/print.h"

namespace strider {
inline namespace v0 {

using front::Effects;
using front::Record;
using front::RecordLayout;
using front::Trace;
using ir::Builder;
using ir::Op;
using ir::Shape;
using ir::Type;

namespace {

void check_in_kernel(const Trace& trace, std::string_view what) {
  if (!trace.is_kernel()) user_error("{} stands in an operator, expected in a kernel", what);
}

ir::Value hidden_param(Trace& trace, int which, const std::string& name, DType dtype) {
  Effects& effects = trace.effects;
  auto known = std::find(effects.hidden.begin(), effects.hidden.end(), which);
  if (known != effects.hidden.end()) return effects.hidden_nodes[static_cast<size_t>(known - effects.hidden.begin())];
  effects.hidden.push_back(which);
  effects.hidden_nodes.push_back(trace.b.param(Type::pointer(dtype), {.name = name, .divisible = 16, .no_alias = true}));
  return effects.hidden_nodes.back();
}

ir::Value records_pointer(Trace& trace) { return hidden_param(trace, Effects::kRecords, "(records)", DType::I64); }

/// Notes a record; gives what stands for it in memory.
ir::Value note(Trace& trace, Record record) {
  record.place = trace.span();
  trace.effects.records.push_back(std::move(record));
  return trace.b.i64(static_cast<int64_t>(trace.effects.records.size()));
}

/// The number of the program: axis `order[0]` counts fastest.
ir::Value program_number(Builder& b, const std::array<int, 3>& order) {
  ir::Value number = b.i64(0);
  for (int k = 3; k-- > 0;) {
    ir::Value id = b.cast(b.program_id(order[static_cast<size_t>(k)]), DType::I64);
    ir::Value count = b.cast(b.num_programs(order[static_cast<size_t>(k)]), DType::I64);
    number = b.add(b.mul(number, count), id);
  }
  return number;
}
constexpr std::array<int, 3> kFirstFastest = {0, 1, 2}, kLastFastest = {2, 1, 0};

/// The place of each lane in row-major order.
ir::Value lane_numbers(Builder& b, const Shape& shape) {
  ir::Value sum;
  int64_t step = 1;
  for (int axis = shape.rank(); axis-- > 0; step *= shape[axis]) {
    ir::Value row = b.arange(DType::I32, 0, shape[axis]);
    if (step > 1) row = b.mul(row, b.broadcast(b.i32(step), {shape[axis]}));
    for (int k = axis + 1; k < shape.rank(); ++k) row = b.expand_dims(row, b.type(row).shape.rank());
    row = front::broadcast(b, row, shape);
    sum = sum.valid() ? b.add(sum, row) : row;
  }
  return sum;
}

/// Stores a value row by row from `at` on.
void store_lanes(Builder& b, ir::Value at, ir::Value value, ir::Value mask) {
  const Shape shape = b.type(value).shape;
  if (shape.rank() == 0) return b.store(at, value, mask);
  ir::Value pointer = b.ptr_add(b.broadcast(at, shape), lane_numbers(b, shape));
  b.store(pointer, value, mask.valid() ? front::broadcast(b, mask, shape) : mask);
}

/// An element's bits in an i64.
ir::Value as_words(Builder& b, ir::Value v) {
  DType dtype = b.type(v).dtype;
  if (is_float(dtype)) v = b.bitcast(v, size_of(dtype) == 2 ? DType::I16 : size_of(dtype) == 4 ? DType::I32 : DType::I64);
  return dtype == DType::U64 ? b.bitcast(v, DType::I64) : b.cast(v, DType::I64);
}

ir::Value bool_node(Trace& trace, std::string_view what, const Value& value) {
  ir::Value v = trace.node(value);
  if (trace.b.type(v) == Type::tile(DType::Bool, trace.b.type(v).shape)) return v;
  user_error("{} is {}, expected bool; compare it with 0", what, to_string(trace.b.type(v)));
}

/// Which lanes fail: the condition and the mask in one shape.
ir::Value failing_lanes(Trace& trace, const Value& condition, const Value& mask) {
  ir::Value failing = trace.b.unary(Op::Not, bool_node(trace, "device_assert: the condition", condition));
  if (mask.is_empty()) return failing;
  ir::Value on = bool_node(trace, "device_assert: the mask", mask);
  Shape shape = front::common_shape(trace.b.type(failing).shape, trace.b.type(on).shape);
  return trace.b.binary(Op::And, front::broadcast(trace.b, failing, shape), front::broadcast(trace.b, on, shape));
}

/// The first lane that fails, counted from the end: 1 for the last one, 0 if there is none. A scalar has one lane.
ir::Value failure_key(Builder& b, ir::Value failing) {
  const Shape shape = b.type(failing).shape;
  if (shape.rank() == 0) return b.cast(failing, DType::I32);
  auto repeated = [&](int64_t x) { return b.broadcast(b.i32(x), shape); };
  ir::Value key = b.where(failing, b.sub(repeated(shape.elements()), lane_numbers(b, shape)), repeated(0));
  for (int axis = shape.rank(); axis-- > 0;) key = b.reduce(key, axis, Op::Maximum);
  return key;
}

void write_failure(Trace& trace, ir::Value number, ir::Value lane) {
  Builder& b = trace.b;
  ir::Value buffer = records_pointer(trace);
  ir::Value place = b.atomic_add(b.ptr_add(buffer, b.i64(RecordLayout::kFailures)), b.i64(1));
  ir::Value fits = b.binary(Op::Lt, place, b.i64(RecordLayout::kMostFailures));
  ir::Value first = b.add(b.mul(place, b.i64(RecordLayout::kFailureWords)), b.i64(RecordLayout::kFirstFailure));
  ir::Value words[] = {number, program_number(b, kFirstFastest), b.cast(lane, DType::I64)};
  for (int k = 0; k < 3; ++k) b.store(b.ptr_add(buffer, b.add(first, b.i64(k))), words[k], fits);
}

}  // namespace

namespace detail {

std::string describe(const Value& value) {
  if (value.is_empty()) return "nothing";
  Trace& trace = Trace::current();
  ir::Value v = trace.node(value);
  const Type& type = trace.b.type(v);
  bool is_constant = trace.b.function().is_constant(v) && !type.is_pointer();
  std::string number = is_constant ? ir::print_element(type.dtype, static_cast<uint64_t>(trace.b.function()[v].imm)) : "";
  if (value.is_literal()) return number;
  return to_string(type) + (is_constant ? " = " + number : "");
}

void trace_compile_print(std::source_location where, const std::vector<std::string>& texts) {
  Trace& trace = Trace::current();
  fmt::print("{} ({}:{}): {}\n", trace.name(), where.file_name(), where.line(), fmt::join(texts, " "));
  std::fflush(stdout);
}

void trace_print(const Words& prefix, const std::vector<Value>& values) {
  Trace& trace = Trace::current();
  trace.at(prefix.where, [&] {
    check_in_kernel(trace, "print");
    Builder& b = trace.b;
    Record record{Record::Print, std::string(prefix.text), {}, {}};
    std::vector<ir::Value> nodes;
    int64_t words = 2;
    for (const Value& value : values) {
      nodes.push_back(trace.node(value));
      record.values.push_back(b.type(nodes.back()));
      words += record.values.back().elements();
    }
    if (words > RecordLayout::kPrintWords)
      user_error("print: {} elements, at most {} are possible", words - 2, RecordLayout::kPrintWords - 2);
    ir::Value number = note(trace, std::move(record)), buffer = records_pointer(trace);
    ir::Value begin = b.atomic_add(b.ptr_add(buffer, b.i64(RecordLayout::kCursor)), b.i64(words));
    ir::Value fits = b.binary(Op::Le, begin, b.i64(RecordLayout::kPrintWords - words));
    ir::Value at = b.ptr_add(b.ptr_add(buffer, begin), b.i64(RecordLayout::kPrints));
    b.store(at, number, fits);
    b.store(b.ptr_add(at, b.i64(1)), program_number(b, kFirstFastest), fits);
    int64_t next = 2;
    for (ir::Value v : nodes) {
      store_lanes(b, b.ptr_add(at, b.i64(next)), as_words(b, v), fits);
      next += b.type(v).elements();
    }
  });
}

}  // namespace detail

namespace tl {

void compile_assert(const Operand& condition, std::string_view message) {
  Trace& trace = Trace::current();
  trace.at(condition.where, [&] {
    ir::Value v = trace.node(condition.value);
    if (!trace.b.function().is_constant(v) || trace.b.type(v).is_pointer())
      user_error("compile_assert: the condition is {}, which is not known while the kernel is traced: use device_assert",
                 to_string(trace.b.type(v)));
    if (trace.b.function()[v].imm == 0) user_error("compile_assert failed{}{}", message.empty() ? "" : ": ", message);
  });
}

void device_assert(const Operand& condition, std::string_view message, const Value& mask) {
  Trace& trace = Trace::current();
  trace.at(condition.where, [&] {
    check_in_kernel(trace, "device_assert");
    Builder& b = trace.b;
    ir::Value failing = failing_lanes(trace, condition.value, mask);
    if (b.function().is_constant(failing) && b.function()[failing].imm == 0) return;
    const Type type = b.type(failing);
    ir::Value number = note(trace, {Record::Assertion, std::string(message), {}, {type}});
    ir::Value key = failure_key(b, failing), failed = b.binary(Op::Ne, key, b.i32(0));
    auto report = [&] { write_failure(trace, number, b.sub(b.i32(type.elements()), key)); };
    if (trace.is_at_kernel_level()) return trace.return_if(failed, report);
    auto nothing = [](std::span<const ir::Value>) { return Builder::Values{}; };
    b.if_else(failed, [&](std::span<const ir::Value>) { return report(), Builder::Values{}; }, nothing);
  });
}

void tap(std::string_view name, const Operand& value, const Value& mask) {
  Trace& trace = Trace::current();
  trace.at(value.where, [&] {
    check_in_kernel(trace, "tap");
    Effects& effects = trace.effects;
    if (std::find(effects.tap_names.begin(), effects.tap_names.end(), name) != effects.tap_names.end())
      user_error("tap: the name {} is taken by another tap of this kernel", name);
    effects.tap_names.emplace_back(name);
    Builder& b = trace.b;
    ir::Value v = trace.node(value.value), on;
    if (!mask.is_empty()) {
      on = bool_node(trace, "tap: the mask", mask);
      Shape shape = front::common_shape(b.type(v).shape, b.type(on).shape);
      v = front::broadcast(b, v, shape);
      on = front::broadcast(b, on, shape);
    }
    if (!trace.request.wants(name)) return;
    const Type type = b.type(v);
    effects.taps.push_back({std::string(name), type});
    int which = static_cast<int>(effects.taps.size()) - 1;
    ir::Value base = hidden_param(trace, which, "(tap " + std::string(name) + ")", type.dtype);
    ir::Value begin = b.mul(program_number(b, kLastFastest), b.i64(type.elements()));
    store_lanes(b, b.ptr_add(base, begin), v, on);
  });
}

}  // namespace tl
}  // namespace v0
}  // namespace strider
