// SPDX-License-Identifier: Apache-2.0
// The only writer of functions: infers result types, checks them, folds constants, and gives equal pure values one number.
//
//   Builder b("double");
//   Value x = b.param(Type::scalar(DType::F32), {.name = "x"});
//   b.binary(Op::Add, x, x);
//   Function f = b.finish();
#pragma once

#include <functional>
#include <unordered_map>

#include "ir/function.h"

namespace strider::ir {

/// Nodes of a program as a user writes it, and of one that passes have made of it.
inline constexpr size_t kMostWritten = 1 << 16, kMostNodes = 1 << 22;

class Builder {
 public:
  /// A user error ends a program that would have more than `most` nodes.
  explicit Builder(std::string name, size_t most = kMostNodes);

  // --- arguments and constants
  Value param(const Type& type, ParamInfo info);
  /// A constant of any type, splat over its shape; `bits` as in semantics.h.
  Value constant_bits(const Type& type, uint64_t bits);
  Value constant(const Type& type, double value);        // rounded to the dtype
  Value constant_int(const Type& type, int64_t value);   // wrapped to the dtype
  Value boolean(bool value) { return constant_int(Type::scalar(DType::Bool), value); }
  Value i32(int64_t value) { return constant_int(Type::scalar(DType::I32), value); }
  Value i64(int64_t value) { return constant_int(Type::scalar(DType::I64), value); }

  // --- pointwise
  Value unary(Op op, Value a) { return emit(op, {{a}}); }
  Value binary(Op op, Value a, Value b) { return emit(op, {{a, b}}); }
  Value where(Value condition, Value yes, Value no) { return emit(Op::Where, {{condition, yes, no}}); }
  Value fma(Value a, Value b, Value c) { return emit(Op::Fma, {{a, b, c}}); }
  Value cast(Value a, DType dtype);
  Value bitcast(Value a, DType dtype);
  Value add(Value a, Value b) { return binary(Op::Add, a, b); }
  Value sub(Value a, Value b) { return binary(Op::Sub, a, b); }
  Value mul(Value a, Value b) { return binary(Op::Mul, a, b); }
  Value ptr_add(Value pointer, Value offset) { return binary(Op::PtrAdd, pointer, offset); }

  // --- indices and shapes
  Value program_id(int axis);
  Value num_programs(int axis);
  Value arange(DType dtype, int64_t begin, int64_t end);
  Value broadcast(Value a, const Shape& shape);  // also a scalar to a tile; the value itself when the shapes agree
  Value expand_dims(Value a, int axis);
  Value reshape(Value a, const Shape& shape);
  Value trans(Value a, std::span<const int> axes);  // axes[k]: which operand axis becomes result axis k
  Value gather(Value a, Value index, int axis);

  // --- of whole tiles
  Value dot(Value c, Value a, Value b) { return emit(Op::Dot, {{c, a, b}}); }  // c + a b
  Value histogram(Value a, int64_t bins);

  // --- memory; an invalid mask or other means none
  Value load(Value pointer, Value mask = {}, Value other = {}, int64_t access = 0);
  void store(Value pointer, Value value, Value mask = {}, int64_t access = 0);
  Value atomic(AtomicKind kind, Value pointer, Value value, Value mask = {});
  Value atomic_add(Value pointer, Value value, Value mask = {}) { return atomic(AtomicKind::Add, pointer, value, mask); }
  Value atomic_cas(Value pointer, Value compare, Value value, Value mask = {});

  // --- hints
  Value hint(const HintFact& fact, Value a) { return emit(Op::Hint, {a}, fact.imm()); }
  void assume(Value condition) { emit(Op::Assume, {condition}); }

  // --- control flow; the callbacks write the region and return what it yields
  using Values = std::vector<Value>;
  using RegionFn = std::function<Values(std::span<const Value> params)>;
  Values reduce(std::span<const Value> tiles, int axis, const RegionFn& combine);
  Values scan(std::span<const Value> tiles, int axis, const RegionFn& combine);
  Value reduce(Value tile, int axis, Op combine);  // by one binary op
  Value scan(Value tile, int axis, Op combine);
  Values for_loop(Value lo, Value hi, Value step, std::span<const Value> carried, const RegionFn& body);
  Values while_loop(std::span<const Value> carried, const RegionFn& condition, const RegionFn& body);
  Values if_else(Value condition, const RegionFn& then, const RegionFn& otherwise);
  /// Scheduled form: statements written by `body` run over the index space `shape`.
  void nest(const Shape& shape, const std::function<void()>& body);

