// SPDX-License-Identifier: Apache-2.0
#include "ir/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "ir/promote.h"

namespace strider::ir {
namespace {

std::string list(std::span<const Type> types) {
  std::vector<std::string> texts;
  for (const Type& t : types) texts.push_back(to_string(t));
  return fmt::format("({})", fmt::join(texts, ", "));
}

[[noreturn]] void mismatch(Op op, std::span<const Type> operands, std::string_view wanted) {
  user_error("{}: operands {} do not fit, expected {}", name_of(op), list(operands), wanted);
}

bool is_bool(const Type& t) { return t.dtype == DType::Bool && !t.is_pointer(); }
bool is_integer(const Type& t) { return is_int(t.dtype) && !t.is_pointer(); }
bool is_real(const Type& t) { return is_float(t.dtype) && !t.is_pointer(); }

/// Which element types the pointwise ops take; ops that are absent take any.
enum class Accepts { Any, Element, Number, Integer, IntegerOrBool, Float };
constexpr Accepts accepts(Op op) {
  if (has(op, Approx) && op != Op::Pow) return Accepts::Float;
  switch (op) {
    case Op::Neg: case Op::Abs: case Op::Sign: case Op::Add: case Op::Sub: case Op::Mul: case Op::Div:
    case Op::Fma: case Op::Rem: case Op::FloorDiv: case Op::Remainder: case Op::Pow:
      return Accepts::Number;
    case Op::Shl: case Op::Shr: return Accepts::Integer;
    case Op::Not: case Op::And: case Op::Or: case Op::Xor: return Accepts::IntegerOrBool;
    case Op::Floor: case Op::Ceil: case Op::Trunc: case Op::Round: case Op::Sqrt:
    case Op::CopySign: case Op::NextAfter: case Op::Ldexp:
      return Accepts::Float;
    case Op::IsNan: case Op::IsInf: case Op::IsFinite: case Op::SignBit: case Op::FMin: case Op::FMax: return Accepts::Element;
    default: return Accepts::Any;
  }
}

void check_accepted(Op op, std::span<const Type> operands) {
  const Type& t = operands[0];
  switch (accepts(op)) {
    case Accepts::Any: return;
    case Accepts::Element:
      if (!t.is_pointer()) return;
      mismatch(op, operands, "no pointers");
    case Accepts::Number:
      if (is_integer(t) || is_real(t)) return;
      mismatch(op, operands, "numbers");
    case Accepts::Integer:
      if (is_integer(t)) return;
      mismatch(op, operands, "integers");
    case Accepts::IntegerOrBool:
      if (is_integer(t) || is_bool(t)) return;
      mismatch(op, operands, "integers or bools");
    case Accepts::Float:
      if (is_real(t)) return;
      mismatch(op, operands, "floats");
  }
}

void check_pointwise(Op op, std::span<const Type> operands) {
  if (op == Op::PtrAdd) {
    if (operands[0].is_pointer() && is_integer(operands[1]) && operands[0].shape == operands[1].shape) return;
    mismatch(op, operands, "a pointer and an integer of one shape");
  }
  if (op == Op::Where) {
    if (is_bool(operands[0]) && operands[1] == operands[2] && operands[0].shape == operands[1].shape) return;
    mismatch(op, operands, "a bool and two of one type, of one shape");
  }
  for (const Type& t : operands)
    if (t != operands[0]) mismatch(op, operands, "operands of one type");
  check_accepted(op, operands);
}

void check_convert(Op op, const Type& from, const Type& to) {
  if (from.shape != to.shape) mismatch(op, {{from, to}}, "the same shape");
  if (op == Op::Bitcast && (from.is_pointer() || to.is_pointer() || bits_of(from.dtype) != bits_of(to.dtype)))
    mismatch(op, {{from, to}}, "dtypes of one width");
  if (op == Op::Cast && from.space != to.space) mismatch(op, {{from, to}}, "a value, not a pointer");
}

/// The index has the shape of the result, which differs from that of the tile along the axis only.
void check_gather(std::span<const Type> operands, const Type& to, int64_t axis) {
  const Type &from = operands[0], &index = operands[1];
  bool fits = index.dtype == DType::I32 && !index.is_pointer() && index.shape == to.shape && from.shape.rank() == to.shape.rank();
  if (axis < 0 || axis >= from.shape.rank())
    user_error("gather: axis {} is out of range for a tile of shape {}", axis, to_string(from.shape));
  for (int k = 0; fits && k < to.shape.rank(); ++k) fits = k == axis || from.shape[k] == to.shape[k];
  if (!fits) mismatch(Op::Gather, operands, "a tile, and i32 indices of its shape but for the axis");
}

void check_dot(std::span<const Type> operands) {
  const Type &c = operands[0], &a = operands[1], &b = operands[2];
  bool fits = a.dtype == b.dtype && widens(a.dtype, c.dtype) && (is_integer(c) || is_real(c)) && size_of(c.dtype) >= 4;
  for (const Type& t : operands) fits = fits && t.shape.rank() == 2 && !t.is_pointer();
  fits = fits && a.shape[0] == c.shape[0] && b.shape[1] == c.shape[1] && a.shape[1] == b.shape[0];
  if (!fits) mismatch(Op::Dot, operands, "tiles [m, n] of 32 or 64 bits, [m, k] and [k, n] of one dtype that it holds");
}

void check_histogram(std::span<const Type> operands, const Type& to) {
  if (operands[0].dtype == DType::I32 && !operands[0].is_pointer() && to.dtype == DType::I32 && to.shape.rank() == 1) return;
  mismatch(Op::Histogram, operands, "an i32 tile");
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.rank() == 0) return true;
  if (from.rank() != to.rank()) return false;
  for (int k = 0; k < to.rank(); ++k)
    if (from[k] != to[k] && from[k] != 1) return false;
  return true;
}

void check_shapes(Op op, const Type& from, const Type& to) {
  if (op == Op::Broadcast && !broadcasts_to(from.shape, to.shape))
    user_error("broadcast: a tile of shape {} does not broadcast to {}", to_string(from.shape), to_string(to.shape));
  if (op == Op::Reshape && from.elements() != to.elements())
    user_error("reshape: {} has {} elements, {} has {}", to_string(from.shape), from.elements(), to_string(to.shape), to.elements());
}

void check_atomic(std::span<const Type> operands, int64_t imm) {
  DType dtype = operands[0].dtype;
  if (imm < 0 || imm >= kAtomicKinds) user_error("atomic: there is no kind {}", imm);
  size_t wanted = is_compare_exchange(Op::Atomic, imm) ? 3 : 2;
  if (operands.size() < wanted || operands.size() > wanted + 1)
    user_error("{}: got {} operands, expected {} or {}", kAtomicNames[imm], operands.size(), wanted, wanted + 1);
  if (atomic_takes(atomic_kind(imm), dtype)) return;
  user_error("{}: operands {} do not fit, expected {}", kAtomicNames[imm], list(operands), atomic_dtypes(atomic_kind(imm)));
}

/// Load, store, atomics and the block forms: pointer first, mask of the accessed shape, values of the pointee type.
void check_memory(Op op, std::span<const Type> operands, int64_t imm, const Type& accessed) {
  if (!operands[0].is_pointer()) mismatch(op, operands, "a pointer first");
  if (op == Op::Atomic) check_atomic(operands, imm);
  auto mask = static_cast<size_t>(mask_operand(op, imm));
  for (size_t k = 1; k < operands.size(); ++k)
    if (k != mask && operands[k] != accessed) mismatch(op, operands, "a value of type " + to_string(accessed));
  if (mask < operands.size() && (!is_bool(operands[mask]) || operands[mask].shape != accessed.shape))
    mismatch(op, operands, "a bool mask of shape " + to_string(accessed.shape));
}

void check_hint(const Type& operand, int64_t imm) {
  HintFact fact = HintFact::of(imm);
  if (imm < 0 || static_cast<int>(fact.kind) >= kHintKinds) user_error("hint: there is no kind {}", imm & 15);
  std::string_view name = kHintNames[static_cast<int>(fact.kind)];
  if (fact.number < 1) user_error("{}: the number is {}, expected at least 1", name, fact.number);
  if (fact.axis >= std::max(operand.shape.rank(), 1))
    user_error("{}: axis {} is out of range for a tile of shape {}", name, fact.axis, to_string(operand.shape));
  bool counts = operand.is_pointer() || is_int(operand.dtype) || fact.kind == HintKind::MaxConstancy;
  if (!counts) user_error("{}: the operand is {}, expected integers or pointers", name, to_string(operand));
}

void check_size(Op op, const Type& t) {
  for (int64_t d : t.shape.dims())
    if (d < 1) user_error("{}: tile shape {} has a size below 1", name_of(op), to_string(t.shape));
  if (t.elements() > kMaxElements)
    user_error("{}: a tile of shape {} has {} elements, at most {} are possible", name_of(op), to_string(t.shape), t.elements(),
               kMaxElements);
}

Type accessed_type(Op op, std::span<const Type> operands, const Type* asked) {
  if (op == Op::LoadBlock) return *asked;
  if (op == Op::StoreBlock) return operands[1];
  return operands[0].pointee();
}

Type result_type(Op op, std::span<const Type> operands, const Type* asked) {
  switch (info(op).result) {
    case ResultRule::Same: return operands[0];
    case ResultRule::Second: return operands[1];
    case ResultRule::Bool: return Type::tile(DType::Bool, operands[0].shape);
    case ResultRule::Element: return operands[0].pointee();
    case ResultRule::Explicit: STRIDER_CHECK(asked != nullptr); return *asked;
    case ResultRule::None: return Type::none();
  }
  internal_error("no result rule for {}", name_of(op));
}

}  // namespace

