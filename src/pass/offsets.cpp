// SPDX-License-Identifier: Apache-2.0
#include "pass/offsets.h"

#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "ir/fold.h"
#include "ir/rewrite.h"

namespace strider::pass {

using namespace ir;

namespace {

enum class Motion {
  None,    // carried as it is
  Steady,  // first + trip * scalar
  Scalar,  // first + carried scalar
  Tile,    // first + carried tile of offsets
};

struct Carried {
  Motion motion = Motion::None;
  std::vector<Value> increments;  // source values, added in each iteration
  DType dtype = DType::I64;       // of their sum
  Value first;                    // mapped
};

class Mover : public Rewriter {
 public:
  using Rewriter::Rewriter;

 protected:
  void visit(Value v) override;

 private:
  bool is_loop(Value v) const { return from[v].op == Op::For || from[v].op == Op::While; }
  std::optional<std::vector<Value>> increments(Value yielded, Value param) const;
  Value repeated(Value tile) const;
  bool is_outside(Value v, Value loop) const;
  Carried classify(Value loop, size_t position) const;
  void rewrite_loop(Value loop, std::vector<Carried>& carried);
  void write_region(Value loop, Value written, int region, const std::vector<Carried>& carried);
  Value moved(const Carried& c, Value offset);
  Value distance(Value low, Value high);
  Value steady_offset(Value loop, const Carried& c, Value index);
  Value sum(const Carried& c, Value start);
  Type offset_type(const Carried& c, const Type& type) const;

