// SPDX-License-Identifier: Apache-2.0
#include "pass/decompose.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/semantics.h"
#include "pass/composed.h"
#include "pass/maths.h"
#include "pass/maths_builder.h"

namespace strider::pass {

using namespace ir;

namespace {

bool is_narrow(DType t) { return t == DType::F16 || t == DType::BF16; }

// --- functions

/// The same expansion for both formats. Without one for f32, f32 goes through f64.
template <class Fn>
struct Expansion {
  Op op;
  Fn* f32;
  Fn* f64;
};

#define STRIDER_EXPANSION(op, f) {Op::op, maths::f<maths::F32>, maths::f<maths::F64>}

constexpr Expansion<Value(MathsBuilder&, Value)> kOfOne[] = {
    STRIDER_EXPANSION(Rsqrt, rsqrt), STRIDER_EXPANSION(Cbrt, cbrt), STRIDER_EXPANSION(Exp, exp), STRIDER_EXPANSION(Exp2, exp2),
    STRIDER_EXPANSION(Expm1, expm1), STRIDER_EXPANSION(Log, log), STRIDER_EXPANSION(Log2, log2),
    STRIDER_EXPANSION(Log10, log10), STRIDER_EXPANSION(Log1p, log1p), STRIDER_EXPANSION(Sin, sin), STRIDER_EXPANSION(Cos, cos),
    STRIDER_EXPANSION(Tan, tan), STRIDER_EXPANSION(Asin, asin), STRIDER_EXPANSION(Acos, acos), STRIDER_EXPANSION(Atan, atan),
    STRIDER_EXPANSION(Sinh, sinh), STRIDER_EXPANSION(Cosh, cosh), STRIDER_EXPANSION(Tanh, tanh),
    STRIDER_EXPANSION(Asinh, asinh), STRIDER_EXPANSION(Acosh, acosh), STRIDER_EXPANSION(Atanh, atanh),
    STRIDER_EXPANSION(Erf, erf), STRIDER_EXPANSION(Erfc, erfc), STRIDER_EXPANSION(Sigmoid, sigmoid),
    STRIDER_EXPANSION(Gelu, gelu),
    {Op::Tgamma, nullptr, maths::tgamma<maths::F64>},
    {Op::Lgamma, nullptr, maths::lgamma<maths::F64>},
};

constexpr Expansion<Value(MathsBuilder&, Value, Value)> kOfTwo[] = {
    STRIDER_EXPANSION(Atan2, atan2), STRIDER_EXPANSION(Hypot, hypot), STRIDER_EXPANSION(Pow, pow),
};
#undef STRIDER_EXPANSION

template <class Fn, size_t n, class... Values>
Value expand_by(Builder& b, const Expansion<Fn> (&table)[n], Op op, DType dtype, Values... x) {
  MathsBuilder maths(b);
  for (const Expansion<Fn>& e : table) {
    if (e.op != op) continue;
    if (dtype == DType::F64) return e.f64(maths, x...);
    return e.f32 ? e.f32(maths, x...) : b.cast(e.f64(maths, b.cast(x, DType::F64)...), DType::F32);
  }
  return {};
}

Value expand_function(Builder& b, Op op, std::span<const Value> x) {
  DType dtype = b.type(x[0]).dtype;
  return x.size() == 1 ? expand_by(b, kOfOne, op, dtype, x[0]) : expand_by(b, kOfTwo, op, dtype, x[0], x[1]);
}

/// The exponent of a power that is a product or a quotient, or 0: pow(x, 2) is x * x, correctly rounded.
int product_exponent(const Function& f, Value exponent) {
  while (f[exponent].op == Op::Broadcast) exponent = f.operand(exponent, 0);
  uint64_t bits;
  if (!is_float(f.type(exponent).dtype) || !constant_bits(f, exponent, &bits)) return 0;
  double n = double_of_bits(f.type(exponent).dtype, bits);
  return n == 2 || n == 3 || n == -1 ? static_cast<int>(n) : 0;
}

/// The product that a power is, or no value.
Value write_product(Builder& b, Op op, std::span<const Value> x) {
  int n = op == Op::Pow ? product_exponent(b.function(), x[1]) : 0;
  if (n == 0) return {};
  DType dtype = b.type(x[0]).dtype;
  Value base = is_narrow(dtype) ? b.cast(x[0], DType::F32) : x[0];
  Value result = n == -1 ? b.binary(Op::Div, b.constant(b.type(base), 1), base) : b.mul(base, base);
  if (n == 3) result = b.mul(result, base);
  return is_narrow(dtype) ? b.cast(result, dtype) : result;
}

// --- 16-bit floats

/// neg and abs of a 16-bit float, on its sign bit.
Value change_sign(Builder& b, Op op, Value x) {
  Value bits = b.bitcast(x, DType::U16);
  Value mask = b.constant_bits(b.type(bits), op == Op::Neg ? 0x8000 : 0x7fff);
  return b.bitcast(b.binary(op == Op::Neg ? Op::Xor : Op::And, bits, mask), b.type(x).dtype);
}

/// x + y in f64 rounded to odd: what does not fit leaves its trace in the last bit, so that one more rounding, to at most
/// 51 bits, is that of the exact sum.
Value add_to_odd(Builder& b, Value x, Value y) {
  Value sum = b.add(x, y), part = b.sub(sum, x);
  Value lost = b.add(b.sub(x, b.sub(sum, part)), b.sub(y, part));
  Value bits = b.bitcast(sum, DType::I64);
  Value zero = b.constant(b.type(sum), 0), one = b.constant_int(b.type(bits), 1);
  auto above = [&](Value v) { return b.binary(Op::Gt, v, zero); };
  Value outward = b.binary(Op::Eq, above(lost), above(sum));
  Value moved = b.add(bits, b.where(outward, one, b.unary(Op::Neg, one)));
  Value even = b.binary(Op::Eq, b.binary(Op::And, bits, one), b.constant_int(b.type(bits), 0));
  Value inexact = b.binary(Op::Or, above(lost), b.binary(Op::Lt, lost, zero));  // false for NaN: infinities stay
  return b.bitcast(b.where(b.binary(Op::And, even, inexact), moved, bits), DType::F64);
}

}  // namespace

Value fma_by_f64(Builder& b, std::span<const Value> x) {
  auto wide = [&](Value v) { return b.cast(v, DType::F64); };
  Value product = b.mul(wide(x[0]), wide(x[1]));  // exact: at most 48 bits
  return b.cast(add_to_odd(b, product, wide(x[2])), b.type(x[0]).dtype);
}

namespace {

// --- one op

/// `op` on operands of f32, f64, integers or bool; `dtype` is what the program asked it of.
Value expand(Builder& b, Op op, std::span<const Value> x, DType dtype) {
  if (has(op, Approx) && is_float(dtype)) return expand_function(b, op, x);
  Value composed = compose(b, op, x, dtype);
  return composed.valid() ? composed : b.emit(op, x);
}

Value expand_narrow(Builder& b, Op op, std::span<const Value> x, DType result) {
  if (op == Op::Neg || op == Op::Abs) return change_sign(b, op, x[0]);
  if (op == Op::Fma) return fma_by_f64(b, x);
  std::vector<Value> wide;
  for (Value v : x) wide.push_back(b.cast(v, DType::F32));
  return b.cast(expand(b, op, wide, b.type(x[0]).dtype), result);
}

/// `op`, which gives `result`, written in ops that targets spell.
Value write(Builder& b, Op op, std::span<const Value> x, DType result) {
  if (Value on_bits = compose_on_bits(b, op, x); on_bits.valid()) return on_bits;
  DType dtype = b.type(x[0]).dtype;
  return is_narrow(dtype) ? expand_narrow(b, op, x, result) : expand(b, op, x, dtype);
}

/// True for what every target spells as it is; such nodes keep their promises (flags).
bool stays(const Function& f, Value v) {
  Op op = f[v].op;
  const Type& operand = f.type(f.operand(v, 0));
  if (op == Op::Where || op == Op::Cast || op == Op::Bitcast || op == Op::Call || operand.is_pointer()) return true;
  return is_int(operand.dtype) && !has(op, Composed | Approx) && op != Op::Fma;
}

// --- what is called

/// An op on operands of a dtype.
using Key = std::pair<Op, DType>;

/// The ops that a program calls instead of having their expansions each time.
class Called {
 public:
  explicit Called(const Function& f) {
    std::map<Key, Uses> uses;
    for (uint32_t id = 0; id < f.size(); ++id) {
      Value v{id};
      bool is_product = f[v].op == Op::Pow && product_exponent(f, f.operand(v, 1)) != 0;
      if (is_pointwise(f[v].op) && !stays(f, v) && !is_product) uses[{f[v].op, f.type(f.operand(v, 0)).dtype}].add(f, v);
    }
    std::vector<std::pair<Key, std::shared_ptr<const Function>>> repeated;
    size_t total = 0;
    for (const auto& [key, use] : uses) {
      if (use.count < 2) continue;
      auto function = helper(key, use);
      if (function->size() < kLeastCalled) continue;
      total += use.count * function->size();
      repeated.emplace_back(key, std::move(function));
    }
    if (total <= kMostExpanded) return;
    for (auto& [key, function] : repeated) {
      numbers_[key] = helpers_.size();
      helpers_.push_back(std::move(function));
    }
  }

