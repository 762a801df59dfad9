// SPDX-License-Identifier: Apache-2.0
// Order of loads and stores: in place, overlapping, through two pointers, scalar and tile.
#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

constexpr int B = 128;

Kernel reversal_in_place(int n, bool several_programs) {
  std::string name = "reversal_in_place_" + std::to_string(n) + (several_programs ? "_per_program" : "");
  Grid grid{several_programs ? 3 : 1, 1, 1};
  return kernel(
      name, grid, {mixed<float>(grid[0] * n)},
      [n](tl::Ptr<float> x) {
        auto p = x + tl::program_id(0) * n;
        auto i = tl::arange(0, n);
        tl::store(p + i, tl::load(p + (n - 1 - i)));
      },
      [n, grid](Reference& r) {
        for (int64_t i = 0; i < grid[0] * n; ++i) r.set(0, i, r.in(0, i / n * n + n - 1 - i % n));
      });
}

Kernel shift_in_place(int by) {
  int first = std::max(by, 0);
  return kernel(
      by > 0 ? "shift_right_in_place" : "shift_left_in_place", {1, 1, 1}, {mixed<float>(B + 8)},
      [by, first](tl::Ptr<float> x) {
        auto i = tl::arange(0, B) + (first - by);
        tl::store(x + (i + by), tl::load(x + i));
      },
      [by, first](Reference& r) {
        for (int64_t i = 0; i < B; ++i) r.set(0, i + first, r.in(0, i + first - by));
      });
}

Kernel output_over_input() {
  return kernel(
      "two_outputs_one_over_an_input", {2, 1, 1}, {plain<float>(2 * B), mixed<float>(2 * B), output<float>(2 * B)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> z) {
        auto i = tl::program_id(0) * B + tl::arange(0, B);
        auto a = tl::load(x + i), b = tl::load(y + i);
        tl::store(x + i, a + 1);
        tl::store(z + i, tl::maximum(a, b));
      },
      [](Reference& r) {
        for (int64_t i = 0; i < 2 * B; ++i) {
          r.set(0, i, static_cast<float>(r.in(0, i)) + 1.0f);
          Real a = r.in(0, i), b = r.in(1, i);
          r.set(2, i, b != b ? b : std::max(a, b));
        }
      });
}

/// The second output reads the input in another order than the first one overwrites it.
Kernel output_over_input_reversed() {
  return kernel(
      "output_over_an_input_read_in_reverse", {1, 1, 1}, {mixed<int>(B), output<int>(B)},
      [](tl::Ptr<int> x, tl::Ptr<int> z) {
        auto i = tl::arange(0, B);
        auto reversed = tl::load(x + (B - 1 - i));
        tl::store(x + i, i);
        tl::store(z + i, reversed);
      },
      [](Reference& r) {
        for (int64_t i = 0; i < B; ++i) r.set(0, i, i), r.set(1, i, r.in(0, B - 1 - i));
      });
}

enum class Order { StoreFirst, LoadFirst };

/// One store and one load through the same pointer, `shift` elements apart.
Kernel store_and_load(Order order, int shift) {
  std::string name = order == Order::StoreFirst ? "store_then_load" : "load_then_store";
  name += shift ? "_shifted" : "_same_addresses";
  return kernel(
      name, {1, 1, 1}, {mixed<int>(B + 1), mixed<int>(B), output<int>(B)},
      [order, shift](tl::Ptr<int> p, tl::Ptr<int> v, tl::Ptr<int> q) {
        auto i = tl::arange(0, B);
        auto value = tl::load(v + i);
        tl::Tile loaded;
        if (order == Order::LoadFirst) loaded = tl::load(p + (i + shift));
        tl::store(p + i, value);
        if (order == Order::StoreFirst) loaded = tl::load(p + (i + shift));
        tl::store(q + i, loaded);
      },
      [order, shift](Reference& r) {
        for (int64_t i = 0; i < B; ++i) r.set(0, i, r.in(1, i));
        for (int64_t i = 0; i < B; ++i) {
          bool stored = order == Order::StoreFirst && i + shift < B;
          r.set(2, i, stored ? r.in(1, i + shift) : r.in(0, i + shift));
        }
      });
}

