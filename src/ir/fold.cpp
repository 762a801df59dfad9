// SPDX-License-Identifier: Apache-2.0
#include "ir/fold.h"

#include "ir/semantics.h"

namespace strider::ir {
namespace {

constexpr int kMostOperands = 3;

struct Operands {
  const Function& f;
  std::span<const Value> values;

  bool is_int(int k, int64_t wanted) const {
    int64_t value;
    return constant_int(f, values[k], &value) && value == wanted;
  }
  /// All bits set: the identity of `and`. A bool's is true.
  bool is_ones(int k) const {
    uint64_t bits;
    return constant_bits(f, values[k], &bits) && !is_float(f.type(values[k]).dtype) &&
           bits == bits_of_int(f.type(values[k]).dtype, -1);
  }
  bool same(int a, int b) const { return values[a] == values[b]; }
};

/// All operands constant: compute.
Value fold_constants(Builder& b, Op op, std::span<const Value> operands, const Type& type) {
  if (!is_pointwise(op) || op == Op::PtrAdd || op == Op::Call || has(op, Approx) || operands.size() > kMostOperands) return {};
  uint64_t args[kMostOperands];
  for (size_t k = 0; k < operands.size(); ++k)
    if (!constant_bits(b.function(), operands[k], &args[k])) return {};
  return b.constant_bits(type, evaluate(op, b.type(operands.back()).dtype, type.dtype, args));
}

/// Integer and bool identities; exact by modular arithmetic.
Value fold_integers(Builder& b, Op op, const Operands& x, const Type& type) {
  auto zero = [&] { return b.constant_bits(type, 0); };
  switch (op) {
    case Op::Add:
    case Op::Or:
    case Op::Xor:
      if (x.is_int(0, 0)) return x.values[1];
      [[fallthrough]];
    case Op::Sub:
    case Op::Shl:
    case Op::Shr:
      if (x.is_int(1, 0)) return x.values[0];
      if (op == Op::Or && x.same(0, 1)) return x.values[0];
      if ((op == Op::Sub || op == Op::Xor) && x.same(0, 1)) return zero();
      return {};
    case Op::Mul:
      if (x.is_int(0, 0) || x.is_int(1, 0)) return zero();
      if (x.is_int(0, 1)) return x.values[1];
      if (x.is_int(1, 1)) return x.values[0];
      return {};
    case Op::Div: return x.is_int(1, 1) ? x.values[0] : Value{};
    case Op::Rem: return x.is_int(1, 1) ? zero() : Value{};
    case Op::And:
      if (x.is_int(0, 0) || x.is_int(1, 0)) return zero();
      if (x.is_ones(0)) return x.values[1];
      if (x.is_ones(1) || x.same(0, 1)) return x.values[0];
      return {};
    default: return {};
  }
}

Value fold_where(const Operands& x) {
  if (x.same(1, 2)) return x.values[1];
  int64_t condition;
  if (!constant_int(x.f, x.values[0], &condition)) return {};
  return condition ? x.values[1] : x.values[2];
}

Value fold_casts(Builder& b, Op op, Value a, const Type& type) {
  if (b.type(a).dtype == type.dtype) return a;
  const Node& inner = b.function()[a];
  if (op == Op::Bitcast && inner.op == Op::Bitcast) return b.bitcast(b.function().operand(a, 0), type.dtype);
  return {};
}

Value fold_shapes(Builder& b, std::span<const Value> operands, const Type& type) {
  Value a = operands[0];
  if (b.type(a).shape == type.shape) return a;
  uint64_t bits;
  return constant_bits(b.function(), a, &bits) ? b.constant_bits(type, bits) : Value{};
}

}  // namespace

Value fold(Builder& b, Op op, std::span<const Value> operands, int64_t imm, const Type& type) {
  if (Value v = fold_constants(b, op, operands, type); v.valid()) return v;
  Operands x{b.function(), operands};
  if (op == Op::Where) return fold_where(x);
  if (op == Op::PtrAdd) return x.is_int(1, 0) ? operands[0] : Value{};
  if (op == Op::Cast || op == Op::Bitcast) return fold_casts(b, op, operands[0], type);
  if (op == Op::Trans) return imm == 0 && type.shape.rank() <= 1 ? operands[0] : Value{};
  if (op == Op::Gather) return {};
  if (has(op, Shapes)) return fold_shapes(b, operands, type);
  if (is_pointwise(op) && operands.size() == 2 && !is_float(b.type(operands[0]).dtype)) return fold_integers(b, op, x, type);
  return {};
}

bool constant_bits(const Function& f, Value v, uint64_t* bits) {
  if (f[v].op != Op::Constant || f.type(v).is_pointer()) return false;
  *bits = static_cast<uint64_t>(f[v].imm);
  return true;
}

bool constant_int(const Function& f, Value v, int64_t* value) {
  uint64_t bits;
  if (!constant_bits(f, v, &bits) || is_float(f.type(v).dtype)) return false;
  *value = int_of_bits(f.type(v).dtype, bits);
  return true;
}

}  // namespace strider::ir