Type infer(Op op, std::span<const Type> operands, int64_t imm, const Type* asked) {
  const OpInfo& facts = info(op);
  if (static_cast<int>(operands.size()) < facts.least || static_cast<int>(operands.size()) > facts.most)
    user_error("{}: got {} operands, expected {} to {}", name_of(op), operands.size(), facts.least, facts.most);
  for (const Type& t : operands)
    if (t.is_void) mismatch(op, operands, "values");
  Type result = result_type(op, operands, asked);
  if (op == Op::Gather) check_gather(operands, result, imm);
  if (op == Op::Dot) check_dot(operands);
  if (op == Op::Histogram) check_histogram(operands, result);
  if (op == Op::Cast || op == Op::Bitcast) check_convert(op, operands[0], result);
  else if (is_pointwise(op)) check_pointwise(op, operands);
  if (has(op, Shapes)) check_shapes(op, operands[0], result);
  if (has(op, Reads | Writes)) check_memory(op, operands, imm, accessed_type(op, operands, asked));
  if (op == Op::Hint) check_hint(operands[0], imm);
  if (op == Op::Assume && !is_bool(operands[0])) mismatch(op, operands, "a bool");
  check_size(op, result);
  return result;
}

bool atomic_takes(AtomicKind kind, DType dtype) {
  switch (kind) {
    case AtomicKind::Add:
    case AtomicKind::Max:
    case AtomicKind::Min: return dtype != DType::Bool;
    case AtomicKind::And:
    case AtomicKind::Or:
    case AtomicKind::Xor: return !is_float(dtype);
    default: return true;
  }
}

