// SPDX-License-Identifier: Apache-2.0
// Atomics of every kind and dtype, random numbers, hints.
#include <cmath>

#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

using Atomic = Value (*)(const tl::Pointer&, const Value&, const Value&, tl::Place);

/// A kind of atomic, and what it makes of an element in plain C++.
struct Kind {
  std::string name;
  Atomic apply;
  Real (*result)(Real old, Real value);
  bool any_order;  // the order of lanes does not show in memory
};

const Kind kAdd{"add", tl::atomic_add, [](Real a, Real b) { return a + b; }, true};
const Kind kMax{"max", tl::atomic_max, [](Real a, Real b) { return std::max(a, b); }, true};
const Kind kMin{"min", tl::atomic_min, [](Real a, Real b) { return std::min(a, b); }, true};
const Kind kAnd{"and", tl::atomic_and, [](Real a, Real b) { return static_cast<Real>(static_cast<int64_t>(a) & static_cast<int64_t>(b)); }, true};
const Kind kOr{"or", tl::atomic_or, [](Real a, Real b) { return static_cast<Real>(static_cast<int64_t>(a) | static_cast<int64_t>(b)); }, true};
const Kind kXor{"xor", tl::atomic_xor, [](Real a, Real b) { return static_cast<Real>(static_cast<int64_t>(a) ^ static_cast<int64_t>(b)); }, true};
const Kind kExchange{"xchg", tl::atomic_xchg, [](Real, Real b) { return b; }, false};

/// Four programs, masked lanes, repeated addresses where the order does not show; what each lane got where it does.
template <class T>
Kernel atomics(const Kind& kind) {
  static constexpr int n = 30, cells = 7, total = 4 * n;
  static constexpr bool is_bool = std::same_as<T, bool>;
  auto element = [](int64_t i) -> Real { return is_bool ? i % 3 == 0 : (i * 5 + 3) % 11; };
  auto cell = [](int64_t i) -> Real { return is_bool ? i % 2 : (i * 3) % 8; };
  Atomic apply = kind.apply;
  bool repeats = kind.any_order;
  return kernel(
      "atomic_" + kind.name + "_of_" + std::string(name_of(dtype_of<T>)), {4, 1, 1},
      {formula<T>(total, element), formula<T>(total, cell), formula<T>(cells, cell), output<T>(total), formula<T>(1, cell)},
      [=](tl::Ptr<T> x, tl::Ptr<T> own, tl::Ptr<T> shared, tl::Ptr<T> old, tl::Ptr<T> single) {
        auto p = tl::program_id(0), i = p * n + tl::arange(0, n);
        auto v = tl::load(x + i);
        tl::store(old + i, apply(own + i, v, i % 4 != 1, tl::Place::current()));
        if (repeats) apply(shared + i % cells, v, i % 5 != 2, tl::Place::current());
        if (repeats) apply(single, tl::load(x + p), p != 2, tl::Place::current());
      },
      [=](Reference& r) {
        std::vector<Real> memory;
        for (int k = 0; k < cells; ++k) memory.push_back(r.in(2, k));
        Real single = r.in(4, 0);
        for (int i = 0; i < total; ++i) {
          bool on = i % 4 != 1;
          r.set(3, i, on ? r.in(1, i) : 0);
          if (on) r.set(1, i, kind.result(r.in(1, i), r.in(0, i)));
          Real& shared = memory[static_cast<size_t>(i % cells)];
          if (repeats && i % 5 != 2) shared = kind.result(shared, r.in(0, i));
        }
        for (int p = 0; p < 4; ++p)
          if (repeats && p != 2) single = kind.result(single, r.in(0, p));
        for (int k = 0; k < cells; ++k) r.set(2, k, memory[static_cast<size_t>(k)]);
        r.set(4, 0, single);
      });
}

