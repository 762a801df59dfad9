// SPDX-License-Identifier: Apache-2.0
#include "ir/promote.h"

#include "base/error.h"
#include "base/float_format.h"

namespace strider::ir {
namespace {

DType wider(DType a, DType b) { return size_of(a) >= size_of(b) ? a : b; }

struct Integers {
  DType with_sign, without;
};
Integers by_signedness(DType a, DType b) { return is_signed_int(a) ? Integers{a, b} : Integers{b, a}; }

DType as_in_c(DType a, DType b) {
  auto [with_sign, without] = by_signedness(a, b);
  return size_of(without) >= size_of(with_sign) ? without : with_sign;
}

DType holding_both(DType a, DType b) {
  auto [with_sign, without] = by_signedness(a, b);
  if (without == DType::U64) user_error("u64 and {} have no common integer dtype: convert one of them, for example with .to(st::i64)", name_of(with_sign));
  return wider(with_sign, signed_of_size(2 * size_of(without)));
}

DType promote(DType a, DType b, DType (*mixed_integers)(DType, DType)) {
  if (a == b) return a;
  Category ca = category_of(a), cb = category_of(b);
  if (ca != cb) return ca > cb ? a : b;
  if (ca == Category::Int) return is_signed_int(a) == is_signed_int(b) ? wider(a, b) : mixed_integers(a, b);
  if (size_of(a) == size_of(b)) return DType::F32;  // f16 and bf16
  return wider(a, b);
}

/// Bits that hold a magnitude exactly: all of an integer's but the sign, a float's significand.
int exact_bits(DType t) { return is_float(t) ? format_of(t).precision() : bits_of(t) - (is_signed_int(t) ? 1 : 0); }

}  // namespace

DType signed_of_size(int bytes) {
  for (DType t : {DType::I8, DType::I16, DType::I32, DType::I64})
    if (size_of(t) == bytes) return t;
  internal_error("no signed integer of {} bytes", bytes);
}

DType promote_tile(DType a, DType b) { return promote(a, b, as_in_c); }
DType promote_operator(DType a, DType b) { return promote(a, b, holding_both); }

bool widens(DType from, DType to) {
  if (from == to) return true;
  if (category_of(from) > category_of(to)) return false;
  if (is_float(from)) return size_of(from) < size_of(to);
  if (is_signed_int(from) && is_unsigned_int(to)) return false;
  return exact_bits(from) <= exact_bits(to);
}

}  // namespace strider::ir
