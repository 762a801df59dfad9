// SPDX-License-Identifier: Apache-2.0
#include "front/lang/memory.h"

#include <algorithm>

#include "front/lang/arith.h"
#include "front/lang/shape.h"
#include "ir/infer.h"
#include "ir/promote.h"

namespace strider::front {

using ir::AtomicKind;
using ir::Op;
using ir::Type;

namespace {

/// An offset as an integer node; negated if asked, in i64 so that no unsigned offset wraps.
ir::Value offset_node(Writer& w, const Term& offset, bool negate) {
  if (ir::category_of(w.dtype_of(offset)) != ir::Category::Int)
    user_error("a pointer is moved by {}, expected an integer", strider::name_of(w.dtype_of(offset)));
  ir::Value node = w.node(offset);
  return negate ? w.b.unary(Op::Neg, w.b.cast(node, DType::I64)) : node;
}

/// A mask in the shape of what is accessed.
ir::Value mask_node(Writer& w, std::string_view what, const Term& mask, const ir::Shape& shape) {
  if (mask.is_empty()) return {};
  ir::Value v = w.node(mask);
  const Type type = w.type(v);
  if (type.dtype != DType::Bool) user_error("{}: the mask is {}, expected bool, as a comparison gives it", what, to_string(type));
  if (!broadcasts_to(type.shape, shape))
    user_error("{}: the mask has shape {}, the pointer {}: a mask broadcasts to its pointer", what, to_string(type.shape),
               to_string(shape));
  return broadcast(w.b, v, shape);
}

/// A value as elements of what a pointer points to, widened where nothing can be lost.
ir::Value element_node(Writer& w, std::string_view op, std::string_view what, const Term& value, const Type& pointer) {
  if (value.is_empty()) return {};
  ir::Value v = w.node_for(value, pointer.dtype);
  const Type type = w.type(v);
  if (type.is_pointer() || !ir::widens(type.dtype, pointer.dtype))
    user_error("{}: the {} is {}, the pointer is {}: convert it with .to(st::{})", op, what, to_string(type), to_string(pointer),
               ir::constant_of(pointer.dtype));
  if (!broadcasts_to(type.shape, pointer.shape))
    user_error("{}: the {} has shape {}, the pointer {}: a {} broadcasts to its pointer", op, what, to_string(type.shape),
               to_string(pointer.shape), what);
  return broadcast(w.b, w.b.cast(v, pointer.dtype), pointer.shape);
}

/// What an atomic of this kind changes.
ir::Value atomic_pointer(Writer& w, AtomicKind kind, const Term& pointer) {
  ir::Value p = w.node(pointer);
  if (!ir::atomic_takes(kind, w.type(p).dtype))
    user_error("{}: the pointer is {}, expected one to {}", ir::kAtomicNames[static_cast<int>(kind)], to_string(w.type(p)),
               ir::atomic_dtypes(kind));
  return p;
}

}  // namespace

ir::Value ptr_add(Writer& w, const Term& pointer, const Term& offset, bool subtract) {
  ir::Value values[] = {w.node(pointer), offset_node(w, offset, subtract)};
  broadcast_all(w.b, "", values);
  return w.b.ptr_add(values[0], values[1]);
}

ir::Value load(Writer& w, const Term& pointer, const Term& mask, const Term& other) {
  ir::Value p = w.node(pointer);
  const Type type = w.type(p);
  if (!other.is_empty() && mask.is_empty()) user_error("load: `other` without a mask has no effect");
  ir::Value m = mask_node(w, "load", mask, type.shape);
  return w.b.load(p, m, element_node(w, "load", "other", other, type));
}

void store(Writer& w, const Term& pointer, const Term& value, const Term& mask) {
  ir::Value p = w.node(pointer);
  const Type type = w.type(p);
  if (value.is_empty()) user_error("store: there is no value");
  ir::Value element = element_node(w, "store", "value", value, type);
  w.b.store(p, element, mask_node(w, "store", mask, type.shape));
}

ir::Value atomic(Writer& w, AtomicKind kind, const Term& pointer, const Term& value, const Term& mask) {
  std::string_view name = ir::kAtomicNames[static_cast<int>(kind)];
  ir::Value p = atomic_pointer(w, kind, pointer);
  const Type type = w.type(p);
  if (value.is_empty()) user_error("{}: there is no value", name);
  ir::Value element = element_node(w, name, "value", value, type);
  return w.b.atomic(kind, p, element, mask_node(w, name, mask, type.shape));
}

ir::Value atomic_cas(Writer& w, const Term& pointer, const Term& compare, const Term& value, const Term& mask) {
  ir::Value p = atomic_pointer(w, AtomicKind::CompareExchange, pointer);
  const Type type = w.type(p);
  if (value.is_empty() || compare.is_empty()) user_error("atomic_cas: there is no value");
  ir::Value element = element_node(w, "atomic_cas", "value", value, type), m = mask_node(w, "atomic_cas", mask, type.shape);
  return w.b.atomic_cas(p, element_node(w, "atomic_cas", "compared value", compare, type), element, m);
}

ir::Value hinted(Writer& w, ir::HintKind kind, const Term& x, std::span<const int64_t> numbers) {
  std::string_view name = ir::kHintNames[static_cast<int>(kind)];
  ir::Value v = w.node(x);
  const Type type = w.type(v);
  const int axes = std::max(type.shape.rank(), 1);
  if (static_cast<int>(numbers.size()) != axes)
    user_error("{}: {} numbers for a tile of shape {}, expected one for each axis", name, numbers.size(), to_string(type.shape));
  constexpr int64_t kMost = int64_t{1} << 40;
  for (int axis = 0; axis < axes; ++axis) {
    int64_t n = numbers[static_cast<size_t>(axis)];
    if (n < 1 || n > kMost) user_error("{}: the number is {}, expected 1 to 2^40", name, n);
    if (n > 1) v = w.b.hint({kind, axis, n}, v);
  }
  return v;
}

void assume(Writer& w, const Term& condition) {
  if (w.dtype_of(condition) != DType::Bool)
    user_error("assume: the condition is {}, expected bool; compare it with 0", strider::name_of(w.dtype_of(condition)));
  w.b.assume(w.node(condition));
}

}  // namespace strider::front
