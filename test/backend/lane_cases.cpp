// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "backend/lane_cases.h"

#include <cstring>

#include <gtest/gtest.h>

#include "backend/interp/lane.h"
#include "codegen/llvm/codegen.h"
#include "ir/builder.h"
#include "ir/semantics.h"
#include "support/bits.h"

namespace strider::backend_test {

using namespace ir;

uint64_t Buffer::at(int64_t index) const {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * size_of(dtype), static_cast<size_t>(size_of(dtype)));
  return bits;
}
void Buffer::set(int64_t index, uint64_t bits) {
  std::memcpy(bytes.data() + index * size_of(dtype), &bits, static_cast<size_t>(size_of(dtype)));
}

Buffer buffer_of(DType dtype, const std::vector<uint64_t>& elements) {
  Buffer b{dtype, std::vector<char>(elements.size() * static_cast<size_t>(size_of(dtype)))};
  for (size_t k = 0; k < elements.size(); ++k) b.set(static_cast<int64_t>(k), elements[k]);
  return b;
}

namespace {

constexpr int kWidths[] = {1, 2, 4, 8, 16, 32, 64};

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  for (int k = 0; k < kDTypeCount; ++k) all.push_back(dtype_at(k));
  return all;
}

// --- data

uint64_t any_bits(DType dtype, std::mt19937_64& random) {
  if (dtype == DType::Bool || random() % 2) return support::random_bits(dtype, random);
  return random() & (~uint64_t{0} >> (64 - bits_of(dtype)));
}

Buffer random_buffer(DType dtype, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> elements;
  for (int64_t k = 0; k < count; ++k) elements.push_back(any_bits(dtype, random));
  return buffer_of(dtype, elements);
}

Buffer filled(DType dtype, int64_t count, int64_t value) {
  return buffer_of(dtype, std::vector<uint64_t>(static_cast<size_t>(count), bits_of_int(dtype, value)));
}

/// Operands such that every pair of special values meets, and random ones; `arity` buffers of one length.
std::vector<Buffer> operands(DType dtype, int arity) {
  std::mt19937_64 random(static_cast<uint64_t>(dtype) + 1);
  std::vector<uint64_t> special = support::special_bits(dtype);
  std::vector<std::vector<uint64_t>> columns(static_cast<size_t>(arity));
  for (uint64_t a : special)
    for (uint64_t b : special)
      for (int k = 0; k < arity; ++k) columns[static_cast<size_t>(k)].push_back(k == 0 ? a : k == 1 ? b : any_bits(dtype, random));
  for (int n = 0; n < 512 || columns[0].size() % 2048 != 0; ++n)
    for (auto& column : columns) column.push_back(any_bits(dtype, random));
  std::vector<Buffer> buffers;
  for (const auto& column : columns) buffers.push_back(buffer_of(dtype, column));
  return buffers;
}

// --- writing kernels

/// Each thread works on `lanes` elements: those from `index` on.
struct Kernel {
  Kernel(std::string kernel_name, int lane_count, int thread_count) : b(std::move(kernel_name)), lanes(lane_count), threads(thread_count) {}

  Value pointer(DType dtype, bool read_only = false) {
    ParamInfo info{.name = "p" + std::to_string(count++), .divisible = 16, .read_only = read_only, .no_alias = true};
    return b.param(Type::pointer(dtype), info);
  }
  Value scalar(DType dtype) { return b.param(Type::scalar(dtype), {.name = "s" + std::to_string(count++)}); }

  Value index() {
    Value program = b.mul(b.cast(b.program_id(0), DType::I64), b.i64(int64_t{threads} * lanes));
    return b.add(program, b.mul(b.cast(b.thread_id(), DType::I64), b.i64(lanes)));
  }
  Shape shape() const { return lanes == 1 ? Shape{} : Shape{lanes}; }
  Type type(DType dtype) const { return Type::tile(dtype, shape()); }
  Value splat(Value scalar) { return b.broadcast(scalar, shape()); }

  /// What a block of this thread may assume: its size, at most 16 bytes, as all buffers begin on such an address.
  int align(DType dtype) const { return std::min(4, std::countr_zero(static_cast<unsigned>(lanes * size_of(dtype)))); }