  std::unordered_map<uint32_t, Value> results_;
};

size_t first_carried(Op op) { return op == Op::For ? 3 : 0; }
size_t first_param(Op op) { return op == Op::For ? 1 : 0; }

/// The scalar that a tile repeats, or nothing. A constant stands for itself.
Value Mover::repeated(Value tile) const {
  while (has(from[tile].op, Shapes)) tile = from.operand(tile, 0);
  return from.type(tile).is_scalar() || from.is_constant(tile) ? tile : Value{};
}

/// What `yielded` adds to `param`, if that is all it does.
std::optional<std::vector<Value>> Mover::increments(Value yielded, Value param) const {
  std::vector<Value> steps;
  while (yielded != param) {
    Op op = from[yielded].op;
    if (op != Op::PtrAdd && op != Op::Add) return std::nullopt;
    Value a = from.operand(yielded, 0), s = from.operand(yielded, 1);
    bool swapped = op == Op::Add && !repeated(s).valid() && repeated(a).valid();
    steps.push_back(swapped ? a : s);
    yielded = swapped ? s : a;
  }
  return steps;
}

bool Mover::is_outside(Value v, Value loop) const { return from.is_constant(v) || v.id < loop.id; }

Carried Mover::classify(Value loop, size_t position) const {
  Op op = from[loop].op;
  Carried result;
  const Type& type = from.type(from.operand(loop, static_cast<int>(first_carried(op) + position)));
  bool is_int_tile = is_int(type.dtype) && !type.is_pointer();
  if (type.is_scalar() || !(type.is_pointer() || is_int_tile)) return result;
  const Region& body = from.region(loop, from[loop].region_count - 1);
  auto steps = increments(from.operand(body.body.back(), static_cast<int>(position)), body.params[first_param(op) + position]);
  if (!steps && type.is_pointer())
    unsupported_error("{}: a carried tile of pointers may only be moved by adding to it", name_of(op));
  if (!steps) return result;
  bool scalar = true, outside = op == Op::For;
  for (Value s : *steps) {
    Value r = repeated(s);
    scalar &= r.valid();
    outside &= r.valid() && is_outside(r, loop);
  }
  if (!scalar && is_int_tile) return result;
  result.increments = *steps;
  result.dtype = type.is_pointer() ? DType::I64 : type.dtype;
  result.motion = outside ? Motion::Steady : scalar ? Motion::Scalar : Motion::Tile;
  return result;
}

/// first + offset, where a scalar offset goes to all lanes.
Value Mover::moved(const Carried& c, Value offset) {
  Value tile = b.broadcast(offset, b.type(c.first).shape);
  return b.type(c.first).is_pointer() ? b.ptr_add(c.first, tile) : b.add(c.first, tile);
}

/// start + all increments (mapped), in the dtype of the sum.
Value Mover::sum(const Carried& c, Value start) {
  for (Value s : c.increments) {
    Value step = c.motion == Motion::Tile ? s : repeated(s);
    Value value = from.is_constant(step) && c.motion != Motion::Tile
                      ? b.constant_bits(Type::scalar(from.type(step).dtype), static_cast<uint64_t>(from[step].imm))
                      : map(step);
    start = b.add(start, b.cast(value, c.dtype));
  }
  return start;
}

/// high - low, for high >= low: as an unsigned number where the dtype may not hold it.
Value Mover::distance(Value low, Value high) {
  int64_t known;
  bool is_held = !is_signed_int(b.type(low).dtype) || (constant_int(b.function(), low, &known) && known >= 0);
  if (is_held) return b.sub(high, low);
  return b.cast(b.sub(b.cast(high, DType::I64), b.cast(low, DType::I64)), DType::U64);
}

/// trip * step, in the iteration with this index.
Value Mover::steady_offset(Value loop, const Carried& c, Value index) {
  Value lo = map(from.operand(loop, 0)), step = map(from.operand(loop, 2));
  Value past = distance(lo, index);
  Value trip = b.binary(Op::Div, past, b.cast(step, b.type(past).dtype));
  return b.mul(b.cast(trip, c.dtype), sum(c, b.constant_int(Type::scalar(c.dtype), 0)));
}

Type Mover::offset_type(const Carried& c, const Type& type) const {
  if (c.motion == Motion::None) return type;
  return c.motion == Motion::Tile ? Type::tile(c.dtype, type.shape) : Type::scalar(c.dtype);
}

void Mover::visit(Value v) {
  if (auto it = results_.find(v.id); it != results_.end()) return set(v, it->second);
  if (!is_loop(v)) return copy(v);
  std::vector<Carried> carried;
  bool any = false;
  for (size_t k = first_carried(from[v].op); k < from.operands(v).size(); ++k) {
    carried.push_back(classify(v, carried.size()));
    any |= carried.back().motion != Motion::None;
  }
  if (any) rewrite_loop(v, carried);
  else copy(v);
}

void Mover::rewrite_loop(Value loop, std::vector<Carried>& carried) {
  Op op = from[loop].op;
  size_t skip = first_carried(op);
  std::vector<Value> operands = map(from.operands(loop).first(skip));
  for (size_t k = 0; k < carried.size(); ++k) {
    Carried& c = carried[k];
    c.first = map(from.operand(loop, static_cast<int>(skip + k)));
    if (c.motion == Motion::Steady) continue;
    operands.push_back(c.motion == Motion::None ? c.first : b.constant_int(offset_type(c, b.type(c.first)), 0));
  }
  Value written = b.open(op, operands, 0, Type::none(), from[loop].region_count);
  set(loop, written);
  for (int k = 0; k < from[loop].region_count; ++k) write_region(loop, written, k, carried);

  std::vector<Value> results(carried.size());
  int next = 0;
  for (size_t k = 0; k < carried.size(); ++k)
    if (carried[k].motion != Motion::Steady) results[k] = b.result(written, next++, offset_type(carried[k], b.type(carried[k].first)));
  for (uint32_t id = loop.id + 1; id < from.size(); ++id) {
    Value r{id};
    if (from[r].op != Op::Result || from.operand(r, 0) != loop) continue;
    const Carried& c = carried[from[r].imm];
    Value out = results[from[r].imm];
    if (c.motion == Motion::Steady) {
      // After the loop the trip count is that of all iterations: ceil((hi - lo) / step), at least none.
      Value lo = map(from.operand(loop, 0)), hi = map(from.operand(loop, 1)), step = map(from.operand(loop, 2));
      Value span = b.cast(distance(lo, b.binary(Op::Maximum, hi, lo)), DType::U64), wide = b.cast(step, DType::U64);
      Value trips = b.binary(Op::Div, b.add(span, b.sub(wide, b.constant_int(b.type(wide), 1))), wide);
      out = b.mul(b.cast(trips, c.dtype), sum(c, b.constant_int(Type::scalar(c.dtype), 0)));
    }
    results_[id] = c.motion == Motion::None ? out : moved(c, out);
  }
}

void Mover::write_region(Value loop, Value written, int region, const std::vector<Carried>& carried) {
  Op op = from[loop].op;
  const Region& source = from.region(loop, region);
  std::vector<Type> types;
  if (op == Op::For) types.push_back(from.type(source.params[0]));
  for (const Carried& c : carried)
    if (c.motion != Motion::Steady) types.push_back(offset_type(c, b.type(c.first)));
  b.begin_region(written, region, types);
  std::vector<Value> params(b.region_params().begin(), b.region_params().end());
  if (op == Op::For) set(source.params[0], params[0]);
  size_t next = first_param(op);
  for (size_t k = 0; k < carried.size(); ++k) {
    const Carried& c = carried[k];
    Value value = c.motion == Motion::Steady ? steady_offset(loop, c, params[0]) : params[next++];
    set(source.params[first_param(op) + k], c.motion == Motion::None ? value : moved(c, value));
  }
  for (Value v : source.body) {
    b.set_span(from.span(v));
    if (from[v].op != Op::Yield) visit(v);
  }
  auto yielded = from.operands(source.body.back());
  bool gives_condition = op == Op::While && region == 0;
  std::vector<Value> out;
  if (gives_condition) out = map(yielded);
  next = first_param(op);
  for (size_t k = 0; k < carried.size() && !gives_condition; ++k) {
    const Carried& c = carried[k];
    if (c.motion == Motion::Steady) continue;
    out.push_back(c.motion == Motion::None ? map(yielded[k]) : sum(c, params[next]));
    ++next;
  }
  b.yield(out);
  b.end_region();
}

}  // namespace

Function take_offsets_out(const Function& tile) { return Mover(tile).run(); }

}  // namespace strider::pass
