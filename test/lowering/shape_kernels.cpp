// SPDX-License-Identifier: Apache-2.0
// Broadcasts, transposes and reshapes of loaded, computed and reduced values; tiles of rank 1 to 4.
#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

tl::Tile column(const tl::Tile& v) { return v[{tl::colon, tl::newaxis}]; }
tl::Tile row(const tl::Tile& v) { return v[{tl::newaxis, tl::colon}]; }

std::string sizes(int n, int m) { return std::to_string(n) + "x" + std::to_string(m); }

/// a + b.T, b loaded against its unit-stride axis.
Kernel add_transposed(int n, int m) {
  return kernel(
      "add_transposed_load_" + sizes(n, m), {2, 1, 1}, {mixed<float>(2 * n * m), mixed<float>(2 * n * m), output<float>(2 * n * m)},
      [n, m](tl::Ptr<float> a, tl::Ptr<float> b, tl::Ptr<float> c) {
        auto first = tl::program_id(0) * (n * m);
        auto i = tl::arange(0, n), j = tl::arange(0, m);
        auto straight = first + column(i) * m + row(j);
        tl::store(c + straight, tl::load(a + straight) + tl::load(b + first + column(i) + row(j) * n));
      },
      [n, m](Reference& r) {
        for (int p = 0; p < 2; ++p)
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < m; ++j) {
              int64_t first = p * n * m, at = first + i * m + j;
              r.set(2, at, static_cast<float>(r.in(0, at)) + static_cast<float>(r.in(1, first + i + j * n)));
            }
      });
}

Kernel transpose_computed(int n, int m) {
  return kernel(
      "transpose_of_a_computed_tile_" + sizes(n, m), {1, 1, 1}, {mixed<int>(n * m), output<int>(n * m)},
      [n, m](tl::Ptr<int> x, tl::Ptr<int> y) {
        auto i = tl::arange(0, n), j = tl::arange(0, m);
        auto v = tl::load(x + column(i) * m + row(j)) * 3 + row(j);
        tl::store(y + column(j) * n + row(i), tl::trans(v) - 1);
      },
      [n, m](Reference& r) {
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < m; ++j) {
            auto x = static_cast<uint32_t>(static_cast<int32_t>(r.in(0, i * m + j)));
            r.set(1, j * n + i, static_cast<int32_t>(x * 3 + static_cast<uint32_t>(j) - 1));
          }
      });
}

Kernel transpose_in_place(int n) {
  return kernel(
      "square_transposed_in_place_" + std::to_string(n), {1, 1, 1}, {mixed<float>(n * n)},
      [n](tl::Ptr<float> x) {
        auto i = tl::arange(0, n);
        auto at = column(i) * n + row(i);
        tl::store(x + at, tl::trans(tl::load(x + at)));
      },
      [n](Reference& r) {
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) r.set(0, i * n + j, r.in(0, j * n + i));
      });
}

Kernel symmetric() {
  static constexpr int n = 17;
  return kernel(
      "tile_plus_its_transpose", {1, 1, 1}, {mixed<int>(n * n), output<int>(n * n)},
      [](tl::Ptr<int> x, tl::Ptr<int> y) {
        auto i = tl::arange(0, n);
        auto at = column(i) * n + row(i);
        auto v = tl::load(x + at);
        tl::store(y + at, (v ^ tl::trans(v)) + (v & 1));
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) {
            auto a = static_cast<int32_t>(r.in(0, i * n + j)), b = static_cast<int32_t>(r.in(0, j * n + i));
            r.set(1, i * n + j, static_cast<int32_t>(static_cast<uint32_t>(a ^ b) + static_cast<uint32_t>(a & 1)));
          }
      });
}

Kernel permute_axes() {
  static constexpr int A = 3, M = 4, C = 5;
  return kernel(
      "axes_of_a_rank_3_tile_rotated", {1, 1, 1}, {mixed<double>(A * M * C), output<double>(A * M * C)},
      [](tl::Ptr<double> x, tl::Ptr<double> y) {
        auto v = -tl::load(x + tl::reshape(tl::arange(0, A * M * C), {A, M, C}));
        tl::store(y + tl::reshape(tl::arange(0, A * M * C), {C, A, M}), tl::trans(v, {2, 0, 1}));
      },
      [](Reference& r) {
        for (int a = 0; a < A; ++a)
          for (int m = 0; m < M; ++m)
            for (int c = 0; c < C; ++c) r.set(1, (c * A + a) * M + m, -r.in(0, (a * M + m) * C + c));
      });
}

