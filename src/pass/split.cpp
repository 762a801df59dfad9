// SPDX-License-Identifier: Apache-2.0
#include "pass/split.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "pass/index_map.h"

namespace strider::pass {

using namespace ir;

namespace {

constexpr size_t kMostStatements = 4000;  // a longer body is not doubled

/// A mask `index < bound` or `index <= bound`: a tile of integers that does not fall from lane to lane, against a scalar.
struct Bound {
  Value mask;
  Value index;  // tile
  Value bound;  // scalar
  int64_t rise;
  bool inclusive;
};

/// The scalar that a tile repeats, if it does.
std::optional<Value> repeated_scalar(const Function& f, Value v) {
  while (has(f[v].op, Shapes)) v = f.operand(v, 0);
  if (f.type(v).is_scalar()) return v;
  return std::nullopt;
}

std::optional<int64_t> rise(const Function& f, Value v);

/// The same, without looking whether the dtype holds it.
std::optional<int64_t> unlimited_rise(const Function& f, Value v) {
  const Node& n = f[v];
  if (n.type.is_scalar() || n.op == Op::Constant) return 0;
  auto of = [&](int k) { return rise(f, f.operand(v, k)); };
  int64_t factor;
  switch (n.op) {
    case Op::Arange: return n.type.elements() - 1;
    case Op::Broadcast:
    case Op::ExpandDims:
    case Op::Trans:
    case Op::Reshape: return of(0);
    case Op::Cast: {
      const Type& inner = f.type(f.operand(v, 0));
      bool widens = is_int(inner.dtype) && bits_of(n.type.dtype) >= bits_of(inner.dtype) && is_int(n.type.dtype);
      return widens ? of(0) : std::nullopt;
    }
    case Op::Sub:
      if (!repeated_scalar(f, f.operand(v, 1))) return std::nullopt;
      return of(0);
    case Op::Add:
      if (auto a = of(0), b = of(1); a && b) return *a + *b;
      return std::nullopt;
    case Op::Mul:
      for (int k = 0; k < 2; ++k)
        if (constant_int(f, f.operand(v, k), &factor) && factor > 0 && factor < kMaxElements)
          if (auto other = of(1 - k)) return *other * factor;
      return std::nullopt;
    default: return std::nullopt;
  }
}

/// How much larger the last lane is than the first, for sums of lane numbers, of their products with constants above zero,
/// and of scalars; nothing for other tiles, nor where half the range of the dtype does not hold it.
std::optional<int64_t> rise(const Function& f, Value v) {
  auto range = unlimited_rise(f, v);
  bool is_held = range && *range < int64_t{1} << std::min(40, bits_of(f.type(v).dtype) - 1);
  return is_held ? range : std::nullopt;
}

/// The bound masks among those that guard accesses.
class Masks {
 public:
  explicit Masks(const Function& f) : f_(f) {
    for (uint32_t id = 0; id < f.size(); ++id)
      if (has(f[Value{id}].op, Reads | Writes)) collect_guard(Value{id});
  }
  const std::vector<Bound>& bounds() const { return bounds_; }

 private:
  void collect_guard(Value access) {
    int at = mask_operand(f_[access].op, f_[access].imm);
    if (at < f_[access].operand_count) collect_mask(f_.operand(access, at));
  }
  void collect_mask(Value mask);
  void collect_comparison(Value mask);

