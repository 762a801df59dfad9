// SPDX-License-Identifier: Apache-2.0
#include "pass/lanes/lane_value.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "ir/fold.h"
#include "ir/semantics.h"
#include "pass/lanes/layout.h"

namespace strider::pass {

using namespace ir;

namespace {
constexpr int64_t kMostOffset = int64_t{1} << 31;  // of what is computed with: products stay inside 64 bits
}

LaneValue LaneMath::affine(Value base, std::vector<int64_t> offsets) const {
  int64_t least = offsets.empty() ? 0 : *std::min_element(offsets.begin(), offsets.end());
  bool equal = true;
  for (int64_t& o : offsets) {
    o -= least;
    equal &= o == 0;
  }
  if (least != 0)
    base = b_.type(base).is_pointer() ? b_.ptr_add(base, b_.i64(least)) : b_.add(base, b_.constant_int(b_.type(base), least));
  return equal ? uniform(base) : LaneValue{base, std::move(offsets), false};
}

Value LaneMath::materialize(const LaneValue& v) const {
  if (v.is_vector || lanes_ == 1) return v.base;
  Value splat = b_.broadcast(v.base, {lanes_});
  if (v.is_spread()) return b_.type(v.base).is_pointer() ? b_.ptr_add(splat, v.spread) : b_.add(splat, v.spread);
  if (v.offsets.empty()) return splat;
  if (b_.type(v.base).is_pointer()) return b_.ptr_add(splat, b_.vector(DType::I64, v.offsets));
  std::vector<int64_t> bits;
  DType dtype = b_.type(v.base).dtype;
  if (std::vector<int64_t> lanes; constants(v, &lanes)) {
    for (int64_t x : lanes) bits.push_back(static_cast<int64_t>(bits_of_int(dtype, x)));
    return b_.vector(dtype, bits);
  }
  for (int64_t o : v.offsets) bits.push_back(static_cast<int64_t>(bits_of_int(dtype, o)));
  return b_.add(splat, b_.vector(dtype, bits));
}

bool LaneMath::constants(const LaneValue& v, std::vector<int64_t>* out) const {
  int64_t base;
  if (!v.is_affine() || b_.type(v.base).is_pointer() || !constant_int(b_.function(), v.base, &base)) return false;
  out->assign(lanes_, base);
  DType dtype = b_.type(v.base).dtype;
  for (size_t k = 0; k < v.offsets.size(); ++k) (*out)[k] = int_of_bits(dtype, bits_of_int(dtype, base + v.offsets[k]));
  return true;
}

/// Every lane known: compute each, and keep what the results have in common.
LaneValue LaneMath::apply_constants(Op op, DType dtype, std::span<const std::vector<int64_t>> operands, DType from) const {
  std::vector<int64_t> bits(lanes_), values(lanes_);
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    uint64_t args[3];
    for (size_t k = 0; k < operands.size(); ++k) {
      bool is_condition = op == Op::Where && k == 0;
      args[k] = bits_of_int(is_condition ? DType::Bool : from, operands[k][lane]);
    }
    bits[lane] = static_cast<int64_t>(evaluate(op, from, dtype, args));
    values[lane] = is_float(dtype) ? 0 : int_of_bits(dtype, static_cast<uint64_t>(bits[lane]));
  }
  bool equal = std::all_of(bits.begin(), bits.end(), [&](int64_t x) { return x == bits[0]; });
  if (equal) return uniform(b_.constant_bits(Type::scalar(dtype), static_cast<uint64_t>(bits[0])));
  auto [least, most] = std::minmax_element(values.begin(), values.end());
  bool is_spread = static_cast<uint64_t>(*most) - static_cast<uint64_t>(*least) >= static_cast<uint64_t>(kMostOffset);
  if (dtype == DType::Bool || is_float(dtype) || is_spread) return vector(b_.vector(dtype, bits));
  return affine(b_.constant_int(Type::scalar(dtype), 0), values);
}

/// True if base is a multiple of `block` (a power of two) and every lane lies in the block that starts there, without wrapping.
bool LaneMath::stays_in_block(const LaneValue& v, int64_t block) const {
  int64_t most = *std::max_element(v.offsets.begin(), v.offsets.end());
  int value_bits = bits_of(dtype(v)) - is_signed_int(dtype(v));
  bool dtype_holds = value_bits >= 62 || block <= int64_t{1} << value_bits;
  return most < block && dtype_holds && facts_.divisor(v.base) >= block;
}

LaneValue LaneMath::cast(const LaneValue& v, DType to) const {
  DType from = dtype(v);
  if (from == to) return v;
  LaneValue operand = v;
  if (v.is_affine() && !v.offsets.empty() && is_int(from) && is_int(to)) {
    auto most = *std::max_element(v.offsets.begin(), v.offsets.end());
    bool widens = bits_of(to) > bits_of(from);
    std::vector<int64_t> known;
    if (!constants(v, &known) && (!widens || stays_in_block(v, round_up_to_power(most + 1))))
      return affine(b_.cast(v.base, to), v.offsets);
  }
  return apply(Op::Cast, to, {{operand}});
}

