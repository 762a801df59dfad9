// SPDX-License-Identifier: Apache-2.0
// Masks: ragged ends, odd lanes, checkerboards, masks made of data, and what must not happen where they are false.
#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

/// Blocks over n elements of which the last is ragged.
Kernel ragged(int n, int block, int align) {
  return kernel(
      "ragged_end_" + std::to_string(n) + "_in_blocks_of_" + std::to_string(block) + (align < 16 ? "_misaligned" : ""),
      {(n + block - 1) / block, 1, 1}, {mixed<float>(n).aligned(align), mixed<float>(n).aligned(align), output<float>(n).aligned(align), number<int64_t>(n)},
      [block](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> z, tl::i64 n) {
        auto i = tl::program_id(0) * block + tl::arange(0, block);
        auto mask = i < n;
        tl::store(z + i, tl::load(x + i, mask) + tl::load(y + i, mask), mask);
      },
      [n](Reference& r) {
        for (int i = 0; i < n; ++i) r.set(2, i, static_cast<float>(r.in(0, i)) + static_cast<float>(r.in(1, i)));
      });
}

Kernel ragged_rows_and_columns() {
  static constexpr int n = 37, m = 50;
  return kernel(
      "ragged_rows_and_columns", {3, 2, 1}, {mixed<int>(n * m), output<int>(n * m), number(n), number(m)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::i32 n, tl::i32 m) {
        auto i = (tl::program_id(0) * 16 + tl::arange(0, 16))[{tl::colon, tl::newaxis}];
        auto j = (tl::program_id(1) * 32 + tl::arange(0, 32))[{tl::newaxis, tl::colon}];
        auto mask = (i < n) & (j < m);
        tl::store(y + i * m + j, ~tl::load(x + i * m + j, mask), mask);
      },
      [](Reference& r) {
        for (int i = 0; i < n * m; ++i) r.set(1, i, ~static_cast<int32_t>(r.in(0, i)));
      });
}

Kernel odd_lanes() {
  static constexpr int n = 100;
  return kernel(
      "odd_lanes_only", {1, 1, 1}, {mixed<float>(n), output<float>(n)},
      [](tl::Ptr<float> x, tl::Ptr<float> y) {
        auto i = tl::arange(0, n);
        auto odd = i % 2 == 1;
        tl::store(y + i, tl::load(x + i, odd, -1.0f), odd | (i == 50));
      },
      [](Reference& r) {
        for (int i = 1; i < n; i += 2) r.set(1, i, r.in(0, i));
        r.set(1, 50, -1);
      });
}

Kernel checkerboard() {
  static constexpr int n = 9, m = 21;
  return kernel(
      "checkerboard", {1, 1, 1}, {mixed<int8_t>(n * m), output<int8_t>(n * m)},
      [](tl::Ptr<int8_t> x, tl::Ptr<int8_t> y) {
        auto i = tl::arange(0, n)[{tl::colon, tl::newaxis}], j = tl::arange(0, m)[{tl::newaxis, tl::colon}];
        auto black = ((i ^ j) & 1) == 0;
        tl::store(y + i * m + j, tl::load(x + i * m + j, black, 7), ~(black & (i == j)));
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < m; ++j)
            if (i != j) r.set(1, i * m + j, (i ^ j) & 1 ? 7 : r.in(0, i * m + j));
      });
}

Kernel data_dependent() {
  static constexpr int n = 70;
  return kernel(
      "mask_made_of_data", {1, 1, 1}, {mixed<float>(n), formula<int>(n, [](int64_t i) { return i * i % 7; }), output<float>(n)},
      [](tl::Ptr<float> x, tl::Ptr<int> k, tl::Ptr<float> y) {
        auto i = tl::arange(0, n);
        auto key = tl::load(k + i);
        auto v = tl::load(x + i, key > 1, 0.25f);
        tl::store(y + i, v, key != 4);
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i)
          if (int key = i * i % 7; key != 4) r.set(2, i, key > 1 ? r.in(0, i) : 0.25L);
      });
}

/// Where the mask is false the address is wild: nothing may be touched there.
Kernel wild_addresses() {
  static constexpr int n = 40;
  return kernel(
      "wild_addresses_in_masked_off_lanes", {1, 1, 1}, {mixed<int>(n), output<int>(n)},
      [](tl::Ptr<int> x, tl::Ptr<int> y) {
        auto i = tl::arange(0, n);
        auto good = i % 3 != 1;
        auto at = tl::where(good, i, 1 << 30);
        auto v = tl::load(x + at, good);
        tl::store(y + at, v, good);
        tl::store(y + tl::where(good, -(1 << 29), i), v + 5, ~good);
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i) r.set(1, i, i % 3 != 1 ? r.in(0, i) : 5);
      });
}

