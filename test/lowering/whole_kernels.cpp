// SPDX-License-Identifier: Apache-2.0
// Constructs that move or combine the elements of whole tiles: flip, join, split, cat, gather, sort, histogram, dot.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/semantics.h"
#include "lowering/kernels.h"
#include "lowering/shapes.h"

namespace strider::lowering {

namespace {

std::string at_axis(const Sizes& shape, int axis) { return text_of(shape) + "_axis_" + std::to_string(axis); }

// --- shapes

Kernel flips(const Sizes& shape, int axis) {
  int64_t count = count_of(shape);
  return kernel(
      "flip_" + at_axis(shape, axis), {1, 1, 1}, {mixed<float>(count), output<float>(count), output<float>(count)},
      [shape, axis](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> z) {
        auto i = row_major(shape);
        auto v = tl::load(x + i);
        tl::store(y + i, tl::flip(v, axis));
        tl::store(z + tl::flip(i, axis), v * 0.5f + tl::flip(v * 2.0f, axis));  // a tile and its mirror image
      },
      [shape, axis](Reference& r) {
        LinesAlong along(shape, axis);
        for (int64_t line = 0; line < along.count; ++line)
          for (int64_t i = 0; i < along.length; ++i) {
            int64_t here = along.at(line, i), there = along.at(line, along.length - 1 - i);
            r.set(1, here, r.in(0, there));
            auto sum = static_cast<float>(r.in(0, here)) * 0.5f + static_cast<float>(r.in(0, there)) * 2.0f;
            r.set(2, there, sum);
          }
      },
      1e-5);
}

template <class T>
Kernel joins(const Sizes& shape) {
  int64_t count = count_of(shape);
  return kernel(
      "join_and_split_of_" + word_of<T>() + "_" + text_of(shape), {1, 1, 1},
      {mixed<T>(count), mixed<T>(count), output<T>(2 * count), output<T>(count), output<T>(2 * count)},
      [shape](tl::Ptr<T> x, tl::Ptr<T> y, tl::Ptr<T> joined, tl::Ptr<T> halves, tl::Ptr<T> mixed) {
        auto i = row_major(shape);
        auto a = tl::load(x + i), b = tl::load(y + i);
        Sizes twice = shape;
        twice.push_back(2);
        auto j = tl::join(a, b);
        tl::store(joined + row_major(twice), j);
        auto [first, second] = tl::split(j);
        tl::store(halves + i, tl::where(first == a, second, a));
        twice.pop_back();
        if (twice.empty()) twice.push_back(1);
        twice.back() *= 2;
        tl::store(mixed + row_major(twice), tl::interleave(b, a));
      },
      [count](Reference& r) {
        for (int64_t i = 0; i < count; ++i) {
          for (int k = 0; k < 2; ++k) r.set(2, 2 * i + k, r.in(k, i)), r.set(4, 2 * i + k, r.in(1 - k, i));
          r.set(3, i, std::isnan(r.in(0, i)) ? r.in(0, i) : r.in(1, i));
        }
      });
}

/// Of tiles of two dtypes.
Kernel cats(const Sizes& shape, int axis) {
  int64_t count = count_of(shape);
  return kernel(
      "cat_" + at_axis(shape, axis), {1, 1, 1},
      {mixed<int8_t>(count), mixed<int>(count), output<int>(2 * count)},
      [shape, axis](tl::Ptr<int8_t> x, tl::Ptr<int> y, tl::Ptr<int> z) {
        Sizes twice = shape;
        twice[static_cast<size_t>(axis)] *= 2;
        auto i = row_major(shape);
        tl::store(z + row_major(twice), tl::cat(tl::load(x + i), tl::load(y + i), axis));
      },
      [shape, axis](Reference& r) {
        LinesAlong along(shape, axis);
        for (int64_t line = 0; line < along.count; ++line)
          for (int64_t i = 0; i < 2 * along.length; ++i) {
            int64_t first = line / along.step * along.step * along.length * 2 + line % along.step;
            r.set(2, first + i * along.step, r.in(i < along.length ? 0 : 1, along.at(line, i % along.length)));
          }
      });
}

/// Indices of every kind of integer, some of them out of range.
template <class I>
Kernel gathers(const Sizes& shape, int axis, int64_t picks) {
  int64_t count = count_of(shape), lines = LinesAlong(shape, axis).count, length = shape[static_cast<size_t>(axis)];
  Sizes result = shape;
  result[static_cast<size_t>(axis)] = picks;
  return kernel(
      "gather_by_" + word_of<I>() + "_" + std::to_string(picks) + "_of_" + at_axis(shape, axis), {1, 1, 1},
      {mixed<float>(count), formula<I>(lines * picks, [length](int64_t i) -> Real {
         Real at = i * 29 % (length + 3);
         return is_signed_int(dtype_of<I>) ? at - 1 : at;
       }),
       output<float>(lines * picks)},
      [shape, axis, result](tl::Ptr<float> x, tl::Ptr<I> index, tl::Ptr<float> y) {
        auto i = row_major(result);
        tl::store(y + i, tl::gather(tl::load(x + row_major(shape)), tl::load(index + i), axis));
      },
      [shape, axis, result](Reference& r) {
        LinesAlong from(shape, axis), to(result, axis);
        for (int64_t line = 0; line < to.count; ++line)
          for (int64_t k = 0; k < to.length; ++k) {
            auto at = static_cast<int64_t>(r.in(1, to.at(line, k)));
            r.set(2, to.at(line, k), at < 0 || at >= from.length ? 0 : r.in(0, from.at(line, at)));
          }
      });
}

Kernel small_shapes() {
  return kernel(
      "ravel_permute_broadcast_and_likes", {1, 1, 1}, {mixed<int>(24), output<int>(24), output<int>(24), output<int>(12), output<int>(12)},
      [](tl::Ptr<int> x, tl::Ptr<int> flat, tl::Ptr<int> turned, tl::Ptr<int> both, tl::Ptr<int> filled) {
        auto v = tl::load(x + row_major({2, 3, 4}));
        tl::store(flat + tl::arange(0, 24), tl::ravel(v));
        tl::store(turned + row_major({4, 2, 3}), tl::permute(v, {2, 0, 1}));
        auto [a, b] = tl::broadcast(tl::arange(0, 3)[{tl::colon, tl::newaxis}], tl::arange(0, 4) * 10);
        tl::store(both + row_major({3, 4}), a + b);
        tl::store(filled + row_major({3, 4}), tl::full_like(a, 7) + tl::zeros_like(b));
      },
      [](Reference& r) {
        for (int i = 0; i < 24; ++i) r.set(1, i, r.in(0, i)), r.set(2, i, r.in(0, i / 3 % 2 * 12 + i % 3 * 4 + i / 6));
        for (int i = 0; i < 12; ++i) r.set(3, i, i / 4 + i % 4 * 10), r.set(4, i, 7);
      });
}

/// The only store of a nest under a mask whose index is no plain sum of lane numbers.
template <class F>
Kernel masked_by(std::string name, F index, std::function<int(int)> at) {
  static constexpr int n = 4096;
  return kernel(
      "mask_of_" + name, {1, 1, 1}, {mixed<float>(n), zeroed<float>(n), formula<int>(8, [](int64_t i) { return i * 100; }), number(1000)},
      [index](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<int> starts, tl::i32 bound) {
        auto i = tl::arange(0, n);
        tl::store(y + i, tl::load(x + i), index(i, starts) < bound);
      },
      [at](Reference& r) {
        for (int i = 0; i < n; ++i)
          if (at(i) < 1000) r.set(1, i, r.in(0, i));
      });
}

/// The loop's number is a size and a literal.
Kernel unrolled() {
  return kernel(
      "static_range_of_constants", {1, 1, 1}, {output<int>(4 + 3 + 2)},
      [](tl::Ptr<int> x) {
        Value first = 0;
        for (tl::Constexpr n : tl::static_range(4, 1, -1)) {
          tl::store(x + first + tl::arange(0, n), tl::arange(0, n) * n);
          first += n;
        }
      },
      [](Reference& r) {
        for (int n = 4, at = 0; n > 1; at += n--)
          for (int i = 0; i < n; ++i) r.set(0, at + i, i * n);
      });
}

// --- sort and histogram

template <class T>
Kernel sorts(const Sizes& shape, int axis, bool descending) {
  int64_t count = count_of(shape);
  return kernel(
      std::string("sort_") + (descending ? "descending_" : "") + word_of<T>() + "_" + at_axis(shape, axis), {1, 1, 1},
      {mixed<T>(count), output<T>(count)},
      [shape, axis, descending](tl::Ptr<T> x, tl::Ptr<T> y) {
        auto i = row_major(shape);
        tl::store(y + i, tl::sort(tl::load(x + i), axis, descending));
      },
      [shape, axis, descending](Reference& r) {
        LinesAlong along(shape, axis);
        for (int64_t line = 0; line < along.count; ++line) {
          std::vector<Real> elements;
          for (int64_t i = 0; i < along.length; ++i) elements.push_back(r.in(0, along.at(line, i)));
          std::stable_sort(elements.begin(), elements.end(), [](Real a, Real b) { return !std::isnan(a) && (std::isnan(b) || a < b); });
          if (descending) std::reverse(elements.begin(), elements.end());
          for (int64_t i = 0; i < along.length; ++i) r.set(1, along.at(line, i), elements[static_cast<size_t>(i)]);
        }
      });
}

Kernel largest_of(int n, int k) {
  return kernel(
      "topk_" + std::to_string(k) + "_of_" + std::to_string(n), {2, 1, 1}, {mixed<float>(2 * n), output<float>(2 * k)},
      [n, k](tl::Ptr<float> x, tl::Ptr<float> y) {
        auto p = tl::program_id(0);
        tl::store(y + p * k + tl::arange(0, k), tl::topk(tl::load(x + p * n + tl::arange(0, n)), k));
      },
      [n, k](Reference& r) {
        for (int p = 0; p < 2; ++p) {
          std::vector<Real> v;
          for (int i = 0; i < n; ++i) v.push_back(r.in(0, p * n + i));
          std::sort(v.begin(), v.end(), [](Real a, Real b) { return !std::isnan(b) && (std::isnan(a) || a > b); });
          for (int i = 0; i < k; ++i) r.set(1, p * k + i, v[static_cast<size_t>(i)]);
        }
      });
}

/// The k largest and the k smallest of rows with equal elements and NaN, and their places.
Kernel extremes_and_places(int rows, int n, int k) {
  auto element = [](int64_t i) -> Real { return i % 11 == 7 ? NAN : static_cast<Real>(i * 5 % 7 - 3); };
  return kernel(
      fmt::format("topk_with_indices_{}_of_{}", k, n), {1, 1, 1},
      {formula<float>(rows * n, element), output<float>(2 * rows * k), output<int>(2 * rows * k)},
      [rows, n, k](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<int> at) {
        auto v = tl::load(x + row_major({rows, n}));
        auto i = row_major({rows, k});
        auto [large, where_large] = tl::topk_with_indices(v, k, 1);
        auto where_small = tl::topk_with_indices(v, k, 1, tl::smallest)[1];
        tl::store(y + i, large);
        tl::store(at + i, where_large);
        tl::store(y + rows * k + i, tl::topk(v, k, 1, tl::smallest));
        tl::store(at + rows * k + i, where_small);
      },
      [rows, n, k](Reference& r) {
        for (int row = 0; row < rows; ++row)
          for (bool largest : {true, false}) {
            std::vector<int> order(static_cast<size_t>(n));
            std::iota(order.begin(), order.end(), 0);
            auto rank = [&](int i) {  // NaN counts as the largest
              Real v = r.in(0, row * n + i);
              return std::isnan(v) ? Real(INFINITY) : v;
            };
            std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return largest ? rank(a) > rank(b) : rank(a) < rank(b); });
            for (int i = 0; i < k; ++i) {
              int out = (largest ? 0 : rows * k) + row * k + i;
              r.set(1, out, r.in(0, row * n + order[static_cast<size_t>(i)]));
              r.set(2, out, order[static_cast<size_t>(i)]);
            }
          }
      });
}

