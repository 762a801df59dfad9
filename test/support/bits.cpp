// SPDX-License-Identifier: Apache-2.0
#include "support/bits.h"

#include <cmath>

#include <fmt/format.h>

#include "ir/semantics.h"

#include <strider/testing/special.h>

namespace strider::support {

using ir::bits_of_double;
using ir::bits_of_int;

std::vector<uint64_t> special_bits(DType dtype) {
  std::vector<uint64_t> all;
  for (const strider::testing::SpecialValue& v : strider::testing::special_values(dtype)) all.push_back(v.bits);
  return all;
}

uint64_t random_bits(DType dtype, std::mt19937_64& random) {
  uint64_t draw = random();
  if (dtype == DType::Bool) return draw & 1;
  if (draw % 16 == 0) {
    std::vector<uint64_t> special = special_bits(dtype);
    return special[(draw >> 8) % special.size()];
  }
  if (!is_float(dtype)) return bits_of_int(dtype, static_cast<int64_t>(draw >> 8 & 255) - 100);
  double fraction = std::ldexp(static_cast<double>(draw >> 11), -53) + 0.5;
  double sign = draw & 32 ? -1 : 1;
  return bits_of_double(dtype, sign * std::ldexp(fraction, static_cast<int>(random() % 17) - 8));
}

bool is_nan(DType dtype, uint64_t bits) { return is_float(dtype) && std::isnan(ir::double_of_bits(dtype, bits)); }

bool same_answer(DType dtype, uint64_t a, uint64_t b) { return a == b || (is_nan(dtype, a) && is_nan(dtype, b)); }

std::string show_bits(DType dtype, uint64_t bits) {
  if (is_float(dtype)) return fmt::format("{:.9g} ({:#x})", ir::double_of_bits(dtype, bits), bits);
  return fmt::format("{}", ir::int_of_bits(dtype, bits));
}

}  // namespace strider::support
