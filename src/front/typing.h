// SPDX-License-Identifier: Apache-2.0
// Which dtype two values have in common. Categories rank bool < integer < float.
#pragma once

#include <strider/dtype.h>

namespace strider::front {

enum class Category : uint8_t { Bool, Int, Float };

constexpr Category category_of(DType t) {
  if (t == DType::Bool) return Category::Bool;
  return is_float(t) ? Category::Float : Category::Int;
}

/// The rule of the tile language: the higher category wins; in a category the wider dtype; f16 with bf16 gives f32;
/// integers of different signedness give the unsigned dtype if it is at least as wide, as in C.
DType promote(DType a, DType b);

/// True if every value of `from` is a value of `to`.
bool widens(DType from, DType to);

}  // namespace strider::front
