// SPDX-License-Identifier: Apache-2.0
// Which dtype two values have in common. Categories rank bool < integer < float; the higher one wins, and in a category the
// wider dtype; f16 with bf16 gives f32. Two rules, which differ for integers of different signedness.
#pragma once

#include <strider/dtype.h>

namespace strider::ir {

enum class Category : uint8_t { Bool, Int, Float };

constexpr Category category_of(DType t) {
  if (t == DType::Bool) return Category::Bool;
  return is_float(t) ? Category::Float : Category::Int;
}

constexpr bool is_half(DType t) { return t == DType::F16 || t == DType::BF16; }

/// i8 to i64 by their bytes.
DType signed_of_size(int bytes);

/// The rule of the tile language, Triton's: the unsigned dtype if it is at least as wide, as in C.
DType promote_tile(DType a, DType b);

/// The rule of operators, PyTorch's: the signed dtype that holds both. A user error for u64 with signed integers, which no
/// integer dtype holds together.
DType promote_operator(DType a, DType b);

/// How C++ spells the dtype after `st::`, for messages.
constexpr std::string_view constant_of(DType t) { return t == DType::Bool ? "boolean" : name_of(t); }

/// True if every value of `from` is a value of `to`.
bool widens(DType from, DType to);

}  // namespace strider::ir