Kernel reshape_computed() {
  return kernel(
      "reshape_of_a_computed_tile", {1, 1, 1}, {mixed<int>(24), output<int>(24), output<int>(24)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> z) {
        auto v = tl::load(x + tl::reshape(tl::arange(0, 24), {6, 4})) + column(tl::arange(0, 6)) * 100;
        auto w = tl::reshape(v, {3, 8}) ^ row(tl::arange(0, 8));
        tl::store(y + tl::reshape(tl::arange(0, 24), {3, 8}), w);
        tl::store(z + tl::arange(0, 24), tl::reshape(tl::trans(w), {24}));
      },
      [](Reference& r) {
        for (int k = 0; k < 24; ++k) {
          auto x = static_cast<uint32_t>(static_cast<int32_t>(r.in(0, k)));
          auto w = static_cast<int32_t>((x + static_cast<uint32_t>(k / 4 * 100)) ^ static_cast<uint32_t>(k % 8));
          r.set(1, k, w);
          r.set(2, k % 8 * 3 + k / 8, w);
        }
      });
}

Kernel outer_product(int n, int m) {
  return kernel(
      "outer_product_of_loaded_vectors_" + sizes(n, m), {1, 1, 1}, {plain<float>(n), plain<float>(m), output<float>(n * m)},
      [n, m](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> z) {
        auto i = tl::arange(0, n), j = tl::arange(0, m);
        tl::store(z + column(i) * m + row(j), column(tl::load(x + i)) * row(tl::load(y + j)));
      },
      [n, m](Reference& r) {
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < m; ++j) r.set(2, i * m + j, static_cast<float>(r.in(0, i)) * static_cast<float>(r.in(1, j)));
      });
}

/// Row maxima subtracted, then divided by column sums: reduced values broadcast along both axes.
Kernel broadcasts_of_reduced() {
  static constexpr int n = 12, m = 20;
  return kernel(
      "reduced_values_broadcast_along_both_axes", {1, 1, 1}, {plain<float>(n * m), output<float>(n * m)},
      [](tl::Ptr<float> x, tl::Ptr<float> y) {
        auto at = column(tl::arange(0, n)) * m + row(tl::arange(0, m));
        auto v = tl::load(x + at);
        auto centred = v - column(tl::max(v, 1));
        tl::store(y + at, centred / row(tl::sum(tl::abs(centred), 0) + 1.0f));
      },
      [](Reference& r) {
        Real v[n][m];
        for (int i = 0; i < n; ++i) {
          Real largest = r.in(0, i * m);
          for (int j = 1; j < m; ++j) largest = std::max(largest, r.in(0, i * m + j));
          for (int j = 0; j < m; ++j) v[i][j] = r.in(0, i * m + j) - largest;
        }
        for (int j = 0; j < m; ++j) {
          Real sum = 1;
          for (int i = 0; i < n; ++i) sum -= v[i][j];
          for (int i = 0; i < n; ++i) r.set(1, i * m + j, v[i][j] / sum);
        }
      },
      1e-5);
}

Kernel matrix_product() {
  static constexpr int n = 6, m = 9, l = 5;
  return kernel(
      "matrix_product_by_a_rank_3_tile", {1, 1, 1}, {formula<float>(n * m, [](int64_t i) { return i % 13 - 6; }),
                                                     formula<float>(m * l, [](int64_t i) { return i % 11 - 5; }), output<float>(n * l)},
      [](tl::Ptr<float> a, tl::Ptr<float> b, tl::Ptr<float> c) {
        auto i = tl::arange(0, n), k = tl::arange(0, m), j = tl::arange(0, l);
        auto left = tl::load(a + column(i) * m + row(k)), right = tl::load(b + column(k) * l + row(j));
        auto products = tl::expand_dims(left, 2) * tl::expand_dims(right, 0);
        tl::store(c + column(i) * l + row(j), tl::sum(products, 1));
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < l; ++j) {
            Real sum = 0;
            for (int k = 0; k < m; ++k) sum += r.in(0, i * m + k) * r.in(1, k * l + j);
            r.set(2, i * l + j, sum);
          }
      });
}

