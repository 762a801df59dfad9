// SPDX-License-Identifier: Apache-2.0
// Every dtype through arithmetic, comparison and conversion, special values included.
#include <cmath>

#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

constexpr int n = 300, block = 128;

/// x and y of one dtype through `body`, which gives one value.
template <class T, class R = T, class F>
Kernel binary(std::string name, F body) {
  return kernel(std::move(name), {(n + block - 1) / block, 1, 1}, {mixed<T>(n), mixed<T>(n), output<R>(n), number(n)},
                [body](tl::Ptr<T> x, tl::Ptr<T> y, tl::Ptr<R> z, tl::i32 n) {
                  auto i = tl::program_id(0) * block + tl::arange(0, block);
                  auto mask = i < n;
                  Value result = body(tl::load(x + i, mask), tl::load(y + i, mask));
                  tl::store(z + i, result.to(dtype_of<R>), mask);  // quotients of 16 bits are f32
                });
}

template <class T>
std::string of(std::string what) {
  return what + "_" + std::string(name_of(dtype_of<T>));
}

template <class T>
Kernel float_arithmetic() {
  return binary<T>(of<T>("arithmetic"), [](tl::Tile a, tl::Tile b) { return (a + b) * (a - 1.5) / (b * b + 0.25) - a * b; });
}

template <class T>
Kernel float_unary() {
  return binary<T>(of<T>("rounding_and_signs"), [](tl::Tile a, tl::Tile b) {
    auto rounded = tl::floor(a) + tl::ceil(b) * tl::trunc(a) - tl::round(b * 2);
    return tl::where(a < b, rounded, tl::sign(a) * tl::sqrt(tl::abs(b)) + -a);
  });
}

template <class T>
Kernel float_extremes() {
  return binary<T>(of<T>("minimum_maximum_remainder"),
                   [](tl::Tile a, tl::Tile b) { return tl::minimum(a, b) + tl::maximum(b, a * 0.5) * (a % b); });
}

template <class T>
Kernel float_functions() {
  return binary<T>(of<T>("functions"), [](tl::Tile a, tl::Tile b) {
    auto x = tl::exp(tl::minimum(a, 5)) - tl::log(tl::abs(b)) + tl::tanh(a) * tl::erf(b);
    auto y = tl::exp2(-tl::abs(a)) + tl::expm1(-tl::abs(b)) + tl::log1p(tl::abs(a)) - tl::log2(tl::abs(b) + 1);
    return x * tl::sigmoid(a) + y;
  });
}

template <class T>
Kernel fused() {
  return binary<T>(of<T>("fma"), [](tl::Tile a, tl::Tile b) { return tl::fma(a, b, tl::fma(b, b, -a)); });
}

template <class T>
Kernel integer_arithmetic() {
  return binary<T>(of<T>("arithmetic"), [](tl::Tile a, tl::Tile b) { return (a + b) * (a - 3) ^ ((a & b) | ~(a * b)); });
}

template <class T>
Kernel integer_division() {
  return binary<T>(of<T>("division"), [](tl::Tile a, tl::Tile b) { return tl::div(a, b) * 7 + a % b - tl::div(b, 3) + a % 5; });
}

template <class T>
Kernel shifts() {
  return binary<T>(of<T>("shifts"), [](tl::Tile a, tl::Tile b) { return (a << b) ^ (a >> b) ^ (b << 3) ^ (b >> 2); });
}

template <class T>
Kernel integer_order() {
  return binary<T>(of<T>("order_and_signs"), [](tl::Tile a, tl::Tile b) {
    return tl::where(a < b, tl::abs(a) - tl::sign(b), tl::minimum(-a, b)) ^ tl::maximum(a, tl::where(a == b, 5, b));
  });
}

template <class T>
Kernel comparisons() {
  return binary<T, bool>(of<T>("comparisons"), [](tl::Tile a, tl::Tile b) {
    return ((a < b) ^ (a <= b)) | ((a > b) & (b >= a)) | ((a == b) ^ (a != b) ^ (a >= 1));
  });
}

Kernel bools() {
  return binary<bool>("logic_of_bools", [](tl::Tile a, tl::Tile b) { return (a & ~b) | (a ^ b) | (a == b) | (a < b); });
}