/// Tiles of pointers with new axes, repeated, reordered and under another shape.
Kernel pointer_tiles() {
  return kernel(
      "pointer_tiles", {1, 1, 1}, {mixed<float>(24), output<float>(24), output<float>(24)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> z) {
        auto rows = (x + tl::arange(0, 4) * 6)[{tl::colon, tl::newaxis}] + tl::arange(0, 6);  // [4, 6]
        tl::store(tl::trans(y + row_major({6, 4})), tl::load(rows));
        auto flat = tl::ravel(tl::permute(tl::reshape(rows, {4, 2, 3}), {1, 0, 2}));
        auto repeated = tl::broadcast_to(tl::expand_dims(flat, 0), {1, 24});
        tl::store(tl::expand_dims(z + tl::arange(0, 24), 0), tl::load(repeated));
      },
      [](Reference& r) {
        for (int k = 0; k < 24; ++k) {
          r.set(1, k % 6 * 4 + k / 6, r.in(0, k));
          r.set(2, k, r.in(0, k / 3 % 4 * 6 + k / 12 * 3 + k % 3));
        }
      });
}

/// 16-bit numbers of the launch; `/` and `%` of 16-bit floats are f32.
template <class T>
Kernel half_numbers() {
  return kernel(
      "half_numbers_" + word_of<T>(), {1, 1, 1},
      {formula<T>(16, [](int64_t i) -> Real { return static_cast<Real>(i) - 7; }), output<float>(16), output<float>(16), number(T::from(3))},
      [](tl::Ptr<T> x, tl::Ptr<float> y, tl::Ptr<float> z, tl::Scalar<dtype_of<T>> divisor) {
        auto i = tl::arange(0, 16);
        auto v = tl::load(x + i);
        tl::store(y + i, v / divisor);
        tl::store(z + i, v % divisor);
      },
      [](Reference& r) {
        for (int i = 0; i < 16; ++i) {
          auto v = static_cast<float>(r.in(0, i));
          r.set(1, i, v / 3.0f);
          r.set(2, i, std::fmod(v, 3.0f));
        }
      });
}

