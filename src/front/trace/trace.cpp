// SPDX-License-Identifier: Apache-2.0
#include "front/trace/trace.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "ir/promote.h"
#include "ir/semantics.h"

namespace strider::front {
namespace {

thread_local Trace* current_trace = nullptr;
std::atomic<uint64_t> last_serial{0};

std::string literal_text(const detail::Handle& h) {
  switch (h.kind) {
    case detail::Handle::Bool: return h.bits ? "true" : "false";
    case detail::Handle::Int: return fmt::format("{}", static_cast<int64_t>(h.bits));
    case detail::Handle::Unsigned: return fmt::format("{}", h.bits);
    default: return fmt::format("{}", std::bit_cast<double>(h.bits));
  }
}

bool int_fits(const detail::Handle& h, DType dtype) {
  if (h.kind == detail::Handle::Unsigned) return dtype == DType::U64;
  auto value = static_cast<int64_t>(h.bits);
  if (is_unsigned_int(dtype) && value < 0) return false;
  return ir::int_of_bits(dtype, ir::bits_of_int(dtype, value)) == value;
}

uint64_t literal_bits(const detail::Handle& h, DType dtype) {
  if (h.kind == detail::Handle::Float) return ir::bits_of_double(dtype, std::bit_cast<double>(h.bits));
  if (h.kind == detail::Handle::Unsigned && is_float(dtype)) return ir::bits_of_double(dtype, static_cast<double>(h.bits));
  return ir::bits_of_int(dtype, static_cast<int64_t>(h.bits));
}

}  // namespace

const Dialect kTileDialect{ir::promote_tile, DType::I32, DType::F32};

Dialect operator_dialect(DType computed) {
  bool is_double = computed == DType::F64;
  return {ir::promote_operator, is_int(computed) ? computed : DType::I64, is_double ? DType::F64 : DType::F32};
}

DType literal_dtype(const detail::Handle& literal) {
  const Dialect& dialect = Trace::current_dialect();
  switch (literal.kind) {
    case detail::Handle::Bool: return DType::Bool;
    case detail::Handle::Float: return dialect.literal_float;
    case detail::Handle::Int: return int_fits(literal, dialect.literal_int) ? dialect.literal_int : DType::I64;
    case detail::Handle::Unsigned: return DType::U64;
    default: internal_error("a node has no literal");
  }
}

Trace::Trace(std::string what, std::string name, const Dialect& dialect)
    : b(name), what_(std::move(what)), name_(std::move(name)), dialect_(dialect), serial_(++last_serial), outer_(current_trace) {
  current_trace = this;
}

namespace {

/// The lowest address that the stack of this thread may reach, with room for what an operation needs; 0 if that is not known.
const char* lowest_stack() {
  constexpr size_t kRoom = 256 << 10;
  static thread_local const char* lowest = [] {
    pthread_attr_t attributes;
    void* begin = nullptr;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return static_cast<const char*>(nullptr);
    pthread_attr_getstack(&attributes, &begin, &size);
    pthread_attr_destroy(&attributes);
    return size > 2 * kRoom ? static_cast<const char*>(begin) + kRoom : static_cast<const char*>(nullptr);
  }();
  return lowest;
}

}  // namespace

/// A function of the user's that calls itself for ever writes operations for ever, deeper and deeper.
void Trace::check_stack() const {
  const char here = 0;
  const volatile char* address = &here;
  if (const_cast<const char*>(address) < lowest_stack())
    user_error("the stack is nearly used up: a function of the body calls itself without end; C++'s if cannot stop it by a run-time "
               "value: loop with tl::range or tl::while_, or count down a tl::Constexpr");
}

Trace::~Trace() { current_trace = outer_; }

Trace& Trace::current() {
  if (!current_trace) user_error("a value can be used only while its kernel or operator is traced");
  return *current_trace;
}

const Dialect& Trace::current_dialect() { return current_trace ? current_trace->dialect_ : kTileDialect; }

Value Trace::wrap(ir::Value v) {
  if (may_wrap_ && ir::is_pointwise(b.function()[v].op) && !b.type(v).is_pointer() && is_int(b.type(v).dtype))
    b.set_flags(v, b.function()[v].flags | ir::kMayWrap);
  if (scopes_.size() <= v.id) scopes_.resize(v.id + 1);
  if (scopes_[v.id] == 0) scopes_[v.id] = open_.back();
  return Value(detail::Handle{detail::Handle::Node, v.id, serial_});
}

void Trace::check_usable(const Value& v) const {
  if (v.is_empty()) user_error("a value that was never given one is used");
  if (v.handle().bits != serial_) user_error("a value of another kernel or operator is used");
  if (std::find(open_.begin(), open_.end(), scope_of({v.handle().node})) == open_.end())
    user_error("a value is used outside of the body (of if_, range, while_, reduce) that made it: return it from the body");
}

ir::Value Trace::node(const Value& v) {
  if (v.is_literal()) return constant(v, v.dtype());
  check_usable(v);
  return {v.handle().node};
}

ir::Value Trace::node(const Value& v, DType dtype) { return v.is_literal() ? constant(v, dtype) : b.cast(node(v), dtype); }

ir::Value Trace::constant(const Value& literal, DType dtype) {
  const detail::Handle& h = literal.handle();
  bool is_integer = h.kind == detail::Handle::Int || h.kind == detail::Handle::Unsigned;
  bool fits = h.kind == detail::Handle::Bool || is_float(dtype) || (is_integer && is_int(dtype) && int_fits(h, dtype));
  if (!fits) user_error("the literal {} does not fit {}", literal_text(h), name_of(dtype));
  return b.constant_bits(ir::Type::scalar(dtype), literal_bits(h, dtype));
}

void Trace::set_span(const std::source_location& where) {
  if (where.line() == 0) return;
  place_ = where;
  b.set_span({where.file_name(), static_cast<int>(where.line()), static_cast<int>(where.column())});
}

void Trace::fail(const Error& error, const std::source_location& where) const {
  std::string place = where.line() == 0 ? "" : fmt::format(" ({}:{})", where.file_name(), where.line());
  throw PlacedError(error.kind(), fmt::format("{} {}{}: {}", what_, name_, place, error.what()));
}

void Trace::enter() {
  if (open_.size() > kMostNested)
    user_error("bodies (of if_, range, while_, reduce) and return_if nest more than {} deep: turn the outer ones into a loop", kMostNested);
  open_.push_back(++last_scope_);
  outer_places_.push_back(place_);
  placed_ = false;
}

void Trace::leave() {
  open_.pop_back();
  set_span(outer_places_.back());
  outer_places_.pop_back();
  placed_ = true;
}

void Trace::return_if(ir::Value condition, const std::function<void()>& last) {
  if (!is_at_kernel_level())
    user_error("return_if stands inside a body: it can end the program only at the level of the kernel");
  if (open_.size() > kMostNested) user_error("there are more than {} return_if: join their conditions with |", kMostNested);
  ir::Value owner = b.open(ir::Op::If, {{condition}}, 0, ir::Type::none(), 2);
  b.begin_region(owner, 0, {});
  if (last) last();
  b.yield({});
  b.end_region();
  b.begin_region(owner, 1, {});
  open_.push_back(++last_scope_);
  ++returns_;
}

ir::Function Trace::finish() {
  for (; returns_ > 0; --returns_) {
    b.yield({});
    b.end_region();
    open_.pop_back();
  }
  return b.finish();
}

// --- shapes

ir::Shape common_shape(const ir::Shape& a, const ir::Shape& b, std::string_view what) {
  const ir::Shape& longer = a.rank() >= b.rank() ? a : b;
  ir::Shape shape = longer;
  for (int k = 1; k <= std::min(a.rank(), b.rank()); ++k) {
    int64_t x = a[a.rank() - k], y = b[b.rank() - k];
    if (x != y && x != 1 && y != 1)
      user_error("{}{}tiles of shapes {} and {} do not broadcast: counted from the last axis, sizes must agree or be 1; "
                 "x[{{tl::colon, tl::newaxis}}] adds an axis of size 1",
                 what, what.empty() ? "" : ": ", to_string(a), to_string(b));
    shape[shape.rank() - k] = x == 1 ? y : x;
  }
  return shape;
}

ir::Value broadcast(ir::Builder& b, ir::Value v, const ir::Shape& shape) {
  if (b.type(v).is_scalar()) return b.broadcast(v, shape);
  while (b.type(v).shape.rank() < shape.rank()) v = b.expand_dims(v, 0);
  return b.broadcast(v, shape);
}

ir::Shape shape_of(const Dims& dims) { return ir::Shape(std::span(dims.data(), static_cast<size_t>(dims.rank()))); }

int check_axis(std::string_view what, const ir::Shape& shape, int axis) {
  int from_front = axis < 0 ? axis + shape.rank() : axis;
  if (from_front < 0 || from_front >= shape.rank())
    user_error("{}: axis {} is out of range for a tile of shape {}", what, axis, to_string(shape));
  return from_front;
}

// --- facts

ir::Value root_of(const ir::Function& f, ir::Value pointer) {
  while (f[pointer].op == ir::Op::PtrAdd || has(f[pointer].op, ir::Shapes)) pointer = f.operand(pointer, 0);
  return f[pointer].op == ir::Op::Param ? pointer : ir::Value{};
}

void mark_read_only(ir::Function& f) {
  std::vector<ir::Value> written;
  bool unknown = false;
  for (uint32_t id = 0; id < f.size(); ++id) {
    ir::Value v{id};
    if (!has(f[v].op, ir::Writes)) continue;
    ir::Value root = root_of(f, f.operand(v, 0));
    bool is_argument = std::find(f.params().begin(), f.params().end(), root) != f.params().end();
    if (is_argument) written.push_back(root);
    else unknown = true;
  }
  for (size_t k = 0; k < f.params().size(); ++k) {
    ir::Value p = f.params()[k];
    bool is_written = std::find(written.begin(), written.end(), p) != written.end();
    if (f.type(p).is_pointer()) f.param_info(static_cast<int>(k)).read_only = !unknown && !is_written;
  }
}

}  // namespace strider::front

namespace strider::inline v0::detail {

Wrapping::Wrapping() : trace_(&front::Trace::current()), before_(static_cast<front::Trace*>(trace_)->set_may_wrap(true)) {}
Wrapping::~Wrapping() { static_cast<front::Trace*>(trace_)->set_may_wrap(before_); }

}  // namespace strider::v0::detail