  Value load(Value base, DType dtype, Value mask = {}, Value other = {}) {
    Value p = b.ptr_add(base, index());
    return lanes == 1 ? b.load(p, mask, other) : b.load_block(p, dtype, lanes, align(dtype), mask, other);
  }
  void store(Value base, Value value, Value mask = {}, int64_t access = 0) {
    Value p = b.ptr_add(base, index());
    if (lanes == 1) b.store(p, value, mask);
    else b.store_block(p, value, align(b.type(value).dtype), mask, access);
  }

  Function finish(int64_t scratch_bytes = 0) {
    Function f = b.finish();
    f.threads = threads;
    f.scratch_bytes = scratch_bytes;
    return f;
  }

  Builder b;
  int lanes, threads;
  int count = 0;
};

Case finish_case(Kernel& k, std::vector<Buffer> buffers, int64_t elements, int64_t scratch_bytes = 0) {
  Case c{.name = k.b.function().name, .lanes = k.finish(scratch_bytes), .buffers = std::move(buffers), .scalars = {}};
  c.grid[0] = elements / (int64_t{k.lanes} * k.threads);
  return c;
}

std::string title(std::string_view what, DType dtype, int lanes) { return fmt::format("{}_{}_x{}", what, name_of(dtype), lanes); }

// --- pointwise ops and casts

bool computes(Op op, DType dtype) {
  return is_pointwise(op) && op != Op::Cast && op != Op::Bitcast && op != Op::PtrAdd && op != Op::Call && op != Op::Where && codegen::can_spell(op, dtype);
}

/// All ops that a dtype has, one output each.
Case pointwise_case(DType dtype, int lanes, int threads) {
  Kernel k(title("pointwise", dtype, lanes), lanes, threads);
  std::vector<Buffer> buffers = operands(dtype, 3);
  int64_t count = buffers[0].count();
  std::vector<Value> in;
  for (int n = 0; n < 3; ++n) in.push_back(k.pointer(dtype, true));
  std::vector<Value> x;
  for (Value p : in) x.push_back(k.load(p, dtype));
  auto output = [&](Value value) {
    Value out = k.pointer(k.b.type(value).dtype);
    buffers.push_back(filled(k.b.type(value).dtype, count, 0));
    k.store(out, value);
  };
  for (int n = 0; n < kOpCount; ++n)
    if (computes(op_at(n), dtype)) output(k.b.emit(op_at(n), std::span(x).first(static_cast<size_t>(info(op_at(n)).least))));
  Value chosen = dtype == DType::Bool ? x[0] : k.b.cast(x[0], DType::Bool);
  output(k.b.where(chosen, x[1], x[2]));
  return finish_case(k, std::move(buffers), count);
}

Case cast_case(DType from, int lanes, int threads) {
  Kernel k(title("cast", from, lanes), lanes, threads);
  std::vector<Buffer> buffers = operands(from, 1);
  int64_t count = buffers[0].count();
  Value x = k.load(k.pointer(from, true), from);
  for (DType to : all_dtypes())
    for (Op op : {Op::Cast, Op::Bitcast}) {
      if (op == Op::Bitcast && bits_of(from) != bits_of(to)) continue;
      Value out = k.pointer(to);
      buffers.push_back(filled(to, count, 0));
      k.store(out, op == Op::Cast ? k.b.cast(x, to) : k.b.bitcast(x, to));
    }
  return finish_case(k, std::move(buffers), count);
}

// --- memory

/// Masks of all kinds: none, all, some lanes of a block, and all lanes after a point.
Buffer masks(int64_t count, int lanes) {
  std::mt19937_64 random(7);
  Buffer b = filled(DType::Bool, count, 0);
  for (int64_t first = 0; first < count; first += lanes) {
    uint64_t kind = random() % 4, stop = random() % static_cast<uint64_t>(lanes + 1);
    for (int64_t k = 0; k < lanes; ++k)
      b.set(first + k, kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? random() & 1 : static_cast<uint64_t>(k) < stop);
  }
  return b;
}