/// Signed elements shifted by unsigned amounts: the sign is shifted in whatever the common dtype is.
template <class T, class U>
Kernel signed_by_unsigned() {
  return kernel(
      "shift_of_" + word_of<T>() + "_by_" + word_of<U>(), {1, 1, 1},
      {formula<T>(64, [](int64_t i) -> Real { return static_cast<Real>(i * 3 - 90); }), formula<U>(64, [](int64_t i) -> Real { return static_cast<Real>(i % 13); }),
       output<int64_t>(64)},
      [](tl::Ptr<T> x, tl::Ptr<U> amount, tl::Ptr<int64_t> y) {
        auto i = tl::arange(0, 64);
        auto shifted = tl::load(x + i) >> tl::load(amount + i);
        DType with_sign = sizeof(T) > sizeof(U) ? dtype_of<T> : dtype_of<std::make_signed_t<U>>;
        tl::store(y + i, tl::bitcast(shifted, with_sign).to(DType::I64));
      },
      [](Reference& r) {
        for (int i = 0; i < 64; ++i) r.set(2, i, static_cast<Real>(static_cast<int64_t>(r.in(0, i)) >> static_cast<int>(r.in(1, i))));
      });
}

/// Of each program's tile, with and without a mask; the counts are read again in the order of bins and in another one.
template <class T>
Kernel counts(const Sizes& shape, int bins) {
  int64_t count = count_of(shape);
  return kernel(
      "histogram_of_" + word_of<T>() + "_" + text_of(shape) + "_in_" + std::to_string(bins), {2, 1, 1},
      {formula<T>(2 * count, [bins](int64_t i) -> Real { return i * i % (bins + bins / 4 + 2) - (is_signed_int(dtype_of<T>) ? 1 : 0); }),
       output<int>(2 * bins), output<int>(2 * bins)},
      [shape, bins, count](tl::Ptr<T> x, tl::Ptr<int> all, tl::Ptr<int> some) {
        auto p = tl::program_id(0);
        auto v = tl::load(x + p * count + row_major(shape));
        auto b = p * bins + tl::arange(0, bins);
        tl::store(all + b, tl::histogram(v, bins));
        tl::store(some + b, tl::flip(tl::histogram(v, bins, row_major(shape) % 3 != 0), 0));
      },
      [bins, count](Reference& r) {
        for (int64_t p = 0; p < 2; ++p) {
          std::vector<int> all(static_cast<size_t>(bins)), some = all;
          for (int64_t i = 0; i < count; ++i) {
            Real v = r.in(0, p * count + i);
            if (v < 0 || v >= bins) continue;
            ++all[static_cast<size_t>(v)];
            some[static_cast<size_t>(v)] += i % 3 != 0;
          }
          for (int64_t k = 0; k < bins; ++k) {
            r.set(1, p * bins + k, all[static_cast<size_t>(k)]);
            r.set(2, p * bins + bins - 1 - k, some[static_cast<size_t>(k)]);
          }
        }
      });
}