/// The same through two arguments of one buffer, three elements apart.
Kernel store_and_load_through_aliases(Order order, int n) {
  std::string name = order == Order::StoreFirst ? "store_then_load_through_an_alias_" : "load_then_store_through_an_alias_";
  static constexpr int kApart = 3;
  return kernel(
      name + std::to_string(n), {1, 1, 1},
      {mixed<float>(n + kApart).may_alias(), alias<float>(0, kApart), mixed<float>(n), output<float>(n)},
      [order, n](tl::Ptr<float> p, tl::Ptr<float> p3, tl::Ptr<float> v, tl::Ptr<float> q) {
        auto i = tl::arange(0, n);
        auto value = tl::load(v + i);
        tl::Tile loaded;
        if (order == Order::LoadFirst) loaded = tl::load(p3 + i);
        tl::store(p + i, value);
        if (order == Order::StoreFirst) loaded = tl::load(p3 + i);
        tl::store(q + i, loaded);
      },
      [order, n](Reference& r) {
        for (int64_t i = 0; i < n; ++i) r.set(0, i, r.in(2, i));
        for (int64_t i = 0; i < n; ++i) {
          bool stored = order == Order::StoreFirst && i + kApart < n;
          r.set(3, i, stored ? r.in(2, i + kApart) : r.in(0, i + kApart));
        }
      });
}

Kernel overlapping_stores() {
  return kernel(
      "overlapping_stores_in_order", {1, 1, 1}, {output<int>(B + 1)},
      [](tl::Ptr<int> p) {
        auto i = tl::arange(0, B);
        tl::store(p + i, i);
        tl::store(p + (i + 1), i * 10);
        tl::store(p + i, i * 100, i % 3 == 0);
      },
      [](Reference& r) {
        r.set(0, B, (B - 1) * 10);
        for (int64_t i = 0; i < B; ++i) r.set(0, i, i % 3 == 0 ? i * 100 : (i - 1) * 10);
      });
}

Kernel scalar_accesses() {
  return kernel(
      "scalar_loads_and_stores", {4, 1, 1}, {mixed<int>(4 * 3)},
      [](tl::Ptr<int> x) {
        auto p = x + tl::program_id(0) * 3;
        auto a = tl::load(p);
        tl::store(p + 1, a + 1);
        auto b = tl::load(p + 1);
        tl::store(p + 2, b * 2);
        tl::store(p, tl::load(p + 2) - a);
      },
      [](Reference& r) {
        for (int64_t k = 0; k < 12; k += 3) {
          auto a = static_cast<uint32_t>(static_cast<int32_t>(r.in(0, k)));
          r.set(0, k + 1, static_cast<int32_t>(a + 1));
          r.set(0, k + 2, static_cast<int32_t>((a + 1) * 2));
          r.set(0, k, static_cast<int32_t>((a + 1) * 2 - a));
        }
      });
}

Kernel tile_store_then_scalar_load() {
  return kernel(
      "tile_store_then_scalar_load", {1, 1, 1}, {output<int>(B), output<int>(B)},
      [](tl::Ptr<int> p, tl::Ptr<int> q) {
        auto i = tl::arange(0, B);
        tl::store(p + i, i * i);
        auto s = tl::load(p + 77);
        tl::store(q + i, i + s);
      },
      [](Reference& r) {
        for (int64_t i = 0; i < B; ++i) r.set(0, i, i * i), r.set(1, i, i + 77 * 77);
      });
}

Kernel scalar_store_then_tile_load() {
  return kernel(
      "scalar_store_then_tile_load", {1, 1, 1}, {mixed<int>(B), output<int>(B)},
      [](tl::Ptr<int> p, tl::Ptr<int> q) {
        auto i = tl::arange(0, B);
        tl::store(p + 100, -5);
        tl::store(q + i, tl::load(p + i));
        tl::store(p + 3, -6);
      },
      [](Reference& r) {
        for (int64_t i = 0; i < B; ++i) r.set(1, i, i == 100 ? -5 : r.in(0, i));
        r.set(0, 100, -5);
        r.set(0, 3, -6);
      });
}