/// Quotient or remainder by a power of two that the lanes do not cross.
LaneValue LaneMath::split(Op op, const LaneValue& a, int64_t divisor) const {
  bool quotient = op == Op::Div || op == Op::Shr;
  if (op == Op::Shr) divisor = int64_t{1} << divisor;
  if (op == Op::And && divisor < INT64_MAX) divisor += 1;
  bool power = divisor > 0 && (divisor & (divisor - 1)) == 0;
  if (!power || !stays_in_block(a, divisor)) return {};
  DType type = dtype(a);
  if (!quotient) return affine(b_.constant_int(Type::scalar(type), 0), a.offsets);
  Value exact = op == Op::Div ? b_.binary(Op::Div, a.base, b_.constant_int(b_.type(a.base), divisor))
                              : b_.binary(Op::Shr, a.base, b_.constant_int(b_.type(a.base), log2_of(divisor)));
  return uniform(exact);
}

/// Ops that keep the form base + offsets; an invalid result means that they do not.
LaneValue LaneMath::apply_affine(Op op, DType dtype, std::span<const LaneValue> x) const {
  if (is_float(dtype) || dtype == DType::Bool || x.size() < 2) return {};
  for (const LaneValue& v : x)
    if (!v.offsets.empty() && *std::max_element(v.offsets.begin(), v.offsets.end()) >= kMostOffset) return {};
  auto offset = [&](int k, int64_t lane) { return x[k].offsets.empty() ? 0 : x[k].offsets[lane]; };
  auto each_lane = [&](auto compute) {
    std::vector<int64_t> result(lanes_);
    for (int64_t lane = 0; lane < lanes_; ++lane) result[lane] = compute(lane);
    return result;
  };
  int64_t c;
  switch (op) {
    case Op::Add: return affine(b_.add(x[0].base, x[1].base), each_lane([&](int64_t l) { return offset(0, l) + offset(1, l); }));
    case Op::Sub: return affine(b_.sub(x[0].base, x[1].base), each_lane([&](int64_t l) { return offset(0, l) - offset(1, l); }));
    case Op::Mul:
      for (int k = 0; k < 2; ++k)
        if (x[k].is_uniform() && constant_int(b_.function(), x[k].base, &c) && std::abs(c) < kMostOffset)
          return affine(b_.mul(x[1 - k].base, x[k].base), each_lane([&](int64_t l) { return offset(1 - k, l) * c; }));
      return {};
    case Op::Shl:
      if (!x[1].is_uniform() || !constant_int(b_.function(), x[1].base, &c) || c < 0 || c >= std::min(31, bits_of(dtype))) return {};
      return affine(b_.binary(Op::Shl, x[0].base, x[1].base),
                    each_lane([&](int64_t l) { return offset(0, l) << c; }));
    case Op::Div:
    case Op::Rem:
    case Op::And:
    case Op::Shr:
      if (!x[1].is_uniform() || x[0].offsets.empty() || !constant_int(b_.function(), x[1].base, &c)) return {};
      return op == Op::Shr && (c < 0 || c > 30) ? LaneValue{} : split(op, x[0], c);
    case Op::Where:
      if (!x[0].is_uniform() || x[1].offsets != x[2].offsets) return {};
      return affine(b_.where(x[0].base, x[1].base, x[2].base), x[1].offsets);
    default: return {};
  }
}

/// What is added to the base in each lane, as a vector; invalid if nothing is.
Value LaneMath::lane_part(const LaneValue& v, DType dtype) const {
  if (v.is_spread() || v.offsets.empty()) return v.spread;
  std::vector<int64_t> bits;
  for (int64_t o : v.offsets) bits.push_back(static_cast<int64_t>(bits_of_int(dtype, o)));
  return b_.vector(dtype, bits);
}

/// base + what two values add in each lane, of which one does.
LaneValue LaneMath::spread_out(Value base, const LaneValue& a, const LaneValue& b) const {
  DType type = b_.type(base).is_pointer() ? DType::I64 : b_.type(base).dtype;
  Value x = lane_part(a, type), y = lane_part(b, type);
  return {base, {}, false, !x.valid() ? y : !y.valid() ? x : b_.add(x, y)};
}

/// Ops that keep the form base + spread, or bring it about; an invalid result means that they do not.
LaneValue LaneMath::apply_spread(Op op, DType dtype, std::span<const LaneValue> x) const {
  if (!is_int(dtype) || x.size() != 2 || x[0].is_vector || x[1].is_vector) return {};
  if (op == Op::Add) return spread_out(b_.add(x[0].base, x[1].base), x[0], x[1]);
  int factor = x[0].is_uniform() ? 0 : 1;
  if (op != Op::Mul || !x[factor].is_uniform()) return {};
  Value by = b_.broadcast(x[factor].base, {lanes_});
  return {b_.mul(x[0].base, x[1].base), {}, false, b_.mul(lane_part(x[1 - factor], dtype), by)};
}

