// SPDX-License-Identifier: Apache-2.0
// New tensors. Values are made on the host, element by element as a function of the index, so that the number of threads and the
// device change nothing.
#include <cmath>
#include <cstring>
#include <numbers>

#include "backend/backend.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "base/float_format.h"
#include "base/thread_pool.h"
#include "ir/semantics.h"
#include "tensor/elements.h"
#include "tensor/number.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

#include <strider/tensor.h>

namespace strider::inline v0 {
namespace {

uint64_t cast(uint64_t bits, DType from, DType to) { return ir::evaluate(ir::Op::Cast, from, to, &bits); }

// ---- random numbers

/// Inside (0, 1).
double uniform(uint64_t key, uint64_t counter) { return (static_cast<double>(random_bits(key, counter) >> 11) + 0.5) * 0x1p-53; }

double normal(uint64_t key, uint64_t i) {
  double radius = std::sqrt(-2 * std::log(uniform(key, 2 * i)));
  return radius * std::cos(2 * std::numbers::pi * uniform(key, 2 * i + 1));
}

/// Bits of the significand, the hidden one included.
int precision_of(DType t) {
  if (!is_float(t)) user_error("rand: the dtype is {}, expected floats: randint gives integers", name_of(t));
  return format_of(t).precision();
}

// ---- arange

__extension__ typedef __int128 Wide;

Wide wide(const Argument& a) {
  return a.kind() == Argument::Unsigned ? Wide{static_cast<uint64_t>(a.as_int())} : Wide{a.as_int()};
}

double real(const Argument& a) { return a.kind() == Argument::Float ? a.as_float() : static_cast<double>(wide(a)); }

/// An integer within the range of i64 or of u64, converted.
uint64_t bits_of_wide(DType dtype, Wide value) {
  return cast(static_cast<uint64_t>(value), value > INT64_MAX ? DType::U64 : DType::I64, dtype);
}

Tensor arange_integers(Wide begin, Wide end, Wide step, const TensorOptions& options) {
  if (step == 0) user_error("arange: the step is 0");
  Wide distance = step > 0 ? end - begin : begin - end, stride = step > 0 ? step : -step;
  Wide count = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  if (count > INT64_MAX) user_error("arange: more than 2^63 elements");
  return generate({static_cast<int64_t>(count)}, options,
                  [&](int64_t i) { return bits_of_wide(options.dtype, begin + i * step); });
}

Tensor arange_reals(double begin, double end, double step, const TensorOptions& options) {
  double count = std::ceil((end - begin) / step);
  if (step == 0) user_error("arange: the step is 0");
  if (!std::isfinite(begin) || !std::isfinite(end) || !std::isfinite(step) || !(count < 0x1p62))
    user_error("arange: from {} to {} by {}, expected finite numbers and fewer than 2^62 elements", begin, end, step);
  return generate({std::max<int64_t>(static_cast<int64_t>(std::max(count, 0.0)), 0)}, options, [&](int64_t i) {
    return cast(ir::bits_of_double(DType::F64, begin + static_cast<double>(i) * step), DType::F64, options.dtype);
  });
}

}  // namespace

Tensor empty_strided(const Dims& shape, const Dims& strides, const TensorOptions& options) {
  return empty_on(device_of(options.device), shape, strides, options.dtype);
}

Tensor empty(const Dims& shape, const TensorOptions& options) {
  count_elements(shape, options.dtype);
  return empty_strided(shape, contiguous_strides(shape), options);
}

Tensor zeros(const Dims& shape, const TensorOptions& options) {
  Tensor t = empty(shape, options);
  Device& device = t.device_object();
  std::span<char> bytes = bytes_of(t);
  if (bytes.empty()) return t;
  if (!is_host(device)) {
    device.fill_zero(t.data(), static_cast<int64_t>(bytes.size()), current_handle(device));
    return t;
  }
  parallel_for(static_cast<int64_t>(bytes.size()), 1 << 18, [&](int64_t begin, int64_t end, int) {
    std::memset(bytes.data() + begin, 0, static_cast<size_t>(end - begin));
  });
  return t;
}

Tensor detail::full(const Dims& shape, const Argument& value, const TensorOptions& options) {
  const DefaultFloatEnvironment environment;
  check_known(options.dtype);
  DType from = value.kind() == Argument::Float      ? DType::F64
               : value.kind() == Argument::Unsigned ? DType::U64
               : value.kind() == Argument::Bool     ? DType::Bool
                                                    : DType::I64;
  uint64_t bits = cast(bits_of(value, from), from, options.dtype);
  return generate(shape, options, [bits](int64_t) { return bits; });
}

Tensor arange(int64_t count, const TensorOptions& options) {
  if (count < 0) user_error("arange: {} elements", count);
  return detail::arange(Argument(0), Argument(count), Argument(1), options);
}

Tensor detail::arange(const Argument& begin, const Argument& end, const Argument& step, const TensorOptions& options) {
  const DefaultFloatEnvironment environment;
  check_known(options.dtype);
  for (const Argument* a : {&begin, &end, &step})
    if (a->kind() == Argument::Float) return arange_reals(real(begin), real(end), real(step), options);
  return arange_integers(wide(begin), wide(end), wide(step), options);
}

Tensor rand(const Dims& shape, const TensorOptions& options, uint64_t seed) {
  check_known(options.dtype);
  uint64_t key = key_of(seed);
  int bits = precision_of(options.dtype);
  return generate(shape, options, [&](int64_t i) {
    uint64_t digits = random_bits(key, static_cast<uint64_t>(i)) >> (64 - bits);
    return ir::bits_of_double(options.dtype, std::ldexp(static_cast<double>(digits), -bits));
  });
}

Tensor randn(const Dims& shape, const TensorOptions& options, uint64_t seed) {
  uint64_t key = key_of(seed);
  return generate(shape, options,
                  [&](int64_t i) { return ir::bits_of_double(options.dtype, normal(key, static_cast<uint64_t>(i))); });
}

Tensor randint(const Dims& shape, int64_t low, int64_t high, const TensorOptions& options, uint64_t seed) {
  check_known(options.dtype);
  if (low >= high) user_error("randint: no integers lie in [{}, {})", low, high);
  __extension__ typedef unsigned __int128 Product;
  uint64_t key = key_of(seed), range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return generate(shape, options, [&](int64_t i) {
    auto above = static_cast<uint64_t>((Product{random_bits(key, static_cast<uint64_t>(i))} * range) >> 64);
    return cast(static_cast<uint64_t>(low) + above, DType::I64, options.dtype);
  });
}

Tensor detail::tensor_from(const void* values, size_t count, DType dtype, const Dims& shape) {
  if (count_elements(shape, dtype) != static_cast<int64_t>(count))
    user_error("tensor: {} values for shape {}, which has {} elements", count, to_string(shape), count_elements(shape, dtype));
  Tensor t = empty(shape, {dtype, "cpu"});
  if (count > 0) std::memcpy(t.data(), values, count * static_cast<size_t>(size_of(dtype)));
  return t;
}

}  // namespace strider::v0
