// SPDX-License-Identifier: Apache-2.0
#include "ir/samples.h"

#include <functional>
#include <random>

#include "ir/infer.h"

namespace strider::ir::samples {

namespace {

using Values = Builder::Values;
using Args = std::span<const Value>;

Values greater_pair(Builder& b, Args p) {
  Value left = b.binary(Op::Ge, p[0], p[2]);
  return {b.where(left, p[0], p[2]), b.where(left, p[1], p[3])};
}

/// Shape ops, on a tile of 128.
void write_shapes(Builder& b, Value v) {
  const int swapped[] = {1, 0};
  Value square = b.trans(b.reshape(v, {8, 16}), swapped);
  Value column = b.expand_dims(b.reduce(square, 1, Op::Maximum), 1);
  b.binary(Op::Div, square, b.broadcast(column, {16, 8}));
  b.scan({{v, b.arange(DType::I32, -5, 123)}}, 0, [&](Args p) { return greater_pair(b, p); });
  Value product = b.dot(b.constant(Type::tile(DType::F32, {16, 16}), 1), square, b.reshape(v, {8, 16}));
  b.gather(product, b.constant_int(Type::tile(DType::I32, {16, 3}), 2), 1);
  b.histogram(b.reshape(b.arange(DType::I32, 0, 128), {8, 16}), 10);
}

/// Loops and branches, around a scalar and a tile.
void write_control(Builder& b, Value sum, Value v, Value n, Value out) {
  Values loop = b.for_loop(b.i32(0), n, b.i32(1), {{v, sum}}, [&](Args p) {
    Value scaled = b.mul(p[1], b.broadcast(b.cast(p[0], DType::F32), {128}));
    return Values{scaled, b.fma(p[2], p[2], sum)};
  });
  Values chosen = b.if_else(
      b.binary(Op::Gt, loop[1], sum), [&](Args) { b.store(out, sum); return Values{loop[0]}; }, [&](Args) { return Values{v}; });
  auto below = [&](Args p) { return Values{b.binary(Op::Lt, p[0], sum)}; };
  auto twice = [&](Args p) { return Values{b.add(p[0], p[0])}; };
  b.while_loop({{loop[1]}}, below, twice);
  auto count = [&](Args) {
    b.atomic_add(out, b.reduce(chosen[0], 0, Op::Add));
    return Values{};
  };
  b.if_else(b.boolean(true), count, [](Args) { return Values{}; });
}

}  // namespace

Function tile_kernel() {
  Builder b("l1 \"norm\"");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x", .divisible = 16, .read_only = true, .no_alias = true});
  Value out = b.param(Type::pointer(DType::F32), {.name = "out"});
  Value n = b.param(Type::scalar(DType::I32), {.name = "n", .divisible = 8});
  b.param(Type::scalar(DType::I64), {.name = "n"});        // a name twice
  b.param(Type::scalar(DType::Bool), {.name = ""});        // none
  b.param(Type::scalar(DType::F16), {.name = "3\n\\\""});  // one that is no identifier
  Value base = b.mul(b.program_id(1), b.num_programs(2));
  Value i = b.add(b.broadcast(base, {128}), b.arange(DType::I32, 0, 128));
  Value mask = b.binary(Op::Lt, i, b.broadcast(n, {128}));
  Value p = b.ptr_add(b.broadcast(x, {128}), i);
  Value v = b.load(p, mask, b.constant(Type::tile(DType::F32, {128}), -0.0), kStreaming);
  Value sum = b.reduce(b.unary(Op::Abs, v), 0, Op::Add);
  write_shapes(b, v);
  write_control(b, sum, v, n, out);
  b.store(p, v, mask);
  return b.finish();
}

Function scheduled_kernel() {
  Builder b("scaled");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x"});
  Value i, p, v, sum;
  b.nest({64}, [&] {
    i = b.arange(DType::I32, 0, 64);
    p = b.ptr_add(b.broadcast(x, {64}), i);
    v = b.load(p);
    sum = b.reduce(v, 0, Op::Add);
  });
  b.set_flags(i, kInline);
  b.set_flags(p, kInline);
  b.set_flags(v, kKeepPrivate | kKeepShared);
  b.set_flags(sum, kKeepShared);
  Value zero = b.i32(0), two = b.i32(2), one = b.i32(1);
  Values twice = b.for_loop(zero, two, one, {{v}}, [&](Args carried) {
    b.set_flags(carried[1], kKeepPrivate);
    Value next;
    b.nest({64}, [&] { next = b.mul(carried[1], b.broadcast(sum, {64})); });
    b.set_flags(next, kKeepPrivate);
    return Values{next};
  });
  b.set_flags(twice[0], kKeepPrivate);
  b.nest({64}, [&] { b.store(p, twice[0]); });
  b.nest({}, [] {});
  return b.finish();
}

Function lane_kernel() {
  Builder b("lanes");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x", .divisible = 64});
  Value shared = b.alloc(Space::Shared, DType::F32, 256), own = b.alloc(Space::Local, DType::F32, 8);
  b.set_aux(shared, 1024);
  Value t = b.mul(b.thread_id(), b.i32(8));
  Value p = b.ptr_add(x, t);
  Value v = b.load_block(p, DType::F32, 8, 5);
  Value index = b.add(b.broadcast(t, {8}), b.arange(DType::I32, 0, 8));
  Value mask = b.binary(Op::Lt, index, b.vector(DType::I32, {9, 8, 7, 6, 5, 4, 3, 2}));
  Value w = b.load_block(p, DType::F32, 8, 0, mask, b.vector(DType::F32, {0, 1, 0x7fc00001, 0x80000000, 0x7f800000, 5, 6, 7}));
  b.store_block(own, b.shuffle(v, w, {0, 8, 1, 9, 2, 10, 3, 11}), 2);
  b.store(b.ptr_add(shared, t), b.extract(v, 3));
  b.phase();
  b.barrier();
  Value other = b.exchange(b.load(shared), 1);
  b.store_block(p, b.add(v, b.broadcast(other, {8})), 4, mask, kStreaming);
  Function f = b.finish();
  f.threads = 32;
  f.scratch_bytes = 2048;
  return f;
}

namespace {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed), b_("random") {}
  Function program(int size);