/// Bytes that are neither 0 nor 1 load as true.
Kernel loose_bools() {
  return kernel(
      "bytes_that_are_not_0_or_1_load_as_true", {1, 1, 1}, {output<bool>(40), output<bool>(40), output<int>(40)},
      [](tl::Ptr<bool> poison, tl::Ptr<bool> y, tl::Ptr<int> z) {
        auto i = tl::arange(0, 40);
        auto v = tl::load(poison + i);
        tl::store(y + i, v);
        tl::store(z + i, v.to<int>() + tl::where(v == (i > 5), 10, 20));
      },
      [](Reference& r) {
        for (int i = 0; i < 40; ++i) r.set(1, i, 1), r.set(2, i, i > 5 ? 11 : 21);
      });
}

/// One input dtype converted to every dtype.
template <class T>
Kernel conversions() {
  return kernel(of<T>("conversions_from"), {2, 1, 1},
                {mixed<T>(n), output<bool>(n), output<int8_t>(n), output<int16_t>(n), output<int>(n), output<int64_t>(n), output<uint8_t>(n),
                 output<uint16_t>(n), output<uint32_t>(n), output<uint64_t>(n), output<Half>(n), output<BFloat16>(n), output<float>(n), output<double>(n)},
                [](tl::Ptr<T> x, tl::Ptr<bool> b, tl::Ptr<int8_t> c, tl::Ptr<int16_t> s, tl::Ptr<int> i, tl::Ptr<int64_t> l, tl::Ptr<uint8_t> uc,
                   tl::Ptr<uint16_t> us, tl::Ptr<uint32_t> ui, tl::Ptr<uint64_t> ul, tl::Ptr<Half> h, tl::Ptr<BFloat16> bf, tl::Ptr<float> f, tl::Ptr<double> d) {
                  auto at = tl::program_id(0) * 160 + tl::arange(0, 160);
                  auto mask = at < n;
                  auto v = tl::load(x + at, mask);
                  auto put = [&](const tl::Pointer& p) { tl::store(p, v.to(p.dtype()), mask); };
                  put(b + at), put(c + at), put(s + at), put(i + at), put(l + at), put(uc + at), put(us + at);
                  put(ui + at), put(ul + at), put(h + at), put(bf + at), put(f + at), put(d + at);
                });
}

Kernel bit_patterns() {
  return kernel(
      "bits_of_floats", {1, 1, 1}, {mixed<int>(200), mixed<int16_t>(200), output<float>(200), output<int>(200), output<Half>(200)},
      [](tl::Ptr<int> x, tl::Ptr<int16_t> y, tl::Ptr<float> f, tl::Ptr<int> z, tl::Ptr<Half> h) {
        auto i = tl::arange(0, 200);
        auto v = tl::load(x + i);
        tl::store(f + i, tl::bitcast(v, DType::F32));
        tl::store(z + i, tl::bitcast(tl::abs(tl::bitcast(v, DType::F32)), DType::I32));
        tl::store(h + i, -tl::bitcast(tl::load(y + i), DType::F16));
      },
      [](Reference& r) {
        for (int i = 0; i < 200; ++i) r.set(3, i, static_cast<int32_t>(r.in(0, i)) & INT32_MAX);
        for (int i = 0; i < 200; ++i) {
          auto bits = static_cast<int32_t>(r.in(0, i));
          float f;
          __builtin_memcpy(&f, &bits, 4);
          r.set(2, i, f);
          auto half = static_cast<int16_t>(r.in(1, i));
          _Float16 h;
          __builtin_memcpy(&h, &half, 2);
          r.set(4, i, -static_cast<Real>(h));
        }
      });
}

Kernel gelu_of_halves() {
  return kernel(
      "gelu_f16_through_f32", {3, 1, 1}, {plain<Half>(n), output<Half>(n), number(n)},
      [](tl::Ptr<Half> x, tl::Ptr<Half> y, tl::i32 n) {
        auto i = tl::program_id(0) * block + tl::arange(0, block);
        auto v = tl::load(x + i, i < n).to<float>();
        tl::store(y + i, (0.5f * v * (1.0f + tl::erf(v * 0.70710678f))).to<Half>(), i < n);
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i) r.set(1, i, 0.5L * r.in(0, i) * (1 + std::erf(r.in(0, i) * std::sqrt(0.5L))));
      },
      2e-3);
}

