// SPDX-License-Identifier: Apache-2.0
#include "support/bits.h"

#include <cmath>

#include <fmt/format.h>

#include "ir/semantics.h"

namespace strider::support {

using ir::bits_of_double;
using ir::bits_of_int;

namespace {

std::vector<uint64_t> special_floats(DType dtype) {
  std::vector<uint64_t> all;
  double smallest = dtype == DType::F64 ? 0x1p-1074 : dtype == DType::F32 ? 0x1p-149 : dtype == DType::F16 ? 0x1p-24 : 0x1p-133;
  double normal = dtype == DType::F64 ? 0x1p-1022 : dtype == DType::F16 ? 0x1p-14 : 0x1p-126;
  double largest = dtype == DType::F64 ? 0x1.fffffffffffffp1023 : dtype == DType::F32 ? 0x1.fffffep127 : dtype == DType::F16 ? 65504 : 0x1.fep127;
  for (double x : {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 1.0 / 3, 0.1, 100.0, 1e4, smallest, 3 * smallest, normal, normal - smallest, largest, double{INFINITY}})
    for (double signed_x : {x, -x}) all.push_back(bits_of_double(dtype, signed_x));
  all.push_back(bits_of_double(dtype, NAN));
  return all;
}

std::vector<uint64_t> special_integers(DType dtype) {
  std::vector<uint64_t> all;
  int top = bits_of(dtype) - 1;
  for (int64_t x : {0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 100, 127})
    for (int64_t signed_x : {x, -x}) all.push_back(bits_of_int(dtype, signed_x));
  for (int64_t offset : {-1, 0, 1}) all.push_back(bits_of_int(dtype, static_cast<int64_t>((uint64_t{1} << top) + static_cast<uint64_t>(offset))));
  return all;
}

}  // namespace

std::vector<uint64_t> special_bits(DType dtype) {
  if (dtype == DType::Bool) return {0, 1};
  return is_float(dtype) ? special_floats(dtype) : special_integers(dtype);
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
