// SPDX-License-Identifier: Apache-2.0
#include "front/lang/term.h"

#include <bit>

#include <fmt/format.h>

#include "ir/semantics.h"

namespace strider::front {

Literal Literal::of(double value) { return {Float, std::bit_cast<uint64_t>(value)}; }

double Literal::as_double() const {
  switch (kind) {
    case Float: return std::bit_cast<double>(bits);
    case Unsigned: return static_cast<double>(bits);
    default: return static_cast<double>(static_cast<int64_t>(bits));
  }
}

bool Literal::fits(DType dtype) const {
  if (kind == Bool || is_float(dtype)) return true;
  if (kind == Float) return false;
  if (dtype == DType::Bool) return true;
  if (kind == Unsigned) return dtype == DType::U64;
  auto value = static_cast<int64_t>(bits);
  if (is_unsigned_int(dtype) && value < 0) return false;
  return ir::int_of_bits(dtype, ir::bits_of_int(dtype, value)) == value;
}

uint64_t Literal::bits_in(DType dtype) const {
  if (kind == Float || (kind == Unsigned && is_float(dtype))) return ir::bits_of_double(dtype, as_double());
  return ir::bits_of_int(dtype, static_cast<int64_t>(bits));
}

std::string to_string(const Literal& literal) {
  switch (literal.kind) {
    case Literal::Bool: return literal.bits ? "true" : "false";
    case Literal::Int: return fmt::format("{}", static_cast<int64_t>(literal.bits));
    case Literal::Unsigned: return fmt::format("{}", literal.bits);
    case Literal::Float: return fmt::format("{}", std::bit_cast<double>(literal.bits));
  }
  return {};
}

}  // namespace strider::front