Kernel wide_and_narrow() {
  return kernel(
      "dtypes_of_every_width_in_one_kernel", {2, 1, 1}, {mixed<int8_t>(n), mixed<int64_t>(n), mixed<Half>(n), mixed<double>(n), output<double>(n), output<int8_t>(n)},
      [](tl::Ptr<int8_t> a, tl::Ptr<int64_t> b, tl::Ptr<Half> c, tl::Ptr<double> d, tl::Ptr<double> y, tl::Ptr<int8_t> z) {
        auto i = tl::program_id(0) * 150 + tl::arange(0, 150);
        auto v = tl::load(a + i).to<double>() + tl::load(c + i).to<double>() * tl::load(d + i);
        tl::store(y + i, v - tl::load(b + i).to<double>());
        tl::store(z + i, (tl::load(b + i) >> 3).to<int8_t>());
      });
}

Kernel scalar_arguments() {
  return kernel(
      "scalar_arguments_of_every_kind", {1, 1, 1},
      {mixed<double>(64), output<double>(64), number(true), number<int8_t>(-3), number<uint16_t>(60000), number<int64_t>(-(int64_t{1} << 40)),
       number(0.1f), number(1e300), number(32, true)},
      [](tl::Ptr<double> x, tl::Ptr<double> y, tl::boolean b, tl::i8 c, tl::u16 u, tl::i64 l, tl::f32 f, tl::f64 d, tl::i32 n) {
        auto i = tl::arange(0, 64);
        auto sum = c.to<double>() + u.to<double>() + l.to<double>() + f.to<double>();
        tl::store(y + i, tl::where(b, tl::load(x + i, i < n, d), sum), i < n + 8);
        tl::if_(b, [&] { tl::store(y + 63, sum); });
      },
      [](Reference& r) {
        for (int i = 0; i < 40; ++i) r.set(1, i, i < 32 ? r.in(0, i) : 1e300);
        r.set(1, 63, -3.0 + 60000.0 - static_cast<double>(int64_t{1} << 40) + static_cast<double>(0.1f));
      });
}

}  // namespace

Kernels dtype_kernels() {
  return {
      float_arithmetic<Half>(), float_arithmetic<BFloat16>(), float_arithmetic<float>(), float_arithmetic<double>(),
      float_unary<Half>(), float_unary<BFloat16>(), float_unary<float>(), float_unary<double>(),
      float_extremes<Half>(), float_extremes<BFloat16>(), float_extremes<float>(), float_extremes<double>(),
      float_functions<Half>(), float_functions<BFloat16>(), float_functions<float>(), float_functions<double>(),
      fused<Half>(), fused<BFloat16>(), fused<float>(), fused<double>(), fused<int16_t>(),
      integer_arithmetic<int8_t>(), integer_arithmetic<int16_t>(), integer_arithmetic<int>(), integer_arithmetic<int64_t>(),
      integer_arithmetic<uint8_t>(), integer_arithmetic<uint16_t>(), integer_arithmetic<uint32_t>(), integer_arithmetic<uint64_t>(),
      integer_division<int8_t>(), integer_division<int>(), integer_division<int64_t>(), integer_division<uint8_t>(), integer_division<uint64_t>(),
      shifts<int8_t>(), shifts<int>(), shifts<int64_t>(), shifts<uint16_t>(), shifts<uint64_t>(),
      integer_order<int8_t>(), integer_order<int64_t>(), integer_order<uint32_t>(),
      comparisons<Half>(), comparisons<float>(), comparisons<double>(), comparisons<int8_t>(), comparisons<int64_t>(), comparisons<uint64_t>(),
      bools(), loose_bools(),
      conversions<bool>(), conversions<int8_t>(), conversions<int>(), conversions<int64_t>(), conversions<uint16_t>(), conversions<uint64_t>(),
      conversions<Half>(), conversions<BFloat16>(), conversions<float>(), conversions<double>(),
      bit_patterns(), gelu_of_halves(), wide_and_narrow(), scalar_arguments(),
  };
}

}  // namespace strider::lowering
