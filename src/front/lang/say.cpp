// SPDX-License-Identifier: Apache-2.0
#include "front/lang/say.h"

#include <cstdio>

#include <fmt/ranges.h>

#include "front/lang/arith.h"
#include "front/lang/shape.h"
#include "ir/print.h"
#include "ir/promote.h"

namespace strider::front {

using ir::Builder;
using ir::Op;
using ir::Shape;
using ir::Type;

namespace {

void check_in_kernel(const Writer& w, std::string_view what) {
  if (!w.dialect().is_tile) user_error("{} stands in an operator, expected in a kernel", what);
}

ir::Value hidden_param(Writer& w, int which, const std::string& name, DType dtype) {
  Effects& effects = w.effects;
  auto known = std::find(effects.hidden.begin(), effects.hidden.end(), which);
  if (known != effects.hidden.end()) return effects.hidden_nodes[static_cast<size_t>(known - effects.hidden.begin())];
  effects.hidden.push_back(which);
  effects.hidden_nodes.push_back(w.b.param(Type::pointer(dtype), {.name = name, .divisible = 16, .no_alias = true}));
  return effects.hidden_nodes.back();
}

ir::Value records_pointer(Writer& w) { return hidden_param(w, Effects::kRecords, "(records)", DType::I64); }

/// Notes a record; gives what stands for it in memory.
ir::Value note(Writer& w, Record record) {
  record.place = w.place();
  w.effects.records.push_back(std::move(record));
  return w.b.i64(static_cast<int64_t>(w.effects.records.size()));
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
    row = broadcast(b, row, shape);
    sum = sum.valid() ? b.add(sum, row) : row;
  }
  return sum;
}

/// Stores a value row by row from `at` on.
void store_lanes(Builder& b, ir::Value at, ir::Value value, ir::Value mask) {
  const Shape shape = b.type(value).shape;
  if (shape.rank() == 0) return b.store(at, value, mask);
  ir::Value pointer = b.ptr_add(b.broadcast(at, shape), lane_numbers(b, shape));
  b.store(pointer, value, mask.valid() ? broadcast(b, mask, shape) : mask);
}

/// An element's bits in an i64.
ir::Value as_words(Builder& b, ir::Value v) {
  DType dtype = b.type(v).dtype;
  if (is_float(dtype)) v = b.bitcast(v, ir::signed_of_size(size_of(dtype)));
  return dtype == DType::U64 ? b.bitcast(v, DType::I64) : b.cast(v, DType::I64);
}

ir::Value bool_node(Writer& w, std::string_view what, const Term& value) {
  ir::Value v = w.node(value);
  if (w.b.type(v) == Type::tile(DType::Bool, w.b.type(v).shape)) return v;
  user_error("{} is {}, expected bool; compare it with 0", what, to_string(w.b.type(v)));
}

/// Which lanes fail: the condition and the mask in one shape.
ir::Value failing_lanes(Writer& w, const Term& condition, const Term& mask) {
  ir::Value failing = w.b.unary(Op::Not, bool_node(w, "device_assert: the condition", condition));
  if (mask.is_empty()) return failing;
  ir::Value on = bool_node(w, "device_assert: the mask", mask);
  ir::Value both[] = {failing, on};
  broadcast_all(w.b, "", both);
  return w.b.binary(Op::And, both[0], both[1]);
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

void write_failure(Writer& w, ir::Value number, ir::Value lane) {
  Builder& b = w.b;
  ir::Value buffer = records_pointer(w);
  ir::Value place = b.atomic_add(b.ptr_add(buffer, b.i64(RecordLayout::kFailures)), b.i64(1));
  ir::Value fits = b.binary(Op::Lt, place, b.i64(RecordLayout::kMostFailures));
  ir::Value first = b.add(b.mul(place, b.i64(RecordLayout::kFailureWords)), b.i64(RecordLayout::kFirstFailure));
  ir::Value words[] = {number, program_number(b, kFirstFastest), b.cast(lane, DType::I64)};
  for (int k = 0; k < 3; ++k) b.store(b.ptr_add(buffer, b.add(first, b.i64(k))), words[k], fits);
}

}  // namespace

std::string describe(Writer& w, const Term& term) {
  if (term.is_empty()) return "nothing";
  ir::Value v = w.node(term);
  const Type& type = w.type(v);
  bool is_constant = w.b.function().is_constant(v) && !type.is_pointer();
  std::string number = is_constant ? ir::print_element(type.dtype, static_cast<uint64_t>(w.b.function()[v].imm)) : "";
  if (term.is_literal()) return number;
  return to_string(type) + (is_constant ? " = " + number : "");
}

void compile_print(Writer& w, std::span<const std::string> texts) {
  w.say(fmt::format("{} ({}): {}", w.name(), to_string(w.place()), fmt::join(texts, " ")));
}

void compile_assert(Writer& w, const Term& condition, std::string_view message) {
  ir::Value v = w.node(condition);
  if (!w.b.function().is_constant(v) || w.type(v).is_pointer())
    user_error("compile_assert: the condition is {}, which is not known while the kernel is traced: use device_assert",
               to_string(w.type(v)));
  if (w.b.function()[v].imm == 0) user_error("compile_assert failed{}{}", message.empty() ? "" : ": ", message);
}

void print(Writer& w, std::string_view prefix, std::span<const Term> terms) {
  check_in_kernel(w, "print");
  Builder& b = w.b;
  Record record{Record::Print, std::string(prefix), {}, {}};
  std::vector<ir::Value> nodes;
  int64_t words = 2;
  for (const Term& term : terms) {
    nodes.push_back(w.node(term));
    record.values.push_back(b.type(nodes.back()));
    words += record.values.back().elements();
  }
  if (words > RecordLayout::kPrintWords)
    user_error("print: {} elements, at most {} are possible", words - 2, RecordLayout::kPrintWords - 2);
  ir::Value number = note(w, std::move(record)), buffer = records_pointer(w);
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
}

void device_assert(Writer& w, const Term& condition, std::string_view message, const Term& mask) {
  check_in_kernel(w, "device_assert");
  Builder& b = w.b;
  ir::Value failing = failing_lanes(w, condition, mask);
  if (b.function().is_constant(failing) && b.function()[failing].imm == 0) return;
  const Type type = b.type(failing);
  ir::Value number = note(w, {Record::Assertion, std::string(message), {}, {type}});
  ir::Value key = failure_key(b, failing), failed = b.binary(Op::Ne, key, b.i32(0));
  auto report = [&] { write_failure(w, number, b.sub(b.i32(type.elements()), key)); };
  if (w.is_at_kernel_level()) return w.return_if(failed, report);
  auto nothing = [](std::span<const ir::Value>) { return Builder::Values{}; };
  b.if_else(failed, [&](std::span<const ir::Value>) { return report(), Builder::Values{}; }, nothing);
}

void tap(Writer& w, std::string_view name, const Term& value, const Term& mask) {
  check_in_kernel(w, "tap");
  Effects& effects = w.effects;
  if (std::find(effects.tap_names.begin(), effects.tap_names.end(), name) != effects.tap_names.end())
    user_error("tap: the name {} is taken by another tap of this kernel", name);
  effects.tap_names.emplace_back(name);
  Builder& b = w.b;
  ir::Value v = w.node(value), on;
  if (!mask.is_empty()) {
    ir::Value both[] = {v, bool_node(w, "tap: the mask", mask)};
    broadcast_all(b, "", both);
    v = both[0];
    on = both[1];
  }
  if (!w.request.wants(name)) return;
  const Type type = b.type(v);
  effects.taps.push_back({std::string(name), type});
  int which = static_cast<int>(effects.taps.size()) - 1;
  ir::Value base = hidden_param(w, which, "(tap " + std::string(name) + ")", type.dtype);
  ir::Value begin = b.mul(program_number(b, kLastFastest), b.i64(type.elements()));
  store_lanes(b, b.ptr_add(base, begin), v, on);
}

}  // namespace strider::front