/// What a loop sorts and counts is carried.
Kernel sorted_in_a_loop() {
  return kernel(
      "histograms_in_a_loop_and_the_sorted_last", {1, 1, 1}, {formula<int>(5 * 50, [](int64_t i) { return i * 37 % 23; }), output<int>(16), output<int>(50), number(5)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> z, tl::i32 n) {
        auto i = tl::arange(0, 50);
        auto [total, last] = tl::range(0, n, 1, tl::zeros<int>({16}), tl::zeros<int>({50}), [&](auto k, auto total, auto last) {
          auto v = tl::load(x + k * 50 + i) + last % 2;
          return std::tuple{total + tl::histogram(v, 16), tl::sort(v)};
        });
        tl::store(y + tl::arange(0, 16), total);
        tl::store(z + i, last);
      },
      [](Reference& r) {
        std::vector<int> total(16), last(50);
        for (int k = 0; k < 5; ++k) {
          std::vector<int> v;
          for (size_t i = 0; i < 50; ++i) v.push_back(static_cast<int>(r.in(0, k * 50 + static_cast<int64_t>(i))) + last[i] % 2);
          for (int x : v)
            if (x < 16) ++total[static_cast<size_t>(x)];
          std::sort(v.begin(), v.end());
          last = v;
        }
        for (int64_t i = 0; i < 16; ++i) r.set(1, i, total[static_cast<size_t>(i)]);
        for (int64_t i = 0; i < 50; ++i) r.set(2, i, last[static_cast<size_t>(i)]);
      });
}