/// Blocks: copied as they are, with streaming stores, under a mask with and without `other`, under one bool, and up to n.
Case block_case(DType dtype, int lanes, int threads) {
  Kernel k(title("block", dtype, lanes), lanes, threads);
  int64_t count = int64_t{lanes} * threads * 16;
  Value in = k.pointer(dtype, true), mask_in = k.pointer(DType::Bool, true), n = k.scalar(DType::I64);
  std::vector<Value> out;
  for (int i = 0; i < 6; ++i) out.push_back(k.pointer(dtype));
  Value mask = k.load(mask_in, DType::Bool), other = k.b.constant_int(k.type(dtype), 1);
  Value plain = k.load(in, dtype);
  k.store(out[0], plain);
  k.store(out[1], plain, {}, kStreaming);
  k.store(out[2], k.load(in, dtype, mask, other));
  k.store(out[3], k.load(in, dtype, mask), mask);
  Value one = k.splat(k.b.binary(Op::Lt, k.index(), n));
  k.store(out[4], k.load(in, dtype, one, other), one);
  Value place = k.splat(k.index());
  if (lanes > 1) place = k.b.add(place, k.b.arange(DType::I64, 0, lanes));
  Value below = k.b.binary(Op::Lt, place, k.splat(n));
  k.store(out[5], k.load(in, dtype, below), below, kStreaming);

  std::vector<Buffer> buffers{random_buffer(dtype, count, 3), masks(count, lanes)};
  for (int i = 0; i < 6; ++i) buffers.push_back(filled(dtype, count, 3));
  Case c = finish_case(k, std::move(buffers), count);
  c.scalars = {static_cast<uint64_t>(count / 2 + lanes / 2)};
  return c;
}

/// Lane by lane: reversed in each program's part by gathers, then scattered back under a mask.
Case gather_case(DType dtype, int lanes, int threads) {
  Kernel k(title("gather", dtype, lanes), lanes, threads);
  int64_t part = int64_t{lanes} * threads, count = part * 8;
  Value in = k.pointer(dtype, true), mask_in = k.pointer(DType::Bool, true), gathered = k.pointer(dtype), scattered = k.pointer(dtype);
  Value end = k.b.add(k.b.mul(k.b.program_id(0), k.b.i32(static_cast<int64_t>(part))), k.b.i32(part - 1));
  Value own = k.splat(k.b.mul(k.b.thread_id(), k.b.i32(lanes)));
  if (lanes > 1) own = k.b.add(own, k.b.arange(DType::I32, 0, lanes));
  Value place = k.b.sub(k.splat(end), own), mask = k.load(mask_in, DType::Bool);
  auto at = [&](Value base, Value offset) { return k.b.ptr_add(k.splat(base), offset); };
  Value value = k.b.load(at(in, place), mask, k.b.constant_int(k.type(dtype), 1));
  k.store(gathered, value);
  Value last = k.b.ptr_add(scattered, k.b.i64(count - 1));  // scattered by negative offsets
  k.b.store(at(last, k.b.unary(Op::Neg, place)), k.b.load(at(in, place)), mask);
  return finish_case(k, {random_buffer(dtype, count, 5), masks(count, lanes), filled(dtype, count, 3), filled(dtype, count, 3)}, count);
}

/// Sums that are exact in every dtype: many lanes add 1 to a few elements, and each lane to one of its own.
Case atomic_case(DType dtype, int lanes, int threads) {
  Kernel k(title("atomic", dtype, lanes), lanes, threads);
  int64_t count = int64_t{lanes} * threads * 4;
  Value mask_in = k.pointer(DType::Bool, true), sums = k.pointer(dtype), own = k.pointer(dtype), before = k.pointer(dtype);
  Value mask = k.load(mask_in, DType::Bool);
  Value lane = lanes > 1 ? k.b.arange(DType::I32, 0, lanes) : k.b.i32(0);
  Value place = k.b.binary(Op::Rem, k.b.add(lane, k.splat(k.b.thread_id())), k.b.constant_int(k.type(DType::I32), 5));
  Value one = k.b.constant(k.type(dtype), 1);
  k.b.atomic_add(k.b.ptr_add(k.splat(sums), place), one, mask);
  Value mine = k.b.ptr_add(k.splat(own), k.b.add(k.splat(k.index()), k.b.cast(lane, DType::I64)));
  k.store(before, k.b.atomic_add(mine, k.b.constant(k.type(dtype), 2), mask));
  int64_t seven = 7;
  return finish_case(k, {masks(count, lanes), filled(dtype, 8, 0), filled(dtype, count, seven), filled(dtype, count, 0)}, count);
}