  // --- lane form
  Value thread_id();
  Value alloc(Space space, DType dtype, int64_t count);
  Value load_block(Value pointer, DType dtype, int64_t lanes, int log2_align, Value mask = {}, Value other = {});
  void store_block(Value pointer, Value value, int log2_align, Value mask = {}, int64_t access = 0);
  Value vector(DType dtype, std::vector<int64_t> lanes);  // bits of each lane; a splat becomes a constant
  Value extract(Value vector, int64_t lane);
  Value shuffle(Value a, Value b, std::vector<int64_t> lanes);
  Value exchange(Value a, int64_t xor_mask);
  void phase();
  void barrier();

  // --- everything
  /// Writes one node without regions, after inference, checks, folding and numbering. `type` is needed where the result rule is Explicit.
  Value emit(Op op, std::span<const Value> operands, int64_t imm = 0, const Type* type = nullptr, std::vector<int64_t> table = {});
  Value emit(Op op, std::initializer_list<Value> operands, int64_t imm = 0, const Type* type = nullptr) {
    return emit(op, std::span(operands.begin(), operands.size()), imm, type);
  }
  /// Opens a node with regions piece by piece: for parsers and rewriters. close() ends the innermost region.
  Value open(Op op, std::span<const Value> operands, int64_t imm, const Type& type, int regions);
  void begin_region(Value owner, int index, std::span<const Type> params);
  void end_region();
  std::span<const Value> region_params() const;  // of the innermost open region
  std::span<const Value> open_body() const { return function_.region(open_.back()).body; }  // what was written there so far
  Value result(Value owner, int index, const Type& type);
  void yield(std::span<const Value> values);

  /// The place in the user's source that following nodes belong to.
  void set_span(const Span& span);
  void set_flags(Value v, uint8_t flags) { function_.set_flags(v, flags); }
  void set_aux(Value v, uint32_t aux) { function_.set_aux(v, aux); }
  /// While on, integer sums, differences and products that are written promise that no lane in use overflows (kNoWrap).
  void set_no_wrap(bool no_wrap) { no_wrap_ = no_wrap; }
  /// Switches folding and numbering off, for exact copies (the parser uses it).
  void set_literal(bool literal) { literal_ = literal; }

  /// The functions that calls name, as Function::helpers.
  void set_helpers(Helpers helpers) { function_.helpers = std::move(helpers); }
  Value call(int64_t helper, std::span<const Value> operands, const Type& type) { return emit(Op::Call, operands, helper, &type); }
  /// How far the program is written, to take back what is written later: all of it, bodies that are open then included.
  struct Mark {
    size_t nodes, operands, regions, params, tables, spans, open, body, keys;
    uint16_t span;
  };
  Mark mark() const;
  void rollback(const Mark& mark);

  const Function& function() const { return function_; }
  const Type& type(Value v) const { return function_.type(v); }
  Function finish();

 private:
  struct Key {
    Op op;
    Type type;
    int64_t imm;
    uint8_t flags;  // promises: a sum that may overflow is another value
    std::vector<Value> operands;
    std::vector<int64_t> table;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const;
  };

  uint8_t promises(Op op, const Type& type) const;
  Value append(Op op, std::span<const Value> operands, int64_t imm, const Type& type);
  void forget(size_t keys);  // of the innermost scope, all but the first ones
  Values region_op(Op op, std::span<const Value> operands, int64_t imm, std::span<const Type> results,
                   std::span<const std::vector<Type>> params, std::span<const RegionFn> bodies);
  std::vector<Type> types(std::span<const Value> values) const;

  Function function_;
  size_t most_;
  std::vector<RegionId> open_{0};
  std::vector<std::vector<Key>> scopes_{1};  // keys to forget when a region ends
  std::unordered_map<Key, Value, KeyHash> numbers_;
  uint16_t span_ = 0;
  bool literal_ = false;
  bool no_wrap_ = false;
};

}  // namespace strider::ir