/// Every third lane compares with what is there.
template <class T>
Kernel compare_and_swap() {
  static constexpr int n = 45;
  static constexpr bool is_bool = std::same_as<T, bool>;
  auto cell = [](int64_t i) -> Real { return is_bool ? i % 2 : (i * 7) % 13 + 1; };
  return kernel(
      "atomic_cas_of_" + std::string(name_of(dtype_of<T>)), {2, 1, 1}, {formula<T>(2 * n, cell), output<T>(2 * n)},
      [](tl::Ptr<T> x, tl::Ptr<T> old) {
        auto i = tl::program_id(0) * n + tl::arange(0, n);
        auto there = tl::load(x + i);
        auto compare = tl::where(i % 3 == 0, there, is_bool ? Value(tl::where(there, false, true)) : Value((there + 1).to(there.dtype())));
        auto value = is_bool ? Value(tl::where(there, false, true)) : Value((i % 5 + 20).to(there.dtype()));
        tl::store(old + i, tl::atomic_cas(x + i, compare, value, i % 4 != 2));
      },
      [](Reference& r) {
        for (int i = 0; i < 2 * n; ++i) {
          bool on = i % 4 != 2;
          r.set(1, i, on ? r.in(0, i) : 0);
          if (on && i % 3 == 0) r.set(0, i, is_bool ? 1 - r.in(0, i) : i % n % 5 + 20);
        }
      });
}

/// One lane of many wins the flag, whatever the engine; all see that it is taken.
Kernel one_winner() {
  static constexpr int n = 40;
  return kernel(
      "compare_and_swap_has_one_winner", {3, 1, 1}, {zeroed<int>(1), zeroed<int>(1)},
      [](tl::Ptr<int> flag, tl::Ptr<int> winners) {
        auto lanes = tl::arange(0, n);
        auto old = tl::atomic_cas(flag + lanes * 0, 0, 1 + 0 * lanes);
        tl::atomic_add(winners, tl::sum(tl::where(old == 0, 1, 0)));
      },
      [](Reference& r) {
        r.set(0, 0, 1);
        r.set(1, 0, 1);
      });
}

/// Results of scalar atomics are used by all lanes, in a loop.
Kernel scalar_exchange() {
  static constexpr int n = 24;
  return kernel(
      "scalar_exchange_happens_once_per_iteration", {1, 1, 1}, {formula<int>(1, [](int64_t) { return 7; }), output<int>(4 * n), number(4)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::i32 rounds) {
        auto i = tl::arange(0, n);
        tl::range(0, rounds, 1, [&](auto k) { tl::store(y + k * n + i, tl::atomic_xchg(x, 10 * (k + 1)) + i); });
      },
      [](Reference& r) {
        for (int k = 0; k < 4; ++k)
          for (int i = 0; i < n; ++i) r.set(1, k * n + i, (k == 0 ? 7 : 10 * k) + i);
        r.set(0, 0, 40);
      });
}

/// Repeated indices with one lane masked off.
Kernel repeated_indices() {
  return kernel(
      "atomic_add_with_repeated_indices_and_a_mask", {1, 1, 1},
      {zeroed<float>(4), formula<int>(4, [](int64_t i) { return i == 3 ? 0 : 3; })},
      [](tl::Ptr<float> x, tl::Ptr<int> at) {
        auto i = tl::arange(0, 4);
        tl::atomic_add(x + tl::load(at + i), (1 << i).to<float>(), i != 3);
        tl::store(x + 1, 5.0f, tl::load(at) == 0);  // a scalar store with a false mask
      },
      [](Reference& r) {
        r.set(0, 3, 7);
      });
}

/// Extremes with NaN, infinities and both zeros in memory and in values: each lane its own element.
template <class T>
Kernel extremes_of_special_values() {
  static constexpr int n = 96;
  return kernel(
      "atomic_extremes_of_special_values_" + std::string(name_of(dtype_of<T>)), {1, 1, 1},
      {mixed<T>(n), mixed<T>(n), mixed<T>(n), output<T>(n), output<T>(n), output<T>(n)},
      [](tl::Ptr<T> v, tl::Ptr<T> a, tl::Ptr<T> b, tl::Ptr<T> max, tl::Ptr<T> min, tl::Ptr<T> old) {
        auto i = tl::arange(0, n);
        auto x = tl::load(v + i), y = tl::load(a + i), z = tl::load(b + i);
        tl::store(max + i, tl::maximum(y, x));
        tl::store(min + i, tl::minimum(z, x));
        tl::store(old + i, tl::atomic_max(a + i, x));
        tl::atomic_min(b + i, x);
      });
}

// --- random numbers

uint64_t high_32(uint64_t a, uint64_t b) { return (a * b) >> 32; }