/// Scalar arguments and constants of a dtype.
Case argument_case(DType dtype, int threads) {
  Kernel k(title("argument", dtype, 1), 1, threads);
  Value out = k.pointer(dtype);
  std::vector<uint64_t> values = support::special_bits(dtype);
  for (size_t n = 0; n < values.size(); ++n) {
    Value is_first = k.b.binary(Op::Eq, k.b.thread_id(), k.b.i32(0));
    Value p = k.b.ptr_add(out, k.b.i64(static_cast<int64_t>(2 * n)));
    k.b.store(p, k.scalar(dtype), is_first);
    k.b.store(k.b.ptr_add(p, k.b.i32(1)), k.b.constant_bits(Type::scalar(dtype), values[n]), is_first);
  }
  Case c = finish_case(k, {filled(dtype, static_cast<int64_t>(2 * values.size()), 0)}, threads);
  c.scalars = values;
  return c;
}

// --- lanes

Case shuffle_case(DType dtype, int lanes, int threads) {
  Kernel k(title("shuffle", dtype, lanes), lanes, threads);
  int64_t count = int64_t{lanes} * threads;
  Value in = k.pointer(dtype, true), reversed_out = k.pointer(dtype), mixed_out = k.pointer(dtype), constant_out = k.pointer(dtype);
  Value x = k.load(in, dtype);
  std::vector<int64_t> reversed, mixed, bits;
  for (int n = 0; n < lanes; ++n) {
    reversed.push_back(lanes - 1 - n);
    mixed.push_back(n % 2 ? lanes + n / 2 : n / 2);
    bits.push_back(static_cast<int64_t>(bits_of_int(dtype, n)));
  }
  Value r = k.b.shuffle(x, x, reversed);
  k.store(reversed_out, r);
  k.store(mixed_out, k.b.shuffle(x, r, mixed));
  Value last = k.splat(k.b.extract(x, lanes - 1));
  k.store(constant_out, k.b.where(k.b.cast(last, DType::Bool), k.b.vector(dtype, bits), last));
  return finish_case(k, {random_buffer(dtype, count, 11), filled(dtype, count, 0), filled(dtype, count, 0), filled(dtype, count, 0)}, count);
}

/// Vectors narrower and wider than their source.
Case resize_case(int threads) {
  Kernel k("resize", 8, threads);
  Value in = k.pointer(DType::I32, true), out = k.pointer(DType::I32);
  Value x = k.load(in, DType::I32);
  Value low = k.b.shuffle(x, x, {0, 1}), high = k.b.shuffle(x, x, {6, 7}), one = k.b.shuffle(low, high, {3});
  Value four = k.b.shuffle(low, high, {0, 1, 2, 3});
  Value wide = k.b.shuffle(four, k.b.shuffle(one, one, {0, 1, 0, 1}), {0, 1, 2, 3, 4, 5, 6, 7});
  k.store(out, wide);
  return finish_case(k, {random_buffer(DType::I32, 8 * threads, 1), filled(DType::I32, 8 * threads, 0)}, 8 * threads);
}

// --- control flow

/// for (i = lo; i < hi; i += step) sums i and counts, at the edges of the index type.
Case for_case(DType dtype, int threads) {
  Kernel k(title("for", dtype, 1), 1, threads);
  Value in = k.pointer(dtype, true), sums = k.pointer(dtype), counts = k.pointer(DType::I32);
  Value first = k.b.mul(k.b.cast(k.b.program_id(0), DType::I64), k.b.i64(3));
  auto bound = [&](int n) { return k.b.load(k.b.ptr_add(in, k.b.add(first, k.b.i64(n)))); };
  std::vector<Value> carried{k.b.constant_int(Type::scalar(dtype), 0), k.b.i32(0)};
  auto results = k.b.for_loop(bound(0), bound(1), bound(2), carried, [&](std::span<const Value> p) {
    return Builder::Values{k.b.add(p[1], p[0]), k.b.add(p[2], k.b.i32(1))};
  });
  k.store(sums, results[0]);
  k.store(counts, results[1]);
  uint64_t top = bits_of_int(dtype, is_signed_int(dtype) ? static_cast<int64_t>((uint64_t{1} << (bits_of(dtype) - 1)) - 1) : -1);
  uint64_t low = is_signed_int(dtype) ? bits_of_int(dtype, static_cast<int64_t>(uint64_t{1} << (bits_of(dtype) - 1))) : 0;
  uint64_t mask = ~uint64_t{0} >> (64 - bits_of(dtype));
  std::vector<uint64_t> bounds{0, 10, 1,  0, 10, 3,  5, 5, 1,  7, 2, 1,  top - 5, top, 1,  top - 5, top, 4,  (low + 1) & mask, (low + 3) & mask, 100,
                               low, (low + 1) & mask, top,  0, 1, top,  bits_of_int(dtype, -3), 3, 2};
  int64_t loops = static_cast<int64_t>(bounds.size()) / 3;
  return finish_case(k, {buffer_of(dtype, bounds), filled(dtype, loops * threads, 0), filled(DType::I32, loops * threads, 0)}, loops * threads);
}