  const Function& f_;
  std::vector<Bound> bounds_;
  std::unordered_set<uint32_t> seen_;
};

void Masks::collect_mask(Value all) {
  std::vector<Value> open{all};
  while (!open.empty()) {
    Value mask = open.back();
    open.pop_back();
    const Node& n = f_[mask];
    if (n.type.is_scalar() || !seen_.insert(mask.id).second) continue;
    auto operands = f_.operands(mask);
    if (n.op == Op::And || has(n.op, Shapes)) open.insert(open.end(), operands.rbegin(), operands.rend());
    if (n.op == Op::Lt || n.op == Op::Le || n.op == Op::Gt || n.op == Op::Ge) collect_comparison(mask);
  }
}

void Masks::collect_comparison(Value mask) {
  Op op = f_[mask].op;
  bool swapped = op == Op::Gt || op == Op::Ge;
  Value index = f_.operand(mask, swapped ? 1 : 0), bound = f_.operand(mask, swapped ? 0 : 1);
  if (!is_int(f_.type(index).dtype) || f_.type(index).is_pointer()) return;
  if (is_large(f_, index) || is_large(f_, bound)) return;
  auto scalar = repeated_scalar(f_, bound);
  if (!scalar && f_.is_constant(bound)) scalar = bound;
  auto range = rise(f_, index);
  if (scalar && range) bounds_.push_back({mask, index, *scalar, *range, op == Op::Le || op == Op::Ge});
}

/// An integer as coefficient * loop index + rest, computed in 64 bits.
struct Linear {
  int64_t coefficient;
  Value rest;
};

/// Casts of integers that do not wrap inside 31 bits: narrower ones may have become negative, and large when unsigned.
bool keeps_linear(DType from, DType to) { return is_int(from) && is_int(to) && bits_of(from) >= 32 && bits_of(to) >= 32; }

class Splitter : public Rewriter {
 public:
  explicit Splitter(const Function& f) : Rewriter(f), masks_(f) {}
  Function split();

 protected:
  void visit(Value v) override;

 private:
  // predicates
  std::optional<Value> scalar_here(Value v);
  std::optional<Value> first_lane(Value v, std::vector<Value>& conditions);
  std::optional<Value> holds(const Bound& bound);
  std::optional<Linear> linear(Value v, Value loop_index, bool is_whole = true);
  std::optional<Value> full_iterations_end(const Bound& bound, Value loop);
  Value conjunction(std::span<const Value> conditions);
  Value within_limits(Value v, int bits);
  Value wide(Value v) { return b.cast(v, DType::I64); }

  // writing
  void with_true(std::span<const Bound> bounds, const std::function<void()>& write);
  void split_program(std::span<const Bound> bounds, Value all_hold);
  bool split_loop(Value loop);
  std::vector<Value> write_loop(Value loop, Value lo, Value hi, std::span<const Value> carried);
  bool is_inside(Value v, RegionId region) const;
  bool holds_loop(RegionId region) const;
  bool is_at_top(Value v) const;

