// SPDX-License-Identifier: Apache-2.0
#include "pointwise/promotion.h"

#include <optional>

#include "base/error.h"

namespace strider::planner {
namespace {

enum class Category : uint8_t { Bool, Int, Float };

Category category_of(DType t) {
  if (t == DType::Bool) return Category::Bool;
  return is_float(t) ? Category::Float : Category::Int;
}

DType wider(DType a, DType b) { return size_of(a) >= size_of(b) ? a : b; }

DType signed_of_size(int bytes) {
  for (DType t : {DType::I8, DType::I16, DType::I32, DType::I64})
    if (size_of(t) == bytes) return t;
  internal_error("no signed integer of {} bytes", bytes);
}

DType common_ints(DType a, DType b) {
  if (is_signed_int(a) == is_signed_int(b)) return wider(a, b);
  DType s = is_signed_int(a) ? a : b, u = is_signed_int(a) ? b : a;
  if (u == DType::U64) user_error("u64 and {} have no common integer dtype: convert one of them", name_of(s));
  return wider(s, signed_of_size(2 * size_of(u)));
}

DType common_of(DType a, DType b) {
  if (a == b) return a;
  Category ca = category_of(a), cb = category_of(b);
  if (ca != cb) return ca > cb ? a : b;
  if (ca == Category::Int) return common_ints(a, b);
  if (size_of(a) == size_of(b)) return DType::F32;  // f16 and bf16
  return wider(a, b);
}

DType default_dtype(DType number) { return number == DType::F64 ? DType::F32 : number; }

bool is_half(DType t) { return t == DType::F16 || t == DType::BF16; }

}  // namespace

DType common_dtype(std::span<const ArgumentType> arguments) {
  std::optional<DType> common;
  for (const ArgumentType& a : arguments)
    if (a.is_tensor) common = common ? common_of(*common, a.dtype) : a.dtype;
  for (const ArgumentType& a : arguments)
    if (!a.is_tensor && (!common || category_of(a.dtype) > category_of(*common))) common = default_dtype(a.dtype);
  return *common;
}

DType compute_dtype(const ArgumentType& argument, DType common) {
  if (argument.dtype == DType::Bool) return DType::Bool;
  return is_half(common) ? DType::F32 : common;
}

DType output_dtype(DType traced, DType common) { return is_half(common) && traced == DType::F32 ? common : traced; }

bool can_write(DType from, DType to) { return category_of(from) <= category_of(to); }

}  // namespace strider::planner