/// Philox 4x32-10 in plain C++.
std::array<uint32_t, 4> philox(uint64_t seed, std::array<uint32_t, 4> c) {
  auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    constexpr uint64_t kA = 0xD2511F53, kB = 0xCD9E8D57;
    auto high_a = static_cast<uint32_t>(high_32(kA, c[0])), high_b = static_cast<uint32_t>(high_32(kB, c[2]));
    c = {high_b ^ c[1] ^ k0, static_cast<uint32_t>(kB * c[2]), high_a ^ c[3] ^ k1, static_cast<uint32_t>(kA * c[0])};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

template <class Seed, class Offset>
Kernel random_words(Seed seed, Offset first) {
  static constexpr int n = 50;
  return kernel(
      "random_words_of_" + std::string(name_of(dtype_of<Offset>)) + "_offsets", {2, 1, 1},
      {output<uint32_t>(8 * n), number(seed), number(first)},
      [](tl::Ptr<uint32_t> y, tl::Scalar<dtype_of<Seed>> seed, tl::Scalar<dtype_of<Offset>> first) {
        auto i = tl::program_id(0) * n + tl::arange(0, n);
        auto words = tl::randint4x(seed, first + i.to<Offset>());
        for (int k = 0; k < 4; ++k) tl::store(y + i * 4 + k, words[static_cast<size_t>(k)]);
      },
      [=](Reference& r) {
        for (int i = 0; i < 2 * n; ++i) {
          auto offset = static_cast<Offset>(first + static_cast<Offset>(i));
          auto high = sizeof(Offset) == 8 ? static_cast<uint32_t>(static_cast<uint64_t>(offset) >> 32) : 0u;
          auto words = philox(static_cast<uint64_t>(static_cast<int64_t>(seed)), {static_cast<uint32_t>(offset), high, 0, 0});
          for (int k = 0; k < 4; ++k) r.set(0, i * 4 + k, words[static_cast<size_t>(k)]);
        }
      });
}

/// Engines agree in every bit; the uniform ones against plain C++.
Kernel random_floats() {
  static constexpr int n = 64;
  return kernel(
      "random_floats", {2, 1, 1}, {output<float>(2 * n), output<float>(2 * n), output<float>(8 * n), number(1234)},
      [](tl::Ptr<float> uniform, tl::Ptr<float> normal, tl::Ptr<float> four, tl::i32 seed) {
        auto i = tl::program_id(0) * n + tl::arange(0, n);
        tl::store(uniform + i, tl::rand(seed, i));
        tl::store(normal + i, tl::randn(seed, i));
        auto many = tl::randn4x(seed, i);
        for (int k = 0; k < 4; ++k) tl::store(four + i * 4 + k, many[static_cast<size_t>(k)]);
      },
      [](Reference& r) {
        for (int i = 0; i < 2 * n; ++i) {
          auto words = philox(1234, {static_cast<uint32_t>(i), 0, 0, 0});
          auto uniform = [&](int k) {
            auto s = static_cast<int32_t>(words[static_cast<size_t>(k)]);
            return static_cast<Real>(static_cast<float>(s < 0 ? -s - 1 : s) * 4.6566127342e-10f);
          };
          auto normal = [&](int k) {
            Real radius = std::sqrt(-2 * std::log(std::max<Real>(1e-7L, uniform(k)))), angle = 6.283185307179586L * uniform(k + 1);
            return std::pair(radius * std::cos(angle), radius * std::sin(angle));
          };
          r.set(0, i, uniform(0));
          r.set(1, i, normal(0).first);
          Real all[] = {normal(0).first, normal(0).second, normal(2).first, normal(2).second};
          for (int k = 0; k < 4; ++k) r.set(2, i * 4 + k, all[k]);
        }
      },
      2e-5);
}

__extension__ typedef unsigned __int128 Wide;

template <class T>
Kernel high_products() {
  static constexpr int n = 70;
  static auto high = [](T a, T b) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Wide>(static_cast<U>(a)) * static_cast<U>(b) >> (8 * sizeof(T)));
  };
  return kernel(
      "umulhi_of_" + std::string(name_of(dtype_of<T>)), {1, 1, 1}, {mixed<T>(n), mixed<T>(n), output<T>(n)},
      [](tl::Ptr<T> x, tl::Ptr<T> y, tl::Ptr<T> z) {
        auto i = tl::arange(0, n);
        tl::store(z + i, tl::umulhi(tl::load(x + i), tl::load(y + i)));
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i) r.set(2, i, high(static_cast<T>(r.in(0, i)), static_cast<T>(r.in(1, i))));
      });
}