 private:
  int below(int n) { return static_cast<int>(engine_() % static_cast<uint32_t>(n)); }
  Value constant(const Type& t) {
    uint64_t mask = ~uint64_t{0} >> (64 - bits_of(t.dtype));
    uint64_t bits = below(3) ? static_cast<uint64_t>(below(50)) : engine_();
    return b_.constant_bits(t, bits & mask);
  }
  /// A visible value of type `t`, or a constant.
  Value of(const Type& t);
  Value any() { return pool_[static_cast<size_t>(below(static_cast<int>(pool_.size())))]; }
  Type any_type();
  DType any_int() { return dtype_at(1 + below(8)); }
  DType any_float() { return dtype_at(9 + below(4)); }

  void keep(Values values) { pool_.insert(pool_.end(), values.begin(), values.end()); }
  Values in_region(int size, Args params, const std::vector<Type>& yields);
  Values combine(Args params, size_t count);
  void statement(int size);

  void arithmetic();
  void convert();
  void shape();
  void memory();
  Value atomic(Value pointer, Value value, Value compare, Value mask);
  void hint();
  void fold();
  void control(int size);

  std::mt19937_64 engine_;
  Builder b_;
  Values pool_;
};

Value Random::of(const Type& t) {
  for (int k = 0; k < 8; ++k)
    if (Value v = any(); b_.type(v) == t) return v;
  return constant(t);
}

Type Random::any_type() {
  static const Shape kShapes[] = {{}, {}, {4}, {16}, {3, 5}, {1, 7}, {2, 1, 3}};
  return Type::tile(dtype_at(below(kDTypeCount)), kShapes[below(7)]);
}

void Random::arithmetic() {
  static constexpr Op kIntegerOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Div,     Op::Rem, Op::And,
                                       Op::Xor, Op::Shl, Op::Shr, Op::Minimum, Op::Lt};
  static constexpr Op kFloatOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Maximum, Op::Eq};
  static constexpr Op kFunctions[] = {Op::Neg, Op::Abs, Op::Floor, Op::Round, Op::Exp, Op::Tanh, Op::Sigmoid};
  Type t = any_type();
  Value a = of(t), c = of(t);
  if (t.dtype == DType::Bool) keep({b_.where(a, of(t), b_.binary(Op::Or, a, c))});
  else if (!is_float(t.dtype)) keep({b_.binary(kIntegerOps[below(11)], a, c)});
  else if (below(2)) keep({b_.binary(kFloatOps[below(7)], a, c)});
  else keep({b_.unary(kFunctions[below(7)], a), b_.fma(a, c, a)});
}

void Random::convert() {
  Value v = any();
  if (b_.type(v).is_pointer()) return;
  keep({b_.cast(v, dtype_at(below(kDTypeCount)))});
  if (bits_of(b_.type(v).dtype) == 32) keep({b_.bitcast(v, below(2) ? DType::F32 : DType::U32)});
}