/// The divisors of masked-off lanes are 0.
Kernel division_in_masked_off_lanes() {
  static constexpr int n = 100;
  return kernel(
      "division_by_zero_in_masked_off_lanes", {1, 1, 1}, {mixed<int>(n), formula<int>(n, [](int64_t i) { return i % 4 - 1; }), output<int>(n), output<int>(n), number(90)},
      [](tl::Ptr<int> x, tl::Ptr<int> d, tl::Ptr<int> q, tl::Ptr<int> rest, tl::i32 n) {
        auto i = tl::arange(0, 128);
        auto mask = i < n;
        auto a = tl::load(x + i, mask), b = tl::load(d + i, mask);
        tl::store(q + i, tl::div(a, b), mask & (b != 0));
        tl::store(rest + i, tl::rem(a, b), mask);
      },
      [](Reference& r) {
        for (int i = 0; i < 90; ++i) {
          auto a = static_cast<int64_t>(r.in(0, i)), b = static_cast<int64_t>(r.in(1, i));
          if (b != 0) r.set(2, i, static_cast<int32_t>(a / b));
          r.set(3, i, b == 0 ? 0 : a % b);
        }
      });
}

Kernel nothing_selected() {
  static constexpr int n = 64;
  return kernel(
      "masks_that_select_nothing", {2, 1, 1}, {mixed<float>(n), output<float>(n), output<float>(2), number(-5)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> sums, tl::i32 n) {
        auto i = tl::arange(0, 64);
        auto v = tl::load(x + i, i < n, 0.5f);
        tl::store(y + i, v, i < n);
        tl::store(sums + tl::program_id(0), tl::sum(v, 0));
      },
      [](Reference& r) { r.set(2, 0, 32), r.set(2, 1, 32); });
}

/// Bounds on both sides, as a convolution's edge has.
Kernel window() {
  static constexpr int n = 150;
  return kernel(
      "mask_bounded_on_both_sides", {2, 1, 1}, {mixed<int>(n), output<int>(n), number(n)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::i32 n) {
        auto i = tl::program_id(0) * 100 + tl::arange(0, 100);
        auto before = tl::load(x + (i - 1), (i > 0) & (i - 1 < n), -1);
        auto after = tl::load(x + (i + 1), i + 1 < n, -2);
        tl::store(y + i, before ^ after, i < n);
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i) {
          auto before = i > 0 ? static_cast<int32_t>(r.in(0, i - 1)) : -1;
          auto after = i + 1 < n ? static_cast<int32_t>(r.in(0, i + 1)) : -2;
          r.set(1, i, before ^ after);
        }
      });
}

Kernel scalar_mask() {
  return kernel(
      "masked_scalar_accesses", {4, 1, 1}, {mixed<int>(4), output<int>(4), output<int>(4)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> z) {
        auto p = tl::program_id(0);
        tl::store(y + p, tl::load(x + p, p % 2 == 0, -9));
        tl::store(z + p, p, p > 1);
      },
      [](Reference& r) {
        for (int p = 0; p < 4; ++p) {
          r.set(1, p, p % 2 == 0 ? r.in(0, p) : -9);
          if (p > 1) r.set(2, p, p);
        }
      });
}

/// `i < n` with n near the top of its dtype: i + 1 must not be folded into the bound.
Kernel wrapping_bounds() {
  return kernel(
      "bounds_near_the_top_of_i32", {1, 1, 1}, {output<int>(32), number<int>(INT32_MAX - 10)},
      [](tl::Ptr<int> y, tl::i32 base) {
        auto i = tl::arange(0, 32);
        tl::store(y + i, i, base + i > base - 1);
      },
      [](Reference& r) {
        for (int i = 0; i <= 10; ++i) r.set(0, i, i);
      });
}

}  // namespace

Kernels mask_kernels() {
  return {
      ragged(1000, 256, 64), ragged(1000, 256, 4), ragged(1024, 128, 64), ragged(5, 64, 64), ragged(129, 128, 64), ragged(77, 33, 64),
      ragged_rows_and_columns(), odd_lanes(), checkerboard(), data_dependent(), wild_addresses(), division_in_masked_off_lanes(),
      nothing_selected(), window(), scalar_mask(), wrapping_bounds(),
  };
}

}  // namespace strider::lowering
