// SPDX-License-Identifier: Apache-2.0
// What ops.def says, as an enum and a table of facts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strider::ir {

enum class Op : uint8_t {
#define STRIDER_OP(number, id, text, least, most, result, traits) id,
#include <strider/ops.def>
};

enum class ResultRule : uint8_t { Same, Bool, Second, Element, Explicit, None };

enum Trait : uint16_t {
  Pointwise = 1 << 0,
  Commutes = 1 << 1,
  Reads = 1 << 2,
  Writes = 1 << 3,
  Atomic = 1 << 4,
  Shapes = 1 << 5,
  Regions = 1 << 6,
  Lane = 1 << 7,
  Pinned = 1 << 8,
  Composed = 1 << 9,
  Approx = 1 << 10,
};

struct OpInfo {
  uint8_t number;  // in compiled programs
  std::string_view text;
  int least, most;  // operands
  ResultRule result;
  uint16_t traits;
};

inline constexpr OpInfo kOps[] = {
#define STRIDER_OP(number, id, text, least, most, result, traits) {number, text, least, most, ResultRule::result, traits},
#include <strider/ops.def>
};
inline constexpr int kOpCount = static_cast<int>(sizeof(kOps) / sizeof(kOps[0]));

constexpr const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }
constexpr std::string_view name_of(Op op) { return info(op).text; }
constexpr bool has(Op op, uint16_t traits) { return (info(op).traits & traits) != 0; }
constexpr bool is_pointwise(Op op) { return has(op, Pointwise); }
/// May be dropped when unused, merged with an equal one, and computed more than once.
constexpr bool is_pure(Op op) { return !has(op, Reads | Writes | Regions | Pinned); }
constexpr Op op_at(int index) { return static_cast<Op>(index); }

/// Op itself counts the rows; the number of an op is what detail::OpId has.
constexpr uint8_t number_of(Op op) { return info(op).number; }
namespace internal {
inline constexpr auto kRowOfNumber = [] {
  std::array<int16_t, 256> rows{};
  rows.fill(-1);
  for (int row = 0; row < kOpCount; ++row) rows[kOps[row].number] = static_cast<int16_t>(row);
  return rows;
}();
}  // namespace internal
constexpr std::optional<Op> op_numbered(uint8_t number) {
  int row = internal::kRowOfNumber[number];
  return row < 0 ? std::nullopt : std::optional(op_at(row));
}

constexpr std::optional<Op> op_named(std::string_view text) {
  for (int i = 0; i < kOpCount; ++i)
    if (kOps[i].text == text) return op_at(i);
  return std::nullopt;
}

/// What an atomic makes of the old element: `imm` of Op::Atomic.
enum class AtomicKind : uint8_t { Add, Max, Min, And, Or, Xor, Exchange, CompareExchange };
inline constexpr std::string_view kAtomicNames[] = {"atomic_add", "atomic_max", "atomic_min",  "atomic_and",
                                                    "atomic_or",  "atomic_xor", "atomic_xchg", "atomic_cas"};
inline constexpr int kAtomicKinds = static_cast<int>(sizeof(kAtomicNames) / sizeof(kAtomicNames[0]));
constexpr AtomicKind atomic_kind(int64_t imm) { return static_cast<AtomicKind>(imm); }
constexpr bool is_compare_exchange(Op op, int64_t imm) { return op == Op::Atomic && atomic_kind(imm) == AtomicKind::CompareExchange; }
/// The name in text: that of an atomic says its kind.
constexpr std::string_view name_of(Op op, int64_t imm) {
  return op == Op::Atomic && imm >= 0 && imm < kAtomicKinds ? kAtomicNames[imm] : name_of(op);
}
/// Which operand of a memory op is its mask, if it has one.
constexpr int mask_operand(Op op, int64_t imm) {
  return op == Op::Load || op == Op::LoadBlock ? 1 : is_compare_exchange(op, imm) ? 3 : 2;
}

/// What a hint says of its operand along an axis (0 of a scalar), with a number n:
///   MultipleOf    the first element of every run of consecutive ones is a multiple of n; pointers: in bytes
///   MaxContiguous every n elements from a multiple of n on are consecutive
///   MaxConstancy  every n elements from a multiple of n on are equal
enum class HintKind : uint8_t { MultipleOf, MaxContiguous, MaxConstancy };
inline constexpr std::string_view kHintNames[] = {"multiple_of", "max_contiguous", "max_constancy"};
inline constexpr int kHintKinds = static_cast<int>(sizeof(kHintNames) / sizeof(kHintNames[0]));
/// `imm` of Op::Hint.
struct HintFact {
  HintKind kind;
  int axis;
  int64_t number;
  static constexpr HintFact of(int64_t imm) { return {static_cast<HintKind>(imm & 15), static_cast<int>(imm >> 4 & 15), imm >> 8}; }
  constexpr int64_t imm() const { return static_cast<int64_t>(kind) | int64_t{axis} << 4 | number << 8; }
};

/// Bits of `imm` of the other memory ops.
enum Access : int64_t {
  kStreaming = 1 << 0,  // written once and not read soon: bypass the caches where the target can
  kAlignShift = 8,      // bits 8..15: log2 of the known alignment in bytes (load_block, store_block)
};

}  // namespace strider::ir
