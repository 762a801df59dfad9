// SPDX-License-Identifier: Apache-2.0
#include "tensor/number.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ir/semantics.h"

namespace strider {

bool fits(const Argument& number, DType dtype) {
  bool is_integer = number.kind() == Argument::Int || number.kind() == Argument::Unsigned;
  if (!is_integer || !is_int(dtype)) return true;
  if (number.kind() == Argument::Unsigned) return dtype == DType::U64;  // it is above the range of i64
  if (is_unsigned_int(dtype) && number.as_int() < 0) return false;
  return ir::int_of_bits(dtype, ir::bits_of_int(dtype, number.as_int())) == number.as_int();
}

uint64_t bits_of(const Argument& number, DType dtype) {
  if (number.kind() == Argument::Float) return ir::bits_of_double(dtype, number.as_float());
  if (number.kind() == Argument::Unsigned) {
    auto bits = static_cast<uint64_t>(number.as_int());
    return ir::evaluate(ir::Op::Cast, DType::U64, dtype, &bits);  // rounds once
  }
  return ir::bits_of_int(dtype, number.as_int());
}

uint64_t passed_bits(const Argument& number, DType rounded, DType passed) {
  if (number.kind() == Argument::Float || !is_float(rounded)) return bits_of(number, passed);
  return ir::bits_of_double(passed, ir::double_of_bits(rounded, bits_of(number, rounded)));
}

void check_natural(const Argument& number, std::string_view name) {
  if (number.kind() == Argument::Int && number.as_int() < 0)
    user_error("argument {} is {}, expected 0 or more among integers: convert one of them to a float dtype", name,
               number.as_int());
}

std::string text_of(const Argument& number) {
  switch (number.kind()) {
    case Argument::Bool: return number.as_int() ? "true" : "false";
    case Argument::Float: return fmt::format("{}", number.as_float());
    case Argument::Unsigned: return fmt::format("{}", static_cast<uint64_t>(number.as_int()));
    default: return fmt::format("{}", number.as_int());
  }
}

}  // namespace strider