  const Helpers& helpers() const { return helpers_; }
  /// The number of the helper, or nothing.
  std::optional<int64_t> number(Op op, DType dtype) const {
    auto found = numbers_.find({op, dtype});
    return found == numbers_.end() ? std::nullopt : std::optional(static_cast<int64_t>(found->second));
  }

 private:
  static constexpr size_t kMostExpanded = 600;  // nodes of repeated expansions; more than any kernel has that is measured
  static constexpr size_t kLeastCalled = 16;    // nodes; less is no longer than a call

  struct Uses {
    size_t count = 0;
    int operands = 0;
    DType result = DType::Bool;

    void add(const Function& f, Value v) {
      ++count;
      operands = f[v].operand_count;
      result = f.type(v).dtype;
    }
  };

  static std::shared_ptr<const Function> helper(Key key, const Uses& use) {
    auto [op, dtype] = key;
    Builder b(fmt::format("{}_{}", name_of(op), name_of(dtype)));
    std::vector<Value> x;
    for (int k = 0; k < use.operands; ++k) x.push_back(b.param(Type::scalar(dtype), {}));
    Value result[] = {write(b, op, x, use.result)};
    b.yield(result);
    return std::make_shared<const Function>(b.finish());
  }

  std::map<Key, size_t> numbers_;
  Helpers helpers_;
};

// --- the pass

class Decomposer : public Rewriter {
 public:
  explicit Decomposer(const Function& f) : Rewriter(f), called_(f) {
    first_ = static_cast<int64_t>(f.helpers.size());
    Helpers all = f.helpers;
    all.insert(all.end(), called_.helpers().begin(), called_.helpers().end());
    b.set_helpers(std::move(all));
  }

 protected:
  void visit(Value v) override {
    Op op = from[v].op;
    if (!is_pointwise(op) || stays(from, v)) return copy(v);
    std::vector<Value> x = map(from.operands(v));
    Value product = write_product(b, op, x);
    if (product.valid()) return set(v, product);
    if (auto number = called_.number(op, b.type(x[0]).dtype)) return set(v, b.call(first_ + *number, x, from.type(v)));
    set(v, write(b, op, x, from.type(v).dtype));
  }

 private:
  Called called_;
  int64_t first_ = 0;  // number of the first helper of our own
};

}  // namespace

Function decompose(const Function& program) { return Decomposer(program).run(); }

}  // namespace strider::pass