// --- dot

struct Matrices {
  int64_t m, n, k;
  std::string text() const { return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k); }
};

/// Exact in every accumulator.
template <class T>
Argument small_numbers(int64_t count, int64_t seed) {
  return formula<T>(count, [seed](int64_t i) -> Real { return (i * seed + i / 7) % 9 - (is_unsigned_int(dtype_of<T>) ? 0 : 4); });
}

template <class T, class R>
Kernel product(const Matrices& s) {
  return kernel(
      "dot_of_" + word_of<T>() + "_" + s.text(), {1, 1, 1},
      {small_numbers<T>(s.m * s.k, 5), small_numbers<T>(s.k * s.n, 11), output<R>(s.m * s.n)},
      [s](tl::Ptr<T> a, tl::Ptr<T> b, tl::Ptr<R> c) {
        auto x = tl::load(a + row_major({s.m, s.k})), y = tl::load(b + row_major({s.k, s.n}));
        tl::store(c + row_major({s.m, s.n}), tl::dot(x, y));
      },
      [s](Reference& r) {
        for (int64_t i = 0; i < s.m; ++i)
          for (int64_t j = 0; j < s.n; ++j) {
            Real sum = 0;
            for (int64_t k = 0; k < s.k; ++k) sum += r.in(0, i * s.k + k) * r.in(1, k * s.n + j);
            r.set(2, i * s.n + j, sum);
          }
      });
}