Kernel wide_philox() {
  static constexpr int n = 20;
  return kernel(
      "philox_of_64_bit_counters", {1, 1, 1}, {output<uint64_t>(4 * n), number<int64_t>(99)},
      [](tl::Ptr<uint64_t> y, tl::i64 seed) {
        auto i = tl::arange(0, n);
        auto words = tl::philox(seed, i.to<uint64_t>() << 33, i, 3, 0);
        for (int k = 0; k < 4; ++k) tl::store(y + i * 4 + k, words[static_cast<size_t>(k)]);
      },
      [](Reference& r) {
        for (uint64_t i = 0; i < n; ++i) {
          std::array<uint64_t, 4> c{i << 33, i, 3, 0};
          uint64_t k0 = 99, k1 = 0;
          for (int round = 0; round < 10; ++round) {
            Wide a = Wide{0xD2E7470EE14C6C93} * c[0], b = Wide{0xCA5A826395121157} * c[2];
            c = {static_cast<uint64_t>(b >> 64) ^ c[1] ^ k0, static_cast<uint64_t>(b), static_cast<uint64_t>(a >> 64) ^ c[3] ^ k1,
                 static_cast<uint64_t>(a)};
            k0 += 0x9E3779B97F4A7C15;
            k1 += 0xBB67AE8584CAA73B;
          }
          for (size_t k = 0; k < 4; ++k) r.set(0, static_cast<int64_t>(4 * i + k), static_cast<Real>(c[k]));
        }
      });
}

// --- hints

Kernel hints() {
  static constexpr int n = 100, block = 64;
  return kernel(
      "hints_change_nothing", {2, 1, 1}, {mixed<float>(2 * block), output<float>(2 * block), formula<int>(1, [](int64_t) { return 64; }), number(n)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<int> stride, tl::i32 n) {
        auto step = tl::multiple_of(tl::load(stride), 16);
        tl::assume(step > 0);
        auto row = tl::program_id(0) * step + tl::arange(0, block);
        auto i = tl::max_contiguous(tl::multiple_of(row, block), block);
        tl::assume(i >= 0);
        auto p = tl::multiple_of(x + tl::program_id(0) * step, 64) + tl::arange(0, block);
        auto same = tl::max_constancy(tl::floor_div(tl::arange(0, block), 8), 8);
        tl::store(tl::multiple_of(y, 32) + i, tl::load(p, i < n) + same.to<float>(), i < n);
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i) r.set(1, i, static_cast<float>(static_cast<float>(r.in(0, i)) + static_cast<float>(i % block / 8)));
      });
}

template <class... T>
void add_all(Kernels& all, const Kind& kind) {
  (all.push_back(atomics<T>(kind)), ...);
}

}  // namespace

Kernels effect_kernels() {
  Kernels all{repeated_indices(), one_winner(), scalar_exchange(),
              extremes_of_special_values<float>(), extremes_of_special_values<double>(), extremes_of_special_values<Half>(),
              extremes_of_special_values<BFloat16>(),
              compare_and_swap<int8_t>(), compare_and_swap<uint16_t>(), compare_and_swap<int>(), compare_and_swap<uint64_t>(),
              compare_and_swap<Half>(), compare_and_swap<BFloat16>(), compare_and_swap<float>(), compare_and_swap<double>(),
              compare_and_swap<bool>(),
              random_words<int32_t, int32_t>(-5, 7), random_words<int64_t, uint32_t>(int64_t{1} << 40 | 3, 0xfffffff0u),
              random_words<int64_t, int64_t>(42, (int64_t{1} << 33) - 20), random_floats(), wide_philox(),
              high_products<int32_t>(), high_products<uint32_t>(), high_products<int64_t>(), high_products<uint64_t>(), hints()};
  add_all<uint8_t, int16_t, uint64_t>(all, kAdd);
  for (const Kind* kind : {&kMax, &kMin}) {
    add_all<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(all, *kind);
    add_all<Half, BFloat16, float, double>(all, *kind);
  }
  for (const Kind* kind : {&kAnd, &kOr, &kXor}) add_all<bool, int8_t, uint16_t, int32_t, uint64_t>(all, *kind);
  add_all<bool, int8_t, uint16_t, int32_t, int64_t, Half, BFloat16, float, double>(all, kExchange);
  return all;
}

}  // namespace strider::lowering
