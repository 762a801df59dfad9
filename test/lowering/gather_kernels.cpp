// SPDX-License-Identifier: Apache-2.0
// Addresses computed from data, and atomics.
#include <algorithm>

#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

int32_t integer(Real x) { return static_cast<int32_t>(x); }

Kernel gather_permutation(int n) {
  return kernel(
      "gather_through_a_permutation_" + std::to_string(n), {1, 1, 1},
      {mixed<float>(n), formula<int>(n, [n](int64_t i) { return (i * 7 + 3) % n; }), output<float>(n)},
      [n](tl::Ptr<float> x, tl::Ptr<int> at, tl::Ptr<float> y) {
        auto i = tl::arange(0, n);
        tl::store(y + i, tl::load(x + tl::load(at + i)));
      },
      [n](Reference& r) {
        for (int i = 0; i < n; ++i) r.set(2, i, r.in(0, integer(r.in(1, i))));
      });
}

Kernel scatter_permutation(int n) {
  return kernel(
      "store_through_a_permutation_" + std::to_string(n), {1, 1, 1},
      {mixed<int64_t>(n), formula<int64_t>(n, [n](int64_t i) { return (i * 5 + 1) % n; }), output<int64_t>(n)},
      [n](tl::Ptr<int64_t> x, tl::Ptr<int64_t> at, tl::Ptr<int64_t> y) {
        auto i = tl::arange(0, n);
        tl::store(y + tl::load(at + i), tl::load(x + i));
      },
      [n](Reference& r) {
        for (int i = 0; i < n; ++i) r.set(2, integer(r.in(1, i)), r.in(0, i));
      });
}

/// Follows i -> next[i] four times: loads whose addresses are loaded.
Kernel pointer_chase() {
  static constexpr int n = 64;
  return kernel(
      "addresses_loaded_in_a_loop", {1, 1, 1}, {formula<int>(n, [](int64_t i) { return (i * 13 + 5) % n; }), output<int>(n), number(4)},
      [](tl::Ptr<int> next, tl::Ptr<int> y, tl::i32 steps) {
        auto i = tl::arange(0, n);
        tl::store(y + i, tl::range(0, steps, 1, i, [&](auto, auto at) { return tl::load(next + at); }));
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i) {
          int at = i;
          for (int k = 0; k < 4; ++k) at = integer(r.in(0, at));
          r.set(1, i, at);
        }
      });
}

/// The whole network on memory: every step exchanges elements a power of two apart.
Kernel bitonic_sort() {
  static constexpr int n = 64;
  return kernel(
      "bitonic_sort_in_memory", {1, 1, 1}, {mixed<int>(n)},
      [](tl::Ptr<int> x) {
        auto i = tl::arange(0, n);
        for (int size = 2; size <= n; size *= 2)
          for (int apart = size / 2; apart > 0; apart /= 2) {
            auto mine = tl::load(x + i), other = tl::load(x + (i ^ apart));
            auto keep_smaller = ((i & size) == 0) == ((i & apart) == 0);
            tl::store(x + i, tl::where(keep_smaller, tl::minimum(mine, other), tl::maximum(mine, other)));
          }
      },
      [](Reference& r) {
        std::vector<Real> v;
        for (int i = 0; i < n; ++i) v.push_back(r.in(0, i));
        std::sort(v.begin(), v.end());
        for (int i = 0; i < n; ++i) r.set(0, i, v[static_cast<size_t>(i)]);
      });
}

/// Gathers with one index per row, as an embedding has.
Kernel embedding() {
  static constexpr int rows = 10, width = 24, count = 13;
  return kernel(
      "rows_gathered_by_index", {1, 1, 1},
      {mixed<float>(rows * width), formula<int64_t>(count, [](int64_t i) { return i * i % rows; }), output<float>(count * width)},
      [](tl::Ptr<float> table, tl::Ptr<int64_t> at, tl::Ptr<float> y) {
        auto i = tl::arange(0, count)[{tl::colon, tl::newaxis}], j = tl::arange(0, width)[{tl::newaxis, tl::colon}];
        auto row = tl::load(at + tl::arange(0, count))[{tl::colon, tl::newaxis}];
        tl::store(y + i * width + j, tl::load(table + row * width + j));
      },
      [](Reference& r) {
        for (int k = 0; k < count * width; ++k) r.set(2, k, r.in(0, integer(r.in(1, k / width)) * width + k % width));
      });
}

// --- atomics

Kernel histogram(int programs) {
  static constexpr int n = 200, bins = 10;
  return kernel(
      "histogram_with_repeated_indices" + std::string(programs > 1 ? "_of_several_programs" : ""), {programs, 1, 1},
      {formula<int>(programs * n, [](int64_t i) { return i * i % bins; }), zeroed<int>(bins)},
      [](tl::Ptr<int> x, tl::Ptr<int> counts) {
        auto i = tl::program_id(0) * n + tl::arange(0, n);
        tl::atomic_add(counts + tl::load(x + i), 1);
      },
      [programs](Reference& r) {
        Real counts[bins] = {};
        for (int i = 0; i < programs * n; ++i) counts[integer(r.in(0, i))] += 1;
        for (int k = 0; k < bins; ++k) r.set(1, k, counts[k]);
      });
}