std::string_view atomic_dtypes(AtomicKind kind) {
  return !atomic_takes(kind, DType::Bool) ? "integers or floats" : atomic_takes(kind, DType::F32) ? "any dtype" : "integers or bool";
}

void check_axis(std::string_view what, const Shape& shape, int axis) {
  if (axis < 0 || axis >= shape.rank())
    user_error("{}: axis {} is out of range for a tile of shape {}", what, axis, to_string(shape));
}

// --- regions

namespace {

std::vector<Type> types_of(const Function& f, std::span<const Value> values) {
  std::vector<Type> result;
  for (Value v : values) result.push_back(f.type(v));
  return result;
}

std::vector<Type> yielded(const Function& f, Value owner, int region) {
  const auto& body = f.region(owner, region).body;
  if (body.empty() || f[body.back()].op != Op::Yield) user_error("{}: region {} does not end in yield", name_of(f[owner].op), region);
  return types_of(f, f.operands(body.back()));
}

void expect(Op op, std::string_view what, const std::vector<Type>& found, const std::vector<Type>& wanted) {
  if (found != wanted) user_error("{}: {} are {}, expected {}", name_of(op), what, list(found), list(wanted));
}

void check_fold(const Function& f, Value owner) {
  Op op = f[owner].op;
  std::vector<Type> elements;
  for (Value v : f.operands(owner)) {
    check_axis(name_of(op), f.type(v).shape, static_cast<int>(f[owner].imm));
    if (f.type(v).shape != f.type(f.operand(owner, 0)).shape) mismatch(op, types_of(f, f.operands(owner)), "tiles of one shape");
    elements.push_back(f.type(v).with_shape({}));
  }
  expect(op, "yielded values", yielded(f, owner, 0), elements);
}

void check_loop(const Function& f, Value owner, std::span<const Value> carried) {
  Op op = f[owner].op;
  std::vector<Type> wanted = types_of(f, carried);
  expect(op, "yielded values", yielded(f, owner, f[owner].region_count - 1), wanted);
  if (op == Op::While) expect(op, "the condition's values", yielded(f, owner, 0), {Type::scalar(DType::Bool)});
  if (op != Op::For) return;
  const Type& index = f.type(f.operand(owner, 0));
  if (!index.is_scalar() || !is_integer(index)) user_error("for: bounds are {}, expected integer scalars", to_string(index));
  for (int k = 1; k < 3; ++k)
    if (f.type(f.operand(owner, k)) != index) mismatch(op, types_of(f, f.operands(owner).first(3)), "bounds and step of one type");
}

}  // namespace

void check_regions(const Function& f, Value owner) {
  switch (f[owner].op) {
    case Op::Reduce:
    case Op::Scan: return check_fold(f, owner);
    case Op::For: return check_loop(f, owner, f.operands(owner).subspan(3));
    case Op::While: return check_loop(f, owner, f.operands(owner));
    case Op::If:
      if (f.type(f.operand(owner, 0)) != Type::scalar(DType::Bool))
        user_error("if: the condition is {}, expected a scalar bool; choose between tiles with `where`", to_string(f.type(f.operand(owner, 0))));
      return expect(Op::If, "the values of the two branches", yielded(f, owner, 1), yielded(f, owner, 0));
    default: return;
  }
}

}  // namespace strider::ir