/// Sums that are rounded at every step: the order of k shows. Accumulated over a loop, from a transposed operand, to f16.
Kernel products_in_a_loop() {
  return kernel(
      "dot_accumulated_in_a_loop", {1, 1, 1}, {plain<float>(3 * 17 * 20), plain<float>(3 * 20 * 12), output<float>(17 * 12), output<Half>(12 * 12), number(3)},
      [](tl::Ptr<float> a, tl::Ptr<float> b, tl::Ptr<float> c, tl::Ptr<Half> d, tl::i32 n) {
        auto i = row_major({17, 20}), j = row_major({20, 12}), o = row_major({17, 12});
        auto sum = tl::range(0, n, 1, tl::zeros<float>({17, 12}), [&](auto k, auto sum) {
          return tl::dot(tl::load(a + k * 340 + i), tl::load(b + k * 240 + j), sum);
        });
        tl::store(c + o, sum);
        tl::store(d + row_major({12, 12}), tl::dot(tl::trans(sum), sum, 1, DType::F16));
      },
      [](Reference& r) {
        float sum[17 * 12] = {};
        for (int64_t n = 0; n < 3; ++n)
          for (int64_t i = 0; i < 17; ++i)
            for (int64_t j = 0; j < 12; ++j)
              for (int64_t k = 0; k < 20; ++k)
                sum[i * 12 + j] = std::fma(static_cast<float>(r.in(0, n * 340 + i * 20 + k)), static_cast<float>(r.in(1, n * 240 + k * 12 + j)), sum[i * 12 + j]);
        for (int64_t i = 0; i < 17 * 12; ++i) r.set(2, i, sum[i]);
        for (int64_t i = 0; i < 12; ++i)
          for (int64_t j = 0; j < 12; ++j) {
            float square = 1;
            for (int64_t k = 0; k < 17; ++k) square = std::fma(sum[k * 12 + i], sum[k * 12 + j], square);
            r.set(3, i * 12 + j, ir::double_of_bits(DType::F16, ir::bits_of_double(DType::F16, square)));
          }
      });
}

/// Nothing is kept of operands that are computed from indices; the sum goes on into a reduction.
Kernel product_of_indices() {
  return kernel(
      "dot_of_index_tiles_reduced", {1, 1, 1}, {output<int>(9), output<int>(1)},
      [](tl::Ptr<int> y, tl::Ptr<int> z) {
        auto i = tl::arange(0, 9)[{tl::colon, tl::newaxis}], k = tl::arange(0, 5);
        auto c = tl::dot(i * 2 + k, tl::trans(i - k), 3);
        tl::store(y + tl::arange(0, 9), tl::sum(c, 1));
        tl::store(z, tl::max(c));
      },
      [](Reference& r) {
        Real most = -INFINITY;
        for (int i = 0; i < 9; ++i) {
          Real row = 0;
          for (int j = 0; j < 9; ++j) {
            Real sum = 3;
            for (int k = 0; k < 5; ++k) sum += (i * 2 + k) * (j - k);
            row += sum;
            most = std::max(most, sum);
          }
          r.set(0, i, row);
        }
        r.set(1, 0, most);
      });
}

}  // namespace