Kernel swap_buffers(bool told) {
  Argument x = mixed<float>(B), y = mixed<float>(B);
  return kernel(
      told ? "swap_two_buffers" : "swap_two_buffers_that_may_alias", {1, 1, 1}, {told ? x : x.may_alias(), told ? y : y.may_alias()},
      [](tl::Ptr<float> x, tl::Ptr<float> y) {
        auto i = tl::arange(0, B);
        auto a = tl::load(x + i), b = tl::load(y + i);
        tl::store(x + i, b);
        tl::store(y + i, a);
      },
      [](Reference& r) {
        for (int64_t i = 0; i < B; ++i) r.set(0, i, r.in(1, i)), r.set(1, i, r.in(0, i));
      });
}

/// Every iteration reads what other lanes wrote in the one before.
Kernel rotate_in_a_loop() {
  return kernel(
      "memory_rotated_in_a_loop", {1, 1, 1}, {mixed<int>(B)},
      [](tl::Ptr<int> p) {
        auto i = tl::arange(0, B);
        tl::range(0, 5, 1, [&](auto) { tl::store(p + i, tl::load(p + (i + 1) % B)); });
      },
      [](Reference& r) {
        for (int64_t i = 0; i < B; ++i) r.set(0, i, r.in(0, (i + 5) % B));
      });
}

Kernel masked_store_then_load() {
  return kernel(
      "masked_store_then_load", {1, 1, 1}, {mixed<int>(B), output<int>(B)},
      [](tl::Ptr<int> p, tl::Ptr<int> q) {
        auto i = tl::arange(0, B);
        tl::store(p + i, i, i % 2 == 1);
        tl::store(q + i, tl::load(p + (i ^ 1)));
      },
      [](Reference& r) {
        for (int64_t i = 0; i < B; ++i) {
          if (i % 2) r.set(0, i, i);
          r.set(1, i, i % 2 ? r.in(0, i ^ 1) : i ^ 1);
        }
      });
}

Kernel strided_accesses() {
  static constexpr int n = 100;
  return kernel(
      "loads_of_stride_2_3_0_and_minus_1", {1, 1, 1}, {mixed<float>(2 * n - 1), mixed<float>(3 * n - 2), output<float>(4 * n - 3)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> z) {
        auto i = tl::arange(0, n);
        auto same = tl::load(x + i * 0);
        auto backwards = tl::load(y + (n - i));
        tl::store(z + i * 4, tl::maximum(tl::minimum(tl::load(x + i * 2), tl::load(y + i * 3)), tl::minimum(same, backwards)));
      });
}

Kernel misaligned() {
  static constexpr int n = 1000;
  return kernel(
      "buffers_aligned_to_one_element", {4, 1, 1},
      {mixed<float>(n).aligned(4), mixed<int8_t>(n).aligned(1), output<double>(n).aligned(8), number<int64_t>(n)},
      [](tl::Ptr<float> x, tl::Ptr<int8_t> y, tl::Ptr<double> z, tl::i64 n) {
        auto i = tl::program_id(0) * 256 + tl::arange(0, 256);
        auto mask = i < n;
        tl::store(z + i, tl::load(x + i, mask).to<double>() * tl::load(y + i, mask).to<double>(), mask);
      },
      [](Reference& r) {
        for (int64_t i = 0; i < n; ++i) r.set(2, i, static_cast<double>(r.in(0, i)) * static_cast<double>(r.in(1, i)));
      });
}

}  // namespace

Kernels memory_kernels() {
  return {
      reversal_in_place(128, false), reversal_in_place(257, false), reversal_in_place(3, true), reversal_in_place(1, false),
      shift_in_place(1), shift_in_place(-1),
      output_over_input(), output_over_input_reversed(),
      store_and_load(Order::StoreFirst, 0), store_and_load(Order::LoadFirst, 0),
      store_and_load(Order::StoreFirst, 1), store_and_load(Order::LoadFirst, 1),
      store_and_load_through_aliases(Order::StoreFirst, 128), store_and_load_through_aliases(Order::LoadFirst, 128),
      store_and_load_through_aliases(Order::StoreFirst, 33), store_and_load_through_aliases(Order::LoadFirst, 1000),
      overlapping_stores(), scalar_accesses(), tile_store_then_scalar_load(), scalar_store_then_tile_load(),
      swap_buffers(true), swap_buffers(false), rotate_in_a_loop(), masked_store_then_load(), strided_accesses(), misaligned(),
  };
}

}  // namespace strider::lowering