void Random::shape() {
  Value v = any();
  Shape s = b_.type(v).shape;
  if (s.rank() == 0) return keep({b_.broadcast(v, {8}), b_.arange(any_int(), 0, 1 + below(16))});
  if (s.rank() < 4) keep({b_.expand_dims(v, below(s.rank() + 1))});
  keep({b_.reshape(v, {s.elements()})});
  if (s.rank() == 2) keep({b_.trans(v, std::vector<int>{1, 0})});
}

void Random::memory() {
  Value offset = of(Type::tile(any_int(), any_type().shape));
  Shape s = b_.type(offset).shape;
  Value p = b_.ptr_add(b_.broadcast(b_.function().params()[static_cast<size_t>(below(2))], s), offset);
  Type value = b_.type(p).pointee();
  Value mask = below(2) ? of(Type::tile(DType::Bool, s)) : Value{};
  if (below(2)) keep({b_.load(p, mask, mask.valid() && below(2) ? of(value) : Value{}, below(2))});
  else if (below(2)) b_.store(p, of(value), mask, below(2));
  else keep({atomic(p, of(value), of(value), mask), p});
}

/// Of any kind that the dtype allows.
Value Random::atomic(Value pointer, Value value, Value compare, Value mask) {
  auto kind = static_cast<AtomicKind>(below(kAtomicKinds));
  if (kind == AtomicKind::CompareExchange) return b_.atomic_cas(pointer, compare, value, mask);
  return b_.atomic(atomic_takes(kind, b_.type(value).dtype) ? kind : AtomicKind::Exchange, pointer, value, mask);
}

void Random::hint() {
  Value v = any();
  const Type& t = b_.type(v);
  if (t == Type::tile(DType::Bool, t.shape)) return b_.assume(v);
  bool counts = t.is_pointer() || is_int(t.dtype);
  auto kind = counts ? static_cast<HintKind>(below(kHintKinds)) : HintKind::MaxConstancy;
  keep({b_.hint({kind, t.shape.rank() > 0 ? below(t.shape.rank()) : 0, 1 + below(100)}, v)});
}

Values Random::combine(Args params, size_t count) {
  Values out;
  for (size_t k = 0; k < count; ++k) {
    bool number = b_.type(params[k]).dtype != DType::Bool;
    out.push_back(b_.binary(number ? Op::Add : Op::And, params[k], params[k + count]));
  }
  return out;
}

void Random::fold() {
  Value v = any();
  Type t = b_.type(v);  // a copy: writing nodes moves them
  if (t.is_pointer() || t.is_scalar()) return;
  Values tiles{v, of(t.with_dtype(any_float()))};
  tiles.resize(static_cast<size_t>(1 + below(2)));
  auto body = [&](Args p) { return combine(p, tiles.size()); };
  int axis = below(t.shape.rank());
  keep(below(2) ? b_.reduce(tiles, axis, body) : b_.scan(tiles, axis, body));
}

Values Random::in_region(int size, Args params, const std::vector<Type>& yields) {
  size_t mark = pool_.size();
  keep({params.begin(), params.end()});
  for (int k = 0; k < size; ++k) statement(size / 2);
  Values out;
  for (const Type& t : yields) out.push_back(of(t));
  pool_.resize(mark);
  return out;
}

void Random::control(int size) {
  Values carried;
  for (int k = below(3); k > 0; --k) carried.push_back(of(any_type()));
  std::vector<Type> types;
  for (Value v : carried) types.push_back(b_.type(v));
  auto body = [&](Args p) { return in_region(size, p, types); };
  auto condition = [&](Args p) { return in_region(size / 2, p, {Type::scalar(DType::Bool)}); };
  Type index = Type::scalar(any_int());
  int kind = below(3);
  if (kind == 0) keep(b_.for_loop(of(index), of(index), b_.constant_int(index, 2), carried, body));
  else if (kind == 1) keep(b_.while_loop(carried, condition, body));
  else keep(b_.if_else(of(Type::scalar(DType::Bool)), body, body));
}

void Random::statement(int size) {
  int kind = below(12);
  if (kind < 4) arithmetic();
  else if (kind < 5) convert();
  else if (kind < 7) shape();
  else if (kind < 9) below(6) ? memory() : hint();
  else if (kind < 10) fold();
  else if (size > 1) control(size);
}

Function Random::program(int size) {
  keep({b_.param(Type::pointer(DType::F32), {.name = "p"}), b_.param(Type::pointer(DType::U8), {.name = "q", .divisible = 64}),
        b_.param(Type::scalar(DType::I32), {.name = "n"})});
  for (int k = 0; k < size; ++k) statement(size / 4);
  return b_.finish();
}

}  // namespace

Function random_tile_program(uint32_t seed, int size) { return Random(seed).program(size); }

}  // namespace strider::ir::samples