/// index < bound where the index runs through the lanes: the lanes below how many are left, compared as narrow integers.
LaneValue LaneMath::apply_bound(const LaneValue& index, const LaneValue& bound) const {
  if (!index.is_affine() || index.offsets.empty() || !bound.is_uniform()) return {};
  if (!is_int(dtype(index)) || b_.type(index.base).is_pointer()) return {};
  int64_t most = *std::max_element(index.offsets.begin(), index.offsets.end());
  if (most >= INT32_MAX || !stays_in_block(index, round_up_to_power(most + 1))) return {};
  Value left = b_.sub(bound.base, index.base);  // exact as an unsigned number where it is used
  DType count_type = bits_of(dtype(index)) == 64 ? DType::U64 : DType::U32;
  if (bits_of(dtype(index)) < 32) return {};
  Value count = b_.binary(Op::Minimum, b_.bitcast(left, count_type), b_.constant_int(Type::scalar(count_type), most + 1));
  Value any = b_.binary(Op::Lt, index.base, bound.base);
  Value lanes = b_.where(any, b_.cast(count, DType::I32), b_.i32(0));
  LaneValue numbers = affine(b_.i32(0), index.offsets);
  Value less = b_.binary(Op::Lt, materialize(numbers), b_.broadcast(lanes, {lanes_}));
  return vector(less);
}

LaneValue LaneMath::apply_address(const LaneValue& pointer, const LaneValue& offset) const {
  LaneValue wide = offset.is_uniform() || offset.is_vector ? offset : cast(offset, DType::I64);  // may become a vector
  if (pointer.is_vector || wide.is_vector)
    return vector(b_.ptr_add(materialize(pointer), materialize(wide)));
  Value base = b_.ptr_add(pointer.base, wide.base);
  if (pointer.is_spread() || wide.is_spread()) return spread_out(base, pointer, wide);
  if (pointer.offsets.empty() && wide.offsets.empty()) return uniform(base);
  std::vector<int64_t> offsets(lanes_, 0);
  for (int64_t lane = 0; lane < lanes_; ++lane)
    for (const LaneValue* part : {&pointer, static_cast<const LaneValue*>(&wide)})
      if (!part->offsets.empty()) offsets[lane] += part->offsets[lane];
  return affine(base, offsets);
}

LaneValue LaneMath::apply(Op op, DType dtype, std::span<const LaneValue> operands) const {
  if (op == Op::PtrAdd) return apply_address(operands[0], operands[1]);
  Type result = Type::scalar(dtype);
  auto emit = [&](const std::vector<Value>& values, const Type& type) {
    return op == Op::Cast || op == Op::Bitcast ? b_.emit(op, values, 0, &type) : b_.emit(op, values);
  };
  std::vector<Value> values;
  if (std::all_of(operands.begin(), operands.end(), [](const LaneValue& x) { return x.is_uniform(); })) {
    for (const LaneValue& x : operands) values.push_back(x.base);
    return uniform(emit(values, result));
  }
  std::vector<std::vector<int64_t>> known(operands.size());
  bool all_known = true;
  for (size_t k = 0; k < operands.size() && all_known; ++k) all_known = constants(operands[k], &known[k]);
  if (all_known) return apply_constants(op, dtype, known, this->dtype(operands.back()));
  bool affine_operands = std::all_of(operands.begin(), operands.end(), [](const LaneValue& x) { return x.is_affine(); });
  if (affine_operands && lanes_ > 1)
    if (LaneValue v = apply_affine(op, dtype, operands); v.base.valid()) return v;
  if (lanes_ > 1)
    if (LaneValue v = apply_spread(op, dtype, operands); v.base.valid()) return v;
  if (op == Op::Lt || op == Op::Gt)
    if (LaneValue v = apply_bound(operands[op == Op::Gt], operands[op == Op::Lt]); v.base.valid()) return v;
  for (const LaneValue& x : operands) values.push_back(materialize(x));
  return vector(emit(values, lanes_ > 1 ? Type::vector(dtype, lanes_) : result));
}

LaneValue LaneMath::call(int64_t helper, DType dtype, std::span<const LaneValue> operands) const {
  bool is_one = std::all_of(operands.begin(), operands.end(), [](const LaneValue& x) { return x.is_uniform(); });
  std::vector<Value> values;
  for (const LaneValue& x : operands) values.push_back(is_one ? x.base : materialize(x));
  if (is_one || lanes_ == 1) return uniform(b_.call(helper, values, Type::scalar(dtype)));
  return vector(b_.call(helper, values, Type::vector(dtype, lanes_)));
}

LaneValue LaneMath::apply(Op op, std::initializer_list<LaneValue> operands) const {
  return apply(op, dtype(*operands.begin()), std::span(operands.begin(), operands.size()));
}

LaneValue LaneMath::mul(const LaneValue& a, int64_t factor) const { return apply(Op::Mul, {a, constant(dtype(a), factor)}); }

LaneValue LaneMath::less(const LaneValue& a, int64_t bound) const {
  LaneValue limit = constant(dtype(a), bound);
  return apply(Op::Lt, DType::Bool, {{a, limit}});
}

LaneValue LaneMath::both(const LaneValue& a, const LaneValue& b) const {
  if (!a.base.valid()) return b;
  if (!b.base.valid()) return a;
  return apply(Op::And, {a, b});
}

}  // namespace strider::pass