/// Collatz steps by while with an if inside; vectors and pointers carried; nested loops; conditions that differ by thread.
Case control_case(int threads) {
  Kernel k("control", 4, threads);
  int64_t count = int64_t{4} * threads * 8;
  Value in = k.pointer(DType::I32, true), steps_out = k.pointer(DType::I32), sums_out = k.pointer(DType::I32), last_out = k.pointer(DType::I32);
  Value x = k.load(in, DType::I32), start = k.b.extract(x, 1);
  auto constant = [&](int64_t value) { return k.b.i32(value); };
  std::vector<Value> carried{start, constant(0)};
  auto walked = k.b.while_loop(
      carried, [&](std::span<const Value> p) { return Builder::Values{k.b.binary(Op::Gt, p[0], constant(1))}; },
      [&](std::span<const Value> p) {
        Value odd = k.b.cast(k.b.binary(Op::And, p[0], constant(1)), DType::Bool);
        auto next = k.b.if_else(
            odd, [&](std::span<const Value>) { return Builder::Values{k.b.add(k.b.mul(p[0], constant(3)), constant(1))}; },
            [&](std::span<const Value>) { return Builder::Values{k.b.binary(Op::Shr, p[0], constant(1))}; });
        return Builder::Values{next[0], k.b.add(p[1], constant(1))};
      });
  k.store(steps_out, k.splat(walked[1]));

  std::vector<Value> inner_start{x, k.b.ptr_add(in, k.index())};
  auto summed = k.b.for_loop(constant(0), k.b.binary(Op::Rem, walked[1], constant(5)), constant(1), inner_start, [&](std::span<const Value> p) {
    std::vector<Value> one{p[1]};
    auto inner = k.b.for_loop(constant(0), p[0], constant(2), one, [&](std::span<const Value> q) {
      return Builder::Values{k.b.add(q[1], k.b.load_block(p[2], DType::I32, 4, 2))};
    });
    return Builder::Values{inner[0], p[2]};
  });
  k.store(sums_out, summed[0]);
  k.b.if_else(
      k.b.binary(Op::Lt, k.b.thread_id(), constant(3)),
      [&](std::span<const Value>) { k.b.store(k.b.ptr_add(last_out, k.index()), k.b.extract(summed[0], 3)); return Builder::Values{}; },
      [&](std::span<const Value>) { return Builder::Values{}; });
  std::vector<uint64_t> starts;
  for (int64_t n = 0; n < count; ++n) starts.push_back(static_cast<uint64_t>(n % 97));
  return finish_case(k, {buffer_of(DType::I32, starts), filled(DType::I32, count, -1), filled(DType::I32, count, -1), filled(DType::I32, count, -1)}, count);
}

/// Where a program is in a grid of three axes.
Case grid_case(int threads) {
  Kernel k("grid", 1, threads);
  Value out = k.pointer(DType::I32);
  Grid grid{3, 4, 5};
  Value x = k.b.program_id(0), y = k.b.program_id(1), z = k.b.program_id(2);
  Value linear = k.b.add(x, k.b.mul(k.b.num_programs(0), k.b.add(y, k.b.mul(k.b.num_programs(1), z))));
  Value first = k.b.mul(linear, k.b.i32(4));
  Value is_first = k.b.binary(Op::Eq, k.b.thread_id(), k.b.i32(0));
  std::vector<Value> told{x, y, z, k.b.num_programs(2)};
  for (size_t n = 0; n < told.size(); ++n) k.b.store(k.b.ptr_add(out, k.b.add(first, k.b.i32(static_cast<int64_t>(n)))), told[n], is_first);
  Case c = finish_case(k, {filled(DType::I32, 4 * 60, -1)}, 1);
  c.grid = grid;
  return c;
}

// --- scratch and threads