Kernel size_one() {
  return kernel(
      "tiles_of_one_element", {3, 1, 1}, {mixed<int>(3), mixed<int>(1), output<int>(3), output<int>(3)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> z, tl::Ptr<int> w) {
        auto i = tl::program_id(0) + tl::arange(0, 1);
        auto v = tl::load(x + i) ^ tl::load(y + tl::arange(0, 1));
        tl::store(z + i, v);
        tl::store(w + column(i), tl::trans(row(tl::cumsum(v))) - 1);
      },
      [](Reference& r) {
        for (int i = 0; i < 3; ++i) {
          auto v = static_cast<int32_t>(r.in(0, i)) ^ static_cast<int32_t>(r.in(1, 0));
          r.set(2, i, v);
          r.set(3, i, static_cast<int32_t>(static_cast<uint32_t>(v) - 1));
        }
      });
}

Kernel rank_four() {
  static constexpr int A = 2, M = 3, C = 4, D = 5, n = A * M * C * D;
  return kernel(
      "rank_4_tile_reduced_and_permuted", {1, 1, 1}, {formula<int>(n, [](int64_t i) { return i * 3 % 50; }), output<int>(M * A), output<int>(n)},
      [](tl::Ptr<int> x, tl::Ptr<int> sums, tl::Ptr<int> y) {
        auto v = tl::load(x + tl::reshape(tl::arange(0, n), {A, M, C, D}));
        auto turned = tl::trans(v, {1, 3, 0, 2});
        tl::store(y + tl::reshape(tl::arange(0, n), {M, D, A, C}), turned);
        tl::store(sums + tl::reshape(tl::arange(0, M * A), {M, A}), tl::sum(tl::sum(turned, 3), 1));
      },
      [](Reference& r) {
        Real sums[M][A] = {};
        for (int a = 0; a < A; ++a)
          for (int m = 0; m < M; ++m)
            for (int c = 0; c < C; ++c)
              for (int d = 0; d < D; ++d) {
                Real x = r.in(0, ((a * M + m) * C + c) * D + d);
                sums[m][a] += x;
                r.set(2, ((m * D + d) * A + a) * C + c, x);
              }
        for (int k = 0; k < M * A; ++k) r.set(1, k, sums[k / A][k % A]);
      });
}

/// Two tiles of other shapes that keep lanes in order: [n], [n, 1] and [1, n] are one index space.
Kernel unit_axes() {
  static constexpr int n = 50;
  return kernel(
      "unit_axes_in_every_place", {1, 1, 1}, {mixed<int>(n), output<int>(n), output<int>(n)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> z) {
        auto i = tl::arange(0, n);
        auto v = column(tl::load(x + i)) + 1;
        tl::store(y + row(i), tl::trans(v) ^ row(i));
        tl::store(z + tl::expand_dims(row(i), 1), tl::reshape(v, {1, 1, n}));
      },
      [](Reference& r) {
        for (int i = 0; i < n; ++i) {
          auto v = static_cast<int32_t>(static_cast<uint32_t>(static_cast<int32_t>(r.in(0, i))) + 1);
          r.set(1, i, v ^ i);
          r.set(2, i, v);
        }
      });
}

Kernel broadcast_scalar_load() {
  return kernel(
      "scalar_load_broadcast_over_a_tile", {2, 1, 1}, {plain<float>(2), plain<float>(2 * 65), output<float>(2 * 65)},
      [](tl::Ptr<float> s, tl::Ptr<float> x, tl::Ptr<float> y) {
        auto p = tl::program_id(0);
        auto i = p * 65 + tl::arange(0, 65);
        tl::store(y + i, tl::load(x + i) * tl::load(s + p));
      },
      [](Reference& r) {
        for (int i = 0; i < 130; ++i) r.set(2, i, static_cast<float>(r.in(1, i)) * static_cast<float>(r.in(0, i / 65)));
      });
}

}  // namespace

Kernels shape_kernels() {
  return {
      add_transposed(32, 32), add_transposed(17, 33), add_transposed(64, 8), transpose_computed(16, 16), transpose_computed(5, 12),
      transpose_in_place(16), transpose_in_place(9), symmetric(), permute_axes(), reshape_computed(), outer_product(16, 16), outer_product(3, 33),
      broadcasts_of_reduced(), matrix_product(), size_one(), rank_four(), unit_axes(), broadcast_scalar_load(),
  };
}

}  // namespace strider::lowering
