// SPDX-License-Identifier: Apache-2.0
// Inclusive scans along either axis, of one tile or two, in and out of loops.
#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

std::string sized(std::string name, int64_t n) { return name + "_" + std::to_string(n); }

Kernel cumsum(int n) {
  return kernel(
      sized("cumsum", n), {2, 1, 1}, {mixed<int>(2 * n), output<int>(2 * n)},
      [n](tl::Ptr<int> x, tl::Ptr<int> y) {
        auto i = tl::program_id(0) * n + tl::arange(0, n);
        tl::store(y + i, tl::cumsum(tl::load(x + i)));
      },
      [n](Reference& r) {
        for (int64_t p = 0; p < 2; ++p) {
          uint32_t sum = 0;
          for (int64_t i = 0; i < n; ++i) {
            sum += static_cast<uint32_t>(static_cast<int32_t>(r.in(0, p * n + i)));
            r.set(1, p * n + i, static_cast<int32_t>(sum));
          }
        }
      });
}

Kernel float_cumsum(int n) {
  return kernel(
      sized("cumsum_of_f32", n), {1, 1, 1}, {plain<float>(n), output<float>(n)},
      [n](tl::Ptr<float> x, tl::Ptr<float> y) {
        auto i = tl::arange(0, n);
        tl::store(y + i, tl::cumsum(tl::load(x + i)));
      },
      [n](Reference& r) {
        Real sum = 0;
        for (int64_t i = 0; i < n; ++i) r.set(1, i, sum += r.in(0, i));
      },
      1e-3);
}

Kernel running_max(int rows, int columns, int axis) {
  return kernel(
      "running_max_of_" + std::to_string(rows) + "x" + std::to_string(columns) + "_axis_" + std::to_string(axis), {1, 1, 1},
      {mixed<int16_t>(rows * columns), output<int16_t>(rows * columns)},
      [rows, columns, axis](tl::Ptr<int16_t> x, tl::Ptr<int16_t> y) {
        auto i = tl::arange(0, rows)[{tl::colon, tl::newaxis}] * columns + tl::arange(0, columns)[{tl::newaxis, tl::colon}];
        auto larger = [](auto a, auto b) { return tl::maximum(a, b); };
        tl::store(y + i, tl::associative_scan(tl::load(x + i), axis, larger));
      },
      [rows, columns, axis](Reference& r) {
        int64_t step = axis == 0 ? columns : 1, length = axis == 0 ? rows : columns;
        for (int64_t k = 0; k < rows * columns; ++k) {
          int64_t at = axis == 0 ? k / columns : k % columns, first = k - at * step;
          Real best = r.in(0, first);
          for (int64_t i = 1; i <= at && i < length; ++i) best = std::max(best, r.in(0, first + i * step));
          r.set(1, k, best);
        }
      });
}

using Pair = std::tuple<tl::Tile, tl::Tile>;

/// x -> a x + b, composed: associative, not commutative.
std::array<tl::Tile, 2> compose_along(const tl::Tile& a, const tl::Tile& b, int axis) {
  return tl::associative_scan(std::array{a, b}, axis, [](auto a, auto b, auto c, auto d) { return std::tuple{a * c, b * c + d}; });
}

Kernel affine_scan(int rows, int columns, int axis) {
  return kernel(
      "affine_scan_of_" + std::to_string(rows) + "x" + std::to_string(columns) + "_axis_" + std::to_string(axis), {1, 1, 1},
      {mixed<uint32_t>(rows * columns), mixed<uint32_t>(rows * columns), output<uint32_t>(rows * columns), output<uint32_t>(rows * columns)},
      [rows, columns, axis](tl::Ptr<uint32_t> a, tl::Ptr<uint32_t> b, tl::Ptr<uint32_t> slopes, tl::Ptr<uint32_t> values) {
        auto i = tl::arange(0, rows)[{tl::colon, tl::newaxis}] * columns + tl::arange(0, columns)[{tl::newaxis, tl::colon}];
        auto [slope, value] = compose_along(tl::load(a + i), tl::load(b + i), axis);
        tl::store(slopes + i, slope);
        tl::store(values + i, value);
      },
      [rows, columns, axis](Reference& r) {
        int64_t step = axis == 0 ? columns : 1, length = axis == 0 ? rows : columns;
        for (int64_t line = 0; line < rows * columns / length; ++line) {
          uint32_t slope = 1, value = 0;
          for (int64_t i = 0; i < length; ++i) {
            int64_t k = (axis == 0 ? line : line * columns) + i * step;
            auto a = static_cast<uint32_t>(r.in(0, k)), b = static_cast<uint32_t>(r.in(1, k));
            slope *= a;
            value = value * a + b;
            r.set(2, k, slope);
            r.set(3, k, value);
          }
        }
      });
}