/// Each program reverses its part through scratch; two arrays at different offsets, one of them of bools.
Case scratch_case(DType dtype, int lanes, int threads) {
  Kernel k(title("scratch", dtype, lanes), lanes, threads);
  int64_t part = int64_t{lanes} * threads, count = part * 4, flags_at = (part * size_of(dtype) + 15) / 16 * 16;
  Value in = k.pointer(dtype, true), out = k.pointer(dtype);
  Value values = k.b.alloc(Space::Shared, dtype, part), flags = k.b.alloc(Space::Shared, DType::Bool, part);
  k.b.set_aux(flags, static_cast<uint32_t>(flags_at));
  Value own = k.b.mul(k.b.thread_id(), k.b.i32(lanes)), x = k.load(in, dtype);
  auto store = [&](Value base, Value value) {
    Value p = k.b.ptr_add(base, own);
    if (lanes == 1) k.b.store(p, value);
    else k.b.store_block(p, value, k.align(k.b.type(value).dtype));
  };
  store(values, x);
  store(flags, k.b.cast(x, DType::Bool));
  k.b.barrier();
  Value place = k.splat(k.b.sub(k.b.i32(part - 1), own));
  if (lanes > 1) place = k.b.sub(place, k.b.arange(DType::I32, 0, lanes));
  Value value = k.b.load(k.b.ptr_add(k.splat(values), place)), flag = k.b.load(k.b.ptr_add(k.splat(flags), place));
  k.store(out, k.b.where(flag, value, k.b.constant_int(k.type(dtype), 1)));
  return finish_case(k, {random_buffer(dtype, count, 13), filled(dtype, count, 0)}, count, flags_at + part);
}

/// A private array, written and read at run-time places.
Case local_case(int threads) {
  Kernel k("local", 1, threads);
  int64_t count = int64_t{threads} * 3;
  Value in = k.pointer(DType::I32, true), out = k.pointer(DType::I64);
  Value array = k.b.alloc(Space::Local, DType::I64, 16);
  k.b.for_loop(k.b.i32(0), k.b.i32(16), k.b.i32(1), {}, [&](std::span<const Value> p) {
    k.b.store(k.b.ptr_add(array, p[0]), k.b.cast(k.b.mul(p[0], p[0]), DType::I64));
    return Builder::Values{};
  });
  Value place = k.b.binary(Op::And, k.load(in, DType::I32), k.b.i32(15));
  k.store(out, k.b.load(k.b.ptr_add(array, place)));
  return finish_case(k, {random_buffer(DType::I32, count, 17), filled(DType::I64, count, 0)}, count);
}

Case exchange_case(DType dtype, int lanes, int threads) {
  Kernel k(title("exchange", dtype, lanes), lanes, threads);
  int64_t count = int64_t{lanes} * threads;
  Value in = k.pointer(dtype, true);
  Value x = k.load(in, dtype);
  std::vector<Buffer> buffers{random_buffer(dtype, count, 19)};
  for (int64_t distance = 1; distance < std::min(threads, 32); distance *= 2) {
    x = k.b.exchange(x, distance);
    k.store(k.pointer(dtype), x);
    buffers.push_back(filled(dtype, count, 0));
  }
  Value p = k.b.exchange(k.b.ptr_add(in, k.index()), 1);  // a pointer
  Value through = k.b.load(p);
  k.store(k.pointer(dtype), k.splat(through));
  buffers.push_back(filled(dtype, count, 0));
  return finish_case(k, std::move(buffers), count);
}

/// A long chain, each link on the one before.
Case deep_case(int length, int threads) {
  Kernel k("deep", 4, threads);
  Value x = k.load(k.pointer(DType::F32, true), DType::F32), y = x;
  for (int n = 0; n < length; ++n) y = k.b.sub(k.b.mul(y, x), k.b.constant(k.type(DType::F32), n % 7));
  k.store(k.pointer(DType::F32), y);
  return finish_case(k, {random_buffer(DType::F32, 4 * threads, 23), filled(DType::F32, 4 * threads, 0)}, 4 * threads);
}

