// SPDX-License-Identifier: Apache-2.0
#include <strider/testing/special.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/float_format.h"
#include "ir/semantics.h"
#include "tensor/elements.h"
#include "tensor/shape.h"

namespace strider::inline v0::testing {
namespace {

/// Values in order, each kept once.
class List {
 public:
  explicit List(DType dtype) : dtype_(dtype) {}

  void add(std::string name, uint64_t bits) {
    bool is_known = std::any_of(values_.begin(), values_.end(), [&](const SpecialValue& v) { return v.bits == bits; });
    if (!is_known) values_.push_back({std::move(name), bits});
  }
  void add_number(std::string name, double value) { add(std::move(name), ir::bits_of_double(dtype_, value)); }
  /// And the same with the other sign.
  void add_both(const std::string& name, uint64_t bits) {
    add(name, bits);
    add("-" + name, bits | uint64_t{1} << (bits_of(dtype_) - 1));
  }
  void add_both(double value) { add_both(fmt::format("{:g}", value), ir::bits_of_double(dtype_, value)); }
  std::vector<SpecialValue> take() { return std::move(values_); }

 private:
  DType dtype_;
  std::vector<SpecialValue> values_;
};

std::vector<SpecialValue> special_floats(DType dtype) {
  const FloatFormat format = format_of(dtype);
  int significand = format.fraction;
  uint64_t one_normal = format.least_normal(), infinity = format.infinity();
  double precision = std::ldexp(1.0, format.precision());  // 2^p: the next number is 2 more
  List list(dtype);
  list.add("max", infinity - 1);
  list.add("min", (infinity - 1) | uint64_t{1} << (bits_of(dtype) - 1));
  list.add_both("0", 0);
  list.add_number("nan", std::numeric_limits<double>::quiet_NaN());
  list.add_both("inf", infinity);
  list.add_both("smallest subnormal", 1);
  list.add_both("largest subnormal", one_normal - 1);
  list.add_both("3 smallest subnormals", 3);
  list.add_both("smallest normal", one_normal);
  list.add_both(1.0);
  list.add_both("1 + epsilon", ir::bits_of_double(dtype, 1) + 1);
  list.add_both("1 - epsilon / 2", ir::bits_of_double(dtype, 1) - 1);
  for (double x : {0.5, 1.5, 2.0, 2.5, 3.0, 7.0, 1.0 / 3, 0.1, 100.0, 1e4}) list.add_both(x);
  list.add_both(fmt::format("2^{}", significand + 1), ir::bits_of_double(dtype, precision));
  list.add_both(fmt::format("2^{} - 1", significand + 1), ir::bits_of_double(dtype, precision - 1));
  list.add_both(fmt::format("2^{} + 2", significand + 1), ir::bits_of_double(dtype, precision + 2));
  list.add_both(fmt::format("2^{} - 0.5", significand), ir::bits_of_double(dtype, precision / 2 - 0.5));
  return list.take();
}

std::vector<SpecialValue> special_integers(DType dtype) {
  uint64_t mask = bits_of(dtype) == 64 ? UINT64_MAX : (uint64_t{1} << bits_of(dtype)) - 1;
  uint64_t half = uint64_t{1} << (bits_of(dtype) - 1);
  bool is_signed = is_signed_int(dtype);
  List list(dtype);
  auto add = [&](std::string name, uint64_t value) { list.add(std::move(name), value & mask); };
  add("max", is_signed ? half - 1 : mask);
  add("min", is_signed ? half : 0);
  add("max - 1", is_signed ? half - 2 : mask - 1);
  add("min + 1", is_signed ? half + 1 : 1);
  add("0", 0);
  for (uint64_t x : {1u, 2u, 3u, 5u, 7u, 8u, 31u, 32u, 63u, 64u, 100u, 127u}) {
    add(fmt::format("{}", x), x);
    add(fmt::format("-{}", x), ~x + 1);
  }
  for (int bits : {8, 16, 24, 31, 32, 53, 63}) {
    if (bits >= bits_of(dtype)) break;
    add(fmt::format("2^{} - 1", bits), (uint64_t{1} << bits) - 1);
    add(fmt::format("2^{}", bits), uint64_t{1} << bits);
    add(fmt::format("2^{} + 1", bits), (uint64_t{1} << bits) + 1);
  }
  return list.take();
}

bool is_finite(DType dtype, uint64_t bits) { return !is_float(dtype) || std::isfinite(ir::double_of_bits(dtype, bits)); }

/// A small integer, or a float of moderate magnitude.
uint64_t usual(DType dtype, uint64_t draw) {
  if (dtype == DType::Bool) return draw & 1;
  if (!is_float(dtype)) return ir::bits_of_int(dtype, static_cast<int64_t>(draw % 201) - (is_signed_int(dtype) ? 100 : 0));
  double fraction = std::ldexp(static_cast<double>(draw >> 11), -53) + 0.5, sign = draw & 1 ? -1 : 1;
  return ir::bits_of_double(dtype, sign * std::ldexp(fraction, static_cast<int>(draw >> 1 & 0xff) % 17 - 8));
}

}  // namespace

std::vector<SpecialValue> special_values(DType dtype) {
  check_known(dtype);
  if (dtype == DType::Bool) return {{"false", 0}, {"true", 1}};
  return is_float(dtype) ? special_floats(dtype) : special_integers(dtype);
}

Tensor special_tensor(const TensorOptions& options) {
  std::vector<SpecialValue> all = special_values(options.dtype);
  return generate({static_cast<int64_t>(all.size())}, options, [&](int64_t i) { return all[static_cast<size_t>(i)].bits; });
}

Tensor random_with_special(const Dims& shape, const TensorOptions& options, uint64_t seed, const SpecialOptions& special) {
  if (!(special.share >= 0 && special.share <= 1))
    user_error("random_with_special: the share of special values is {}, expected 0 to 1", special.share);
  std::vector<uint64_t> values;
  for (const SpecialValue& v : special_values(options.dtype))
    if (!special.finite || is_finite(options.dtype, v.bits)) values.push_back(v.bits);
  uint64_t elements = static_cast<uint64_t>(count_elements(shape, options.dtype)), count = values.size(), key = key_of(seed);
  uint64_t spacing = std::max<uint64_t>(elements / count, 1), first = random_bits(key, UINT64_MAX);
  bool holds_all = special.share > 0;
  auto limit = static_cast<uint64_t>(special.share * 0x1p32);
  return generate(shape, options, [&](int64_t index) {
    auto i = static_cast<uint64_t>(index);
    // Every special value has a place of its own; which one comes first differs by seed, so that pairs of tensors differ.
    if (holds_all && (i + first) % spacing == 0 && i / spacing < count) return values[(i / spacing + first / 7) % count];
    uint64_t draw = random_bits(key, i);
    return draw >> 32 < limit ? values[random_bits(key + 1, i) % count] : usual(options.dtype, mixed(draw));
  });
}

}  // namespace strider::v0::testing
