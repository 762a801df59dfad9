// SPDX-License-Identifier: Apache-2.0
#include "front/typing.h"

namespace strider::front {
namespace {

DType wider(DType a, DType b) { return size_of(a) >= size_of(b) ? a : b; }

DType promote_ints(DType a, DType b) {
  if (is_signed_int(a) == is_signed_int(b)) return wider(a, b);
  DType s = is_signed_int(a) ? a : b, u = is_signed_int(a) ? b : a;
  return size_of(u) >= size_of(s) ? u : s;
}

/// Bits that hold a magnitude exactly: all of an integer's but the sign, a float's significand.
int exact_bits(DType t) {
  switch (t) {
    case DType::F16: return 11;
    case DType::BF16: return 8;
    case DType::F32: return 24;
    case DType::F64: return 53;
    default: return bits_of(t) - (is_signed_int(t) ? 1 : 0);
  }
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  Category ca = category_of(a), cb = category_of(b);
  if (ca != cb) return ca > cb ? a : b;
  if (ca == Category::Int) return promote_ints(a, b);
  if (size_of(a) == size_of(b)) return DType::F32;  // f16 and bf16
  return wider(a, b);
}

bool widens(DType from, DType to) {
  if (from == to) return true;
  if (category_of(from) > category_of(to)) return false;
  if (is_float(from)) return size_of(from) < size_of(to);
  if (is_signed_int(from) && is_unsigned_int(to)) return false;
  return exact_bits(from) <= exact_bits(to);
}

}  // namespace strider::front