Kernel atomic_result_used() {
  static constexpr int n = 90;
  return kernel(
      "results_of_atomics_used_later", {2, 1, 1}, {mixed<int>(2 * n), mixed<int>(2 * n), output<int>(2 * n), output<int>(2)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> z, tl::Ptr<int> sums) {
        auto p = tl::program_id(0);
        auto i = p * n + tl::arange(0, n);
        auto old = tl::atomic_add(x + i, tl::load(y + i), i % 3 != 0);
        auto kept = tl::where(i % 3 != 0, old, 0);
        tl::store(z + i, kept * 2);
        tl::store(sums + p, tl::sum(kept, 0));
      },
      [](Reference& r) {
        for (int p = 0; p < 2; ++p) {
          uint32_t sum = 0;
          for (int i = p * n; i < (p + 1) * n; ++i) {
            auto old = static_cast<uint32_t>(integer(r.in(0, i)));
            r.set(2, i, i % 3 ? static_cast<int32_t>(old * 2) : 0);
            if (i % 3 == 0) continue;
            sum += old;
            r.set(0, i, static_cast<int32_t>(old + static_cast<uint32_t>(integer(r.in(1, i)))));
          }
          r.set(3, p, static_cast<int32_t>(sum));
        }
      });
}

/// A scalar atomic happens once, whatever the number of threads, and all lanes see its result.
Kernel scalar_atomic_in_a_loop() {
  static constexpr int n = 48;
  return kernel(
      "scalar_atomic_happens_once_per_iteration", {1, 1, 1}, {formula<int>(1, [](int64_t) { return 100; }), output<int>(3 * n), number(3)},
      [](tl::Ptr<int> counter, tl::Ptr<int> y, tl::i32 rounds) {
        auto i = tl::arange(0, n);
        tl::range(0, rounds, 1, [&](auto k) {
          auto old = tl::atomic_add(counter, k + 5);
          tl::store(y + k * n + i, old + i);
        });
      },
      [](Reference& r) {
        int counter = 100;
        for (int k = 0; k < 3; counter += k + 5, ++k)
          for (int i = 0; i < n; ++i) r.set(1, k * n + i, counter + i);
        r.set(0, 0, counter);
      });
}

template <class T>
Kernel atomic_sum(std::string name) {
  static constexpr int n = 30;
  return kernel(
      "atomic_sum_of_" + name, {4, 1, 1}, {formula<T>(4 * n, [](int64_t i) { return i % 3; }), zeroed<T>(3)},
      [](tl::Ptr<T> x, tl::Ptr<T> sums) {
        auto i = tl::program_id(0) * n + tl::arange(0, n);
        auto v = tl::load(x + i);
        tl::atomic_add(sums, tl::sum(v, 0, {.dtype = dtype_of<T>}));
        tl::atomic_add(sums + i % 2 + 1, v, i % 5 == 0);
      },
      [](Reference& r) {
        Real sums[3] = {};
        for (int i = 0; i < 4 * n; ++i) {
          sums[0] += i % 3;
          if (i % 5 == 0) sums[i % 2 + 1] += i % 3;
        }
        for (int k = 0; k < 3; ++k) r.set(1, k, sums[k]);
      });
}

Kernel l1_norm() {
  static constexpr int n = 1000, block = 256;
  Kernel k = kernel(
      "l1_norm", {4, 1, 1}, {plain<float>(n), zeroed<float>(1), number<int64_t>(n)},
      [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n) {
        auto i = tl::program_id(0) * block + tl::arange(0, block);
        tl::atomic_add(out, tl::sum(tl::abs(tl::load(x + i, i < n, 0.0f)), 0));
      },
      [](Reference& r) {
        Real sum = 0;
        for (int i = 0; i < n; ++i) sum += std::abs(r.in(0, i));
        r.set(1, 0, sum);
      },
      1e-5);
  k.atomic_slack = 4 * 0x1p-23;  // four programs, four roundings
  return k;
}

Kernel atomic_then_load() {
  static constexpr int n = 64;
  return kernel(
      "atomics_then_load_of_other_lanes", {1, 1, 1}, {mixed<int>(n), output<int>(n)},
      [](tl::Ptr<int> x, tl::Ptr<int> y) {
        auto i = tl::arange(0, n);
        tl::atomic_add(x + (i ^ 5), i);
        tl::store(y + i, tl::load(x + i));
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i) {
          auto sum = static_cast<int32_t>(static_cast<uint32_t>(integer(r.in(0, i))) + static_cast<uint32_t>(i ^ 5));
          r.set(0, i, sum);
          r.set(1, i, sum);
        }
      });
}

}  // namespace

Kernels gather_kernels() {
  return {
      gather_permutation(64), gather_permutation(257), scatter_permutation(64), scatter_permutation(33), pointer_chase(), bitonic_sort(), embedding(),
      histogram(1), histogram(4), atomic_result_used(), scalar_atomic_in_a_loop(), atomic_then_load(), l1_norm(),
      atomic_sum<float>("f32"), atomic_sum<double>("f64"), atomic_sum<Half>("f16"), atomic_sum<BFloat16>("bf16"),
      atomic_sum<int>("i32"), atomic_sum<int64_t>("i64"), atomic_sum<uint32_t>("u32"), atomic_sum<int8_t>("i8"), atomic_sum<uint16_t>("u16"),
  };
}

}  // namespace strider::lowering