Kernel scan_middle_axis() {
  static constexpr int A = 3, M = 10, C = 4;
  return kernel(
      "cumsum_along_the_middle_of_3x10x4", {1, 1, 1}, {mixed<int64_t>(A * M * C), output<int64_t>(A * M * C)},
      [](tl::Ptr<int64_t> x, tl::Ptr<int64_t> y) {
        auto i = tl::reshape(tl::arange(0, A * M * C), {A, M, C});
        tl::store(y + i, tl::cumsum(tl::load(x + i), 1));
      },
      [](Reference& r) {
        for (int64_t a = 0; a < A; ++a)
          for (int64_t c = 0; c < C; ++c) {
            uint64_t sum = 0;
            for (int64_t m = 0; m < M; ++m) {
              int64_t k = (a * M + m) * C + c;
              sum += static_cast<uint64_t>(static_cast<int64_t>(r.in(0, k)));
              r.set(1, k, static_cast<int64_t>(sum));
            }
          }
      });
}

/// A running sum over blocks: the last element of each scan goes into the next iteration.
Kernel blocked_cumsum() {
  static constexpr int n = 200, block = 64;
  return kernel(
      "cumsum_block_by_block_in_a_loop", {1, 1, 1}, {mixed<int>(n), output<int>(n), number(n)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::i32 n) {
        auto i = tl::arange(0, block);
        tl::range(0, n, block, tl::zeros<int>({}), [&](auto k, auto carry) {
          auto mask = k + i < n;
          auto sums = tl::cumsum(tl::load(x + k + i, mask)) + carry;
          tl::store(y + k + i, sums, mask);
          return tl::sum(tl::where(i == block - 1, sums, 0));
        });
      },
      [](Reference& r) {
        uint32_t sum = 0;
        for (int64_t i = 0; i < n; ++i) {
          sum += static_cast<uint32_t>(static_cast<int32_t>(r.in(0, i)));
          r.set(1, i, static_cast<int32_t>(sum));
        }
      });
}

/// Odd elements to the back, even ones to the front, each in order: places computed by scans.
Kernel stream_compaction() {
  static constexpr int n = 100;
  return kernel(
      "compaction_by_a_scan_of_a_mask", {1, 1, 1}, {formula<int>(n, [](int64_t i) { return (i * 7) % 31; }), output<int>(n), output<int>(1)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> count) {
        auto i = tl::arange(0, n);
        auto v = tl::load(x + i);
        auto keep = v % 2 == 0;
        auto place = tl::cumsum(keep) - 1;
        tl::store(y + place, v, keep);
        auto kept = tl::sum(keep);
        tl::store(y + (kept + i - place - 1), v, ~keep);
        tl::store(count, kept);
      },
      [](Reference& r) {
        int64_t at = 0;
        for (int parity : {0, 1}) {
          for (int64_t i = 0; i < n; ++i)
            if (static_cast<int>(r.in(0, i)) % 2 == parity) r.set(1, at++, r.in(0, i));
          if (parity == 0) r.set(2, 0, at);
        }
      });
}

}  // namespace

Kernels scan_kernels() {
  return {
      cumsum(1), cumsum(3), cumsum(128), cumsum(257), cumsum(1000), float_cumsum(33), float_cumsum(512),
      running_max(16, 32, 0), running_max(16, 32, 1), running_max(5, 7, 0), running_max(5, 7, 1),
      affine_scan(8, 16, 0), affine_scan(8, 16, 1), affine_scan(9, 5, 0), affine_scan(3, 33, 1),
      scan_middle_axis(), blocked_cumsum(), stream_compaction(),
  };
}

}  // namespace strider::lowering