void add_memory_cases(std::vector<Case>& all, DType dtype, int lanes, int threads) {
  all.push_back(block_case(dtype, lanes, threads));
  all.push_back(gather_case(dtype, lanes, threads));
  all.push_back(scratch_case(dtype, lanes, threads));
  if (dtype != DType::Bool) all.push_back(atomic_case(dtype, lanes, threads));
  if (lanes > 1) all.push_back(shuffle_case(dtype, lanes, threads));
  if (threads > 1) all.push_back(exchange_case(dtype, lanes, threads));
}

}  // namespace

std::vector<Case> lane_cases(int threads) {
  std::vector<Case> all;
  for (DType dtype : all_dtypes()) {
    for (int lanes : {1, 8, 16}) all.push_back(pointwise_case(dtype, lanes, threads));
    for (int lanes : {1, 8}) all.push_back(cast_case(dtype, lanes, threads));
    for (int lanes : {1, 4, 16}) add_memory_cases(all, dtype, lanes, threads);
    all.push_back(argument_case(dtype, threads));
    if (is_int(dtype)) all.push_back(for_case(dtype, threads));
  }
  for (int lanes : kWidths) {
    all.push_back(pointwise_case(DType::F32, lanes, threads));
    all.push_back(cast_case(DType::F32, lanes, threads));
    all.push_back(cast_case(DType::I64, lanes, threads));
    for (DType dtype : {DType::F32, DType::I8, DType::BF16}) add_memory_cases(all, dtype, lanes, threads);
  }
  all.push_back(resize_case(threads));
  all.push_back(control_case(threads));
  all.push_back(grid_case(threads));
  all.push_back(local_case(threads));
  all.push_back(deep_case(2000, threads));
  return all;
}

// --- running one

namespace {

/// The launch's arguments in order, pointers as `address(k)` of buffer k.
template <class Address>
std::vector<uint64_t> arguments(const Case& c, Address address) {
  std::vector<uint64_t> args;
  size_t buffer = 0, scalar = 0;
  for (Value p : c.lanes.params())
    args.push_back(c.lanes.type(p).is_pointer() ? reinterpret_cast<uint64_t>(address(buffer++)) : c.scalars[scalar++]);
  EXPECT_EQ(buffer, c.buffers.size()) << c.name;
  return args;
}

}  // namespace

std::vector<Buffer> interpret(const Case& c) {
  std::vector<Buffer> buffers = c.buffers;
  interp::InterpOptions options;
  size_t buffer = 0;
  for (size_t k = 0; k < c.lanes.params().size(); ++k) {
    if (!c.lanes.type(c.lanes.params()[k]).is_pointer()) continue;
    Buffer& b = buffers[buffer++];
    options.memories.push_back({c.lanes.param_info(static_cast<int>(k)).name.c_str(), b.bytes.data(), static_cast<int64_t>(b.bytes.size())});
  }
  auto args = arguments(c, [&](size_t k) { return buffers[k].bytes.data(); });
  EXPECT_EQ(interp::to_string(interp::interpret_lanes(c.lanes, c.grid, args, options)), "") << c.name;
  return buffers;
}

std::vector<Buffer> run(const Case& c, Device& device, const Target& target) {
  std::vector<Buffer> buffers = c.buffers;
  std::vector<void*> memory;
  for (const Buffer& b : buffers) {
    memory.push_back(device.allocate(static_cast<int64_t>(b.bytes.size())));
    device.copy_in(memory.back(), b.bytes.data(), static_cast<int64_t>(b.bytes.size()));
  }
  auto executable = device.load(compiler_for(target).compile(c.lanes, target));
  executable->launch(c.grid, arguments(c, [&](size_t k) { return memory[k]; }));
  device.synchronize();
  for (size_t k = 0; k < buffers.size(); ++k) {
    device.copy_out(buffers[k].bytes.data(), memory[k], static_cast<int64_t>(buffers[k].bytes.size()));
    device.release(memory[k]);
  }
  return buffers;
}

std::string difference(const Case& c, const std::vector<Buffer>& wanted, const std::vector<Buffer>& found) {
  for (size_t k = 0; k < wanted.size(); ++k)
    for (int64_t n = 0; n < wanted[k].count(); ++n)
      if (DType t = wanted[k].dtype; !support::same_answer(t, wanted[k].at(n), found[k].at(n)))
        return fmt::format("{}: element {} of buffer {} ({}) is {}, expected {}", c.name, n, k, name_of(t), support::show_bits(t, found[k].at(n)),
                           support::show_bits(t, wanted[k].at(n)));
  return "";
}

}  // namespace strider::backend_test
