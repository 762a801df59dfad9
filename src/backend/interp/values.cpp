// SPDX-License-Identifier: Apache-2.0
#include "backend/interp/values.h"

#include <algorithm>
#include <new>

#include "base/error.h"
#include "ir/semantics.h"

namespace strider::interp {

using ir::Function;
using ir::Op;
using ir::Region;
using ir::Type;
using ir::Value;

Values::Values(const Function& f, int threads)
    : f_(f), threads_(threads), places_(f.size()), offsets_(f.size(), kNowhere), results_(f.size()) {
  const Context program{kProgram, threads};
  for (Value p : f.params()) place_fresh(p, program, true);
  place_region(0, program);
  allocate();
  for (uint32_t id = 0; id < f.size(); ++id)
    if (offsets_[id] != kNowhere) fill(Value{id});
}

// --- layout

void Values::place_fresh(Value v, Context context, bool uniform) {
  const int64_t lanes = f_.type(v).elements();
  places_[v.id] = {.lanes = lanes, .context = context.id, .uniform = uniform};
  offsets_[v.id] = total_;
  total_ += uniform ? 1 : static_cast<size_t>(context.width * lanes);
}

void Values::place_like(Value v, Value other) {
  places_[v.id] = places_[other.id];
  places_[v.id].lanes = f_.type(v).elements();
  offsets_[v.id] = offsets_[other.id];
}

/// Whether the slots of `v` are those of its operand in the same order.
bool Values::is_view(Value v, Context context) const {
  const Op op = f_[v].op;
  if (op == Op::Reshape || op == Op::ExpandDims || op == Op::Hint) return true;
  if (op != Op::Broadcast && op != Op::Trans && op != Op::Extract) return false;
  const Place& from = places_[f_.operand(v, 0).id];
  return from.uniform || (op == Op::Broadcast && context.width == 1 && from.lanes == 1);
}

bool Values::is_uniform(Value v) const {
  const Op op = f_[v].op;
  if (op == Op::Constant || op == Op::ProgramId || op == Op::NumPrograms || op == Op::Alloc) return true;
  if (!ir::is_pointwise(op)) return false;
  return std::ranges::all_of(f_.operands(v), [&](Value a) { return places_[a.id].uniform; });
}

void Values::note_result(Value v) {
  std::vector<Value>& known = results_[f_.operand(v, 0).id];
  const size_t index = static_cast<size_t>(f_[v].imm);
  if (known.size() <= index) known.resize(index + 1);
  known[index] = v;
}

/// Carried values live in the parameters of the loop's body; the condition's parameters and the results are views of them.
void Values::place_loop(Value v, Context context) {
  const int body = f_[v].region_count - 1;
  const auto& params = f_.region(v, body).params;
  for (Value p : params) place_fresh(p, context);
  if (body == 1) {
    const auto& same = f_.region(v, 0).params;
    for (size_t k = 0; k < same.size(); ++k) place_like(same[k], params[k]);
  }
  for (int k = 0; k <= body; ++k) place_region(f_.region_of(v, k), context);
}

/// The widest level of a reduction combines half of the axis at once, that of a scan all elements but the first.
void Values::place_fold(Value v, Context context) {
  if (context.id != kProgram) unsupported_error("a combine function cannot hold {}", name_of(f_[v].op));
  const Type& tile = f_.type(f_.operand(v, 0));
  const int64_t n = tile.shape[static_cast<int>(f_[v].imm)];
  const int64_t rows = f_[v].op == Op::Reduce ? n / 2 : n - 1;
  const Context inner{v.id, rows * (tile.elements() / n)};
  for (Value p : f_.region(v, 0).params) places_[p.id] = {.lanes = 1, .context = v.id};
  place_region(f_.region_of(v, 0), inner);
}

namespace {
void check_combine(const Function& f, Value v) {
  const Op op = f[v].op;
  const bool control = op == Op::For || op == Op::While || op == Op::If || op == Op::Yield || op == Op::Result;
  const bool leaf = op == Op::Constant || op == Op::ProgramId || op == Op::NumPrograms;
  if (!control && !leaf && !ir::is_pointwise(op)) unsupported_error("a combine function cannot hold {}", name_of(op));
  if (!f.type(v).is_scalar())
    user_error("a combine function computes on scalars, found {} of {}", name_of(op), to_string(f.type(v)));
}
}  // namespace

void Values::place(Value v, Context context) {
  const Op op = f_[v].op;
  const bool folds = op == Op::Reduce || op == Op::Scan;
  if (context.id != kProgram && !folds) check_combine(f_, v);
  if (folds) return place_fold(v, context);
  if (op == Op::For || op == Op::While) return place_loop(v, context);
  if (op == Op::Result) {
    note_result(v);
    const Value owner = f_.operand(v, 0);
    const Op owner_op = f_[owner].op;
    if (owner_op == Op::For) return place_like(v, f_.region(owner, 0).params[f_[v].imm + 1]);
    if (owner_op == Op::While) return place_like(v, f_.region(owner, 1).params[f_[v].imm]);
  }
  if (is_view(v, context)) {
    place_like(v, f_.operand(v, 0));
    places_[v.id].uniform |= op == Op::Broadcast;
  } else if (!f_.type(v).is_void) {
    place_fresh(v, context, is_uniform(v));
  }
  for (int k = 0; k < f_[v].region_count; ++k) place_region(f_.region_of(v, k), context);
}

void Values::place_region(ir::RegionId id, Context context) {
  for (Value v : f_.region(id).body) place(v, context);
}

/// Pages of calloc cost nothing until they are used: a tile of 2^20 elements is seldom full.
void Values::allocate() {
  slots_.reset(static_cast<uint64_t*>(std::calloc(std::max<size_t>(total_, 1), sizeof(uint64_t))));
  if (!slots_) throw std::bad_alloc();
  for (size_t id = 0; id < places_.size(); ++id)
    if (offsets_[id] != kNowhere) places_[id].data = slots_.get() + offsets_[id];
}

// --- leaves

namespace {
uint64_t arange_lane(const Function& f, Value v, int64_t lane) { return ir::bits_of_int(f.type(v).dtype, f[v].imm + lane); }
uint64_t vector_lane(const Function& f, Value v, int64_t lane) { return static_cast<uint64_t>(f.table(v)[lane]); }
}  // namespace

void Values::fill_lanes(Value v, uint64_t (*lane)(const Function&, Value, int64_t)) {
  const Place& place = places_[v.id];
  for (int64_t t = 0; t < threads_; ++t)
    for (int64_t k = 0; k < place.lanes; ++k) place.data[t * place.lanes + k] = lane(f_, v, k);
}

/// A pointer to shared or local memory is a byte offset into the program's scratch or the thread's arena.
uint64_t Values::allocation_start(Value v) {
  constexpr int64_t kAlignment = 64;
  if (f_.type(v).space == ir::Space::Shared) return f_[v].aux;
  const int64_t start = local_bytes_;
  const int64_t bytes = f_[v].imm * size_of(f_.type(v).dtype);
  local_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return static_cast<uint64_t>(start);
}

void Values::fill(Value v) {
  switch (f_[v].op) {
    case Op::Constant: return set_splat(v, static_cast<uint64_t>(f_[v].imm));
    case Op::Arange: return fill_lanes(v, arange_lane);
    case Op::Vector: return fill_lanes(v, vector_lane);
    case Op::Alloc: return set_splat(v, allocation_start(v));
    case Op::ThreadId:
      for (int64_t t = 0; t < threads_; ++t) places_[v.id].data[t] = static_cast<uint64_t>(t);
      return;
    default: return;
  }
}

}  // namespace strider::interp
