// SPDX-License-Identifier: Apache-2.0
// Element types: the enum, its facts, and the map from C++ types.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <strider/export.h>

namespace strider {
inline namespace v0 {

enum class DType : uint8_t {
#define STRIDER_DTYPE(number, id, text, bytes, kind) id = number,
#include <strider/dtypes.def>
};

inline constexpr DType boolean = DType::Bool;
inline constexpr DType i8 = DType::I8, i16 = DType::I16, i32 = DType::I32, i64 = DType::I64;
inline constexpr DType u8 = DType::U8, u16 = DType::U16, u32 = DType::U32, u64 = DType::U64;
inline constexpr DType f16 = DType::F16, bf16 = DType::BF16, f32 = DType::F32, f64 = DType::F64;

enum class DTypeKind : uint8_t { Bool, Signed, Unsigned, Float };

namespace detail {
struct DTypeInfo {
  DType dtype;
  std::string_view text;
  uint8_t bytes;
  DTypeKind kind;
};
inline constexpr DTypeInfo kDTypes[] = {
#define STRIDER_DTYPE(number, id, text, bytes, kind) {DType::id, text, bytes, DTypeKind::kind},
#include <strider/dtypes.def>
};
}  // namespace detail

inline constexpr int kDTypeCount = static_cast<int>(sizeof(detail::kDTypes) / sizeof(detail::kDTypes[0]));

namespace detail {
inline constexpr size_t kMaxDTypes = 64;
/// The row of each number; that of numbers that mean nothing is the first.
inline constexpr auto kDTypeRows = [] {
  std::array<uint8_t, kMaxDTypes> rows{};
  for (int row = 0; row < kDTypeCount; ++row) rows[static_cast<size_t>(kDTypes[row].dtype)] = static_cast<uint8_t>(row);
  return rows;
}();
}  // namespace detail

/// Dtypes by their rows in dtypes.def, whose order says nothing about their numbers.
constexpr DType dtype_at(int row) { return detail::kDTypes[row].dtype; }
constexpr int row_of(DType t) { return detail::kDTypeRows[static_cast<size_t>(t) % detail::kMaxDTypes]; }
/// False for numbers that mean no dtype.
constexpr bool is_known(DType t) { return dtype_at(row_of(t)) == t; }
constexpr std::string_view name_of(DType t) { return detail::kDTypes[row_of(t)].text; }
constexpr int size_of(DType t) { return detail::kDTypes[row_of(t)].bytes; }
constexpr int bits_of(DType t) { return t == DType::Bool ? 1 : 8 * size_of(t); }
constexpr DTypeKind kind_of(DType t) { return detail::kDTypes[row_of(t)].kind; }
constexpr bool is_float(DType t) { return kind_of(t) == DTypeKind::Float; }
constexpr bool is_signed_int(DType t) { return kind_of(t) == DTypeKind::Signed; }
constexpr bool is_unsigned_int(DType t) { return kind_of(t) == DTypeKind::Unsigned; }
/// True for i8..i64 and u8..u64; bool is not an integer.
constexpr bool is_int(DType t) { return is_signed_int(t) || is_unsigned_int(t); }

/// The dtype called `text` ("f32"), or nothing.
constexpr std::optional<DType> dtype_named(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (detail::kDTypes[i].text == text) return dtype_at(i);
  return std::nullopt;
}

/// 16-bit floats as storage: arithmetic on them belongs to kernels. From a float they are rounded once, to nearest even.
///
///   st::Half h = st::Half::from(0.1f);   float f = h.to_float();   // 0.099975586
struct Half {
  uint16_t bits;
  STRIDER_API static Half from(float value);
  STRIDER_API float to_float() const;
};
struct BFloat16 {
  uint16_t bits;
  STRIDER_API static BFloat16 from(float value);
  STRIDER_API float to_float() const;
};

template <class T>
struct dtype_of_t;
#define STRIDER_CPP_DTYPE(type, id)           \
  template <>                                 \
  struct dtype_of_t<type> {                   \
    static constexpr DType value = DType::id; \
  };
STRIDER_CPP_DTYPE(bool, Bool)
STRIDER_CPP_DTYPE(int8_t, I8)
STRIDER_CPP_DTYPE(int16_t, I16)
STRIDER_CPP_DTYPE(int32_t, I32)
STRIDER_CPP_DTYPE(int64_t, I64)
STRIDER_CPP_DTYPE(long long, I64)
STRIDER_CPP_DTYPE(uint8_t, U8)
STRIDER_CPP_DTYPE(uint16_t, U16)
STRIDER_CPP_DTYPE(uint32_t, U32)
STRIDER_CPP_DTYPE(uint64_t, U64)
STRIDER_CPP_DTYPE(unsigned long long, U64)
STRIDER_CPP_DTYPE(Half, F16)
STRIDER_CPP_DTYPE(BFloat16, BF16)
STRIDER_CPP_DTYPE(float, F32)
STRIDER_CPP_DTYPE(double, F64)
#undef STRIDER_CPP_DTYPE

/// The dtype that stores the C++ type T.
template <class T>
inline constexpr DType dtype_of = dtype_of_t<T>::value;

}  // namespace v0
}  // namespace strider