Kernels whole_kernels() {
  Kernels all{small_shapes(), unrolled(), largest_of(100, 7), extremes_and_places(3, 37, 9), pointer_tiles(), half_numbers<Half>(), half_numbers<BFloat16>(),
              signed_by_unsigned<int8_t, uint8_t>(), signed_by_unsigned<int8_t, uint32_t>(), signed_by_unsigned<int16_t, uint16_t>(),
              signed_by_unsigned<int32_t, uint32_t>(), signed_by_unsigned<int32_t, uint64_t>(), signed_by_unsigned<int64_t, uint64_t>(),
              sorted_in_a_loop(), products_in_a_loop(), product_of_indices()};
  auto add = [&](Kernel k) { all.push_back(std::move(k)); };
  add(masked_by("flipped_index", [](auto i, auto) { return tl::flip(i); }, [](int i) { return 4095 - i; }));
  add(masked_by("index_from_a_gathered_element", [](auto i, auto) { return i + tl::flip(tl::split(tl::arange(7, 9) * 100)[1] + tl::arange(0, 1)); },
                [](int i) { return i + 800; }));
  add(masked_by("index_from_a_loaded_element", [](auto i, auto starts) { return i + tl::load(starts + tl::arange(5, 6)); },
                [](int i) { return i + 500; }));
  add(masked_by("index_from_a_chosen_element",
                [](auto i, auto starts) { return i + tl::where(tl::arange(3, 4) < 2, tl::arange(0, 1), tl::arange(600, 601)) + tl::load(starts); },
                [](int i) { return i + 600; }));
  add(flips({1}, 0));
  add(flips({257}, 0));
  add(flips({3, 64}, 1));
  add(flips({33, 4}, 0));
  add(flips({3, 5, 8}, 1));
  add(joins<float>({}));
  add(joins<int16_t>({33}));
  add(joins<double>({3, 8}));
  add(joins<Half>({2, 3, 5}));
  add(cats({257}, 0));
  add(cats({3, 33}, 1));
  add(cats({8, 16}, 0));
  add(cats({2, 3, 4}, 1));
  add(gathers<int>({257}, 0, 33));
  add(gathers<uint8_t>({3, 64}, 1, 64));
  add(gathers<int64_t>({33, 4}, 0, 3));
  add(gathers<uint64_t>({2, 5, 3}, 1, 8));
  add(sorts<float>({1}, 0, false));
  add(sorts<float>({2}, 0, true));
  add(sorts<float>({257}, 0, false));
  add(sorts<float>({64}, 0, true));
  add(sorts<double>({3, 33}, 1, true));
  add(sorts<Half>({33, 3}, 0, false));
  add(sorts<BFloat16>({3, 5, 7}, 1, true));
  add(sorts<int8_t>({5, 16}, 1, false));
  add(sorts<uint16_t>({3}, 0, true));
  add(sorts<int>({4096}, 0, false));
  add(sorts<uint64_t>({33}, 0, false));
  add(sorts<bool>({20}, 0, true));
  add(counts<int>({257}, 10));
  add(counts<uint8_t>({3, 33}, 256));
  add(counts<int64_t>({2, 3, 16}, 33));
  add(counts<uint16_t>({64}, 1));
  add(counts<int>({1}, 3));
  add(counts<int>({33}, 33));
  add(counts<int16_t>({256}, 256));
  add(counts<int>({1000}, 4096));
  add(product<float, float>({16, 16, 16}));
  add(product<float, float>({3, 33, 5}));
  add(product<float, float>({128, 128, 16}));
  add(product<float, float>({1, 1, 257}));
  add(product<float, float>({33, 1, 1}));
  add(product<Half, float>({16, 32, 8}));
  add(product<Half, float>({128, 128, 128}));
  add(product<BFloat16, float>({7, 64, 33}));
  add(product<double, double>({5, 6, 7}));
  add(product<int8_t, int32_t>({32, 17, 16}));
  add(product<uint64_t, uint64_t>({2, 3, 4}));
  return all;
}

}  // namespace strider::lowering