  Masks masks_;
  std::unordered_set<uint32_t> true_;
  std::unordered_map<uint32_t, Value> split_results_;  // results of loops that have become two
  bool splits_loops_ = false;
};

// --- predicates

/// The scalar `v` at this place, computed again if it has not been written yet; nothing if it depends on memory or a loop.
std::optional<Value> Splitter::scalar_here(Value v) {
  const Node& n = from[v];
  if (n.op == Op::Constant) return b.constant_bits(n.type.with_shape({}), static_cast<uint64_t>(n.imm));
  if (map(v).valid()) return map(v);
  bool is_leaf = n.op == Op::ProgramId || n.op == Op::NumPrograms || n.op == Op::Hint;
  if (!n.type.is_scalar() || !(is_leaf || is_pointwise(n.op))) return std::nullopt;
  std::vector<Value> operands;
  for (Value o : from.operands(v)) {
    auto here = scalar_here(o);
    if (!here) return std::nullopt;
    operands.push_back(*here);
  }
  return b.emit(n.op, operands, n.imm, &n.type);
}

/// The index in the first lane, in its own dtype. Where it is widened, `conditions` ask that no lane overflowed before.
std::optional<Value> Splitter::first_lane(Value v, std::vector<Value>& conditions) {
  const Node& n = from[v];
  if (n.type.is_scalar() || n.op == Op::Constant) return scalar_here(v);
  if (n.op == Op::Arange) return b.constant_int(n.type.with_shape({}), n.imm);
  std::vector<Value> operands;
  for (Value o : from.operands(v)) {
    auto first = first_lane(o, conditions);
    if (!first) return std::nullopt;
    operands.push_back(*first);
  }
  if (has(n.op, Shapes)) return operands[0];
  if (n.op == Op::Cast) {
    Value last = b.add(operands[0], b.constant_int(b.type(operands[0]), *rise(from, from.operand(v, 0))));
    conditions.push_back(b.binary(Op::Le, operands[0], last));
  }
  Type type = n.type.with_shape({});
  return b.emit(n.op, operands, n.imm, &type);
}

Value Splitter::conjunction(std::span<const Value> conditions) {
  Value all = b.boolean(true);
  for (Value c : conditions) all = b.binary(Op::And, all, c);
  return all;
}

/// -2^bits < v < 2^bits, so that sums and products with it do not overflow.
Value Splitter::within_limits(Value v, int bits) {
  Value limit = b.i64(int64_t{1} << bits);
  return b.binary(Op::And, b.binary(Op::Lt, b.unary(Op::Neg, limit), v), b.binary(Op::Lt, v, limit));
}

/// Whether the mask is true in every lane, as far as that can be told here.
std::optional<Value> Splitter::holds(const Bound& bound) {
  std::vector<Value> conditions;
  auto first = first_lane(bound.index, conditions);
  auto limit = scalar_here(bound.bound);
  if (!first || !limit) return std::nullopt;
  Value last = b.add(*first, b.constant_int(b.type(*first), bound.rise));
  conditions.push_back(b.binary(Op::Le, *first, last));
  conditions.push_back(b.binary(bound.inclusive ? Op::Le : Op::Lt, last, *limit));
  return conjunction(conditions);
}

/// `v` in its first lane as a linear function of the loop's index, computed without overflow in 64 bits from narrower parts. Only
/// the whole may be a widened sum or product: of a part, nothing keeps the values from wrapping before.
std::optional<Linear> Splitter::linear(Value v, Value loop_index, bool is_whole) {
  const Node& n = from[v];
  // Narrower or unsigned arithmetic may wrap where 64 bits do not.
  if (!is_signed_int(n.type.dtype) || bits_of(n.type.dtype) < 32) return std::nullopt;
  if (v == loop_index) return Linear{1, b.i64(0)};
  if (n.type.is_scalar() || n.op == Op::Constant)
    if (auto here = scalar_here(v)) return Linear{0, wide(*here)};
  if (n.op == Op::Arange) return Linear{0, b.i64(n.imm)};
  if (n.op == Op::Cast && !keeps_linear(from.type(from.operand(v, 0)).dtype, n.type.dtype)) return std::nullopt;
  if (has(n.op, Shapes)) return linear(from.operand(v, 0), loop_index, is_whole);
  if (n.op == Op::Cast) {
    auto inner = linear(from.operand(v, 0), loop_index, is_whole);
    bool is_index = repeated_scalar(from, from.operand(v, 0)) == std::optional(loop_index);
    return is_whole || is_index || (inner && inner->coefficient == 0) ? inner : std::nullopt;
  }
  if (n.op != Op::Add && n.op != Op::Sub && n.op != Op::Mul) return std::nullopt;
  auto x = linear(from.operand(v, 0), loop_index, false), y = linear(from.operand(v, 1), loop_index, false);
  if (!x || !y) return std::nullopt;
  if (n.op == Op::Add) return Linear{x->coefficient + y->coefficient, b.add(x->rest, y->rest)};
  if (n.op == Op::Sub) return Linear{x->coefficient - y->coefficient, b.sub(x->rest, y->rest)};
  int64_t factor;
  if (constant_int(b.function(), y->rest, &factor) && y->coefficient == 0) return Linear{x->coefficient * factor, b.mul(x->rest, y->rest)};
  if (constant_int(b.function(), x->rest, &factor) && x->coefficient == 0) return Linear{y->coefficient * factor, b.mul(x->rest, y->rest)};
  return std::nullopt;
}

/// An i64 below which every value of the loop's index makes the mask true in all lanes. Index arithmetic narrower than
/// 64 bits must not have overflowed: the limit also keeps every lane, and the first one from below, inside 31 bits there.
std::optional<Value> Splitter::full_iterations_end(const Bound& bound, Value loop) {
  Value index = from.region(loop, 0).params[0];
  auto first = linear(bound.index, index);
  auto limit = scalar_here(bound.bound);
  if (!first || !limit || first->coefficient < 0 || first->coefficient >= kMaxElements) return std::nullopt;
  if (from.type(bound.index).dtype == DType::U64) return std::nullopt;
  constexpr int64_t kNarrow = (int64_t{1} << 31) - 1;
  Value within = b.binary(Op::Minimum, b.binary(Op::Maximum, wide(*limit), b.i64(-1)), b.i64(kNarrow - 1));
  Value last_allowed = b.add(within, b.i64(bound.inclusive ? 1 : 0));
  Value room = b.sub(b.sub(last_allowed, b.i64(bound.rise)), first->rest);
  if (first->coefficient == 0) {
    Value conditions[] = {b.binary(Op::Ge, first->rest, b.i64(0)), b.binary(Op::Gt, room, b.i64(0)), within_limits(first->rest, 61)};
    return b.where(conjunction(conditions), b.i64(INT64_MAX), b.i64(INT64_MIN));
  }
  // index * c + rest + rise < allowed  <=>  index < ceil(room / c); a negative room allows none
  Value c = b.i64(first->coefficient);
  Value end = b.binary(Op::Div, b.add(b.binary(Op::Maximum, room, b.i64(0)), b.i64(first->coefficient - 1)), c);
  Value start = b.add(b.mul(wide(map(from.operand(loop, 0))), c), first->rest);
  Value conditions[] = {b.binary(Op::Ge, start, b.i64(0)), b.binary(Op::Gt, room, b.i64(0)), within_limits(first->rest, 61),
                        within_limits(wide(map(from.operand(loop, 0))), 32)};
  return b.where(conjunction(conditions), end, b.i64(INT64_MIN));
}

// --- writing

void Splitter::visit(Value v) {
  if (auto it = split_results_.find(v.id); it != split_results_.end()) return set(v, it->second);
  if (true_.contains(v.id)) return set(v, b.constant_bits(from.type(v), 1));
  if (from[v].op == Op::For && splits_loops_ && split_loop(v)) return;
  copy(v);
}

/// Writes something with the masks taken as true, those that are written already included.
void Splitter::with_true(std::span<const Bound> bounds, const std::function<void()>& write) {
  std::vector<Value> before;
  for (const Bound& bound : bounds) {
    before.push_back(map(bound.mask));
    true_.insert(bound.mask.id);
    if (before.back().valid()) set(bound.mask, b.constant_bits(from.type(bound.mask), 1));
  }
  write();
  for (size_t k = 0; k < bounds.size(); ++k) {
    set(bounds[k].mask, before[k]);
    true_.erase(bounds[k].mask.id);
  }
}

/// if (all masks hold) the program without them, else the program.
void Splitter::split_program(std::span<const Bound> bounds, Value all_hold) {
  Value branch = b.open(Op::If, {{all_hold}}, 0, Type::none(), 2);
  b.set_flags(branch, kLikely);
  auto write = [&](int region) {
    b.begin_region(branch, region, {});
    visit_body(0);
    b.yield({});
    b.end_region();
  };
  with_true(bounds, [&] { write(0); });
  write(1);
}

bool Splitter::holds_loop(RegionId region) const {
  for (Value v : from.region(region).body)
    for (int k = 0; k < from[v].region_count; ++k)
      if (from[v].op == Op::For || from[v].op == Op::While || holds_loop(from.region_of(v, k))) return true;
  return false;
}

bool Splitter::is_inside(Value v, RegionId region) const {
  for (Value s : from.region(region).body) {
    if (s == v) return true;
    for (int k = 0; k < from[s].region_count; ++k)
      if (is_inside(v, from.region_of(s, k))) return true;
  }
  return false;
}

/// Writes the loop over [lo, hi) from new initial values; gives what it carries out.
std::vector<Value> Splitter::write_loop(Value loop, Value lo, Value hi, std::span<const Value> carried) {
  std::vector<Value> operands{lo, hi, map(from.operand(loop, 2))};
  operands.insert(operands.end(), carried.begin(), carried.end());
  Value written = b.open(Op::For, operands, 0, Type::none(), 1);
  copy_region(written, 0, from.region_of(loop, 0));
  std::vector<Value> results;
  for (size_t k = 0; k < carried.size(); ++k) results.push_back(b.result(written, static_cast<int>(k), b.type(carried[k])));
  set(loop, written);
  return results;
}

/// An innermost loop whose masks tell full iterations from others becomes two loops. False if there is nothing to tell.
bool Splitter::split_loop(Value loop) {
  RegionId body = from.region_of(loop, 0);
  if (holds_loop(body)) return false;
  std::vector<Bound> bounds;
  Value end;
  for (const Bound& bound : masks_.bounds()) {
    if (!is_inside(bound.mask, body)) continue;
    auto limit = full_iterations_end(bound, loop);
    if (!limit) continue;
    bounds.push_back(bound);
    end = end.valid() ? b.binary(Op::Minimum, end, *limit) : *limit;
  }
  if (bounds.empty()) return false;
  Value lo = map(from.operand(loop, 0)), hi = map(from.operand(loop, 1)), step = map(from.operand(loop, 2));
  // The full iterations end at the first step of the loop at or past `end`.
  Value span = b.sub(b.binary(Op::Minimum, wide(hi), b.binary(Op::Maximum, end, wide(lo))), wide(lo));
  Value count = b.binary(Op::Div, b.add(span, b.sub(wide(step), b.i64(1))), wide(step));
  Value middle = b.cast(b.add(wide(lo), b.mul(b.binary(Op::Maximum, count, b.i64(0)), wide(step))), b.type(lo).dtype);

  std::vector<Value> carried = map(from.operands(loop).subspan(3));
  with_true(bounds, [&] { carried = write_loop(loop, lo, middle, carried); });
  carried = write_loop(loop, middle, hi, carried);
  for (uint32_t id = loop.id + 1; id < from.size(); ++id)
    if (Value r{id}; from[r].op == Op::Result && from.operand(r, 0) == loop) split_results_[id] = carried[from[r].imm];
  return true;
}

Function Splitter::split() {
  for (size_t k = 0; k < from.params().size(); ++k)
    set(from.params()[k], b.param(from.type(from.params()[k]), from.param_info(static_cast<int>(k))));
  bool is_short = from.size() <= kMostStatements;
  std::vector<Bound> bounds;
  std::vector<Value> conditions;
  bool depends_on_loop = false;
  for (const Bound& bound : masks_.bounds()) {
    auto condition = is_short ? holds(bound) : std::nullopt;
    if (condition) {
      bounds.push_back(bound);
      conditions.push_back(*condition);
    }
    depends_on_loop |= !condition && !is_at_top(bound.mask);
  }
  splits_loops_ = is_short && depends_on_loop;
  if (bounds.empty() || splits_loops_) visit_body(0);
  else split_program(bounds, conjunction(conditions));
  return b.finish();
}

bool Splitter::is_at_top(Value v) const {
  const auto& body = from.body().body;
  return std::find(body.begin(), body.end(), v) != body.end();
}

}  // namespace

Function split(const Function& tile) { return Splitter(tile).split(); }

}  // namespace strider::pass
