// SPDX-License-Identifier: Apache-2.0
// Reductions: over rows of awkward lengths, along any axis, nested in loops and branches, with combines of every kind.
#include <cmath>

#include "lowering/kernels.h"
#include "lowering/shapes.h"

namespace strider::lowering {

namespace {

std::string sized(std::string name, int64_t n) { return name + "_" + std::to_string(n); }

int power_of_two_from(int n) {
  int p = 1;
  while (p < n) p *= 2;
  return p;
}

// --- rows

/// Each program one row of n elements in a tile of the next power of two.
Kernel softmax(int n) {
  const int rows = n > 1000 ? 2 : 3, block = power_of_two_from(n);
  return kernel(
      sized("softmax", n), {rows, 1, 1}, {plain<float>(rows * n), output<float>(rows * n), number(n)},
      [block](tl::Ptr<float> x, tl::Ptr<float> y, tl::i32 n) {
        auto row = tl::program_id(0) * n;
        auto i = tl::arange(0, block);
        auto mask = i < n;
        auto v = tl::load(x + row + i, mask, -INFINITY);
        auto e = tl::exp(v - tl::max(v, 0));
        tl::store(y + row + i, e / tl::sum(e, 0), mask);
      },
      [rows, n](Reference& r) {
        for (int row = 0; row < rows; ++row) {
          Real largest = -INFINITY, sum = 0;
          for (int i = 0; i < n; ++i) largest = std::max(largest, r.in(0, row * n + i));
          for (int i = 0; i < n; ++i) sum += std::exp(r.in(0, row * n + i) - largest);
          for (int i = 0; i < n; ++i) r.set(1, row * n + i, std::exp(r.in(0, row * n + i) - largest) / sum);
        }
      },
      1e-6);
}

/// The same in a tile of exactly n elements.
Kernel softmax_unpadded(int n) {
  return kernel(
      sized("softmax_in_a_tile_of", n), {2, 1, 1}, {mixed<float>(2 * n), output<float>(2 * n)}, [n](tl::Ptr<float> x, tl::Ptr<float> y) {
        auto i = tl::program_id(0) * n + tl::arange(0, n);
        auto v = tl::load(x + i);
        auto e = tl::exp(v - tl::max(v, 0));
        tl::store(y + i, e / tl::sum(e, 0));
      });
}

Kernel layer_norm(int n) {
  const int rows = n > 1000 ? 2 : 3, block = power_of_two_from(n);
  return kernel(
      sized("layer_norm", n), {rows, 1, 1},
      {plain<float>(rows * n), plain<float>(n), plain<float>(n), output<float>(rows * n), output<float>(rows), number(n)},
      [block](tl::Ptr<float> x, tl::Ptr<float> weight, tl::Ptr<float> bias, tl::Ptr<float> y, tl::Ptr<float> means, tl::i32 n) {
        auto row = tl::program_id(0);
        auto i = tl::arange(0, block);
        auto mask = i < n;
        auto v = tl::load(x + row * n + i, mask);
        auto mean = tl::sum(v, 0) / n.to<float>();
        auto centred = tl::where(mask, v - mean, 0.0f);
        auto variance = tl::sum(centred * centred, 0) / n.to<float>();
        auto scale = 1.0f / tl::sqrt(variance + 1e-5f);
        tl::store(y + row * n + i, centred * scale * tl::load(weight + i, mask) + tl::load(bias + i, mask), mask);
        tl::store(means + row, mean);
      },
      [rows, n](Reference& r) {
        for (int row = 0; row < rows; ++row) {
          Real sum = 0, squares = 0;
          for (int i = 0; i < n; ++i) sum += r.in(0, row * n + i);
          Real mean = sum / n;
          for (int i = 0; i < n; ++i) squares += (r.in(0, row * n + i) - mean) * (r.in(0, row * n + i) - mean);
          Real scale = 1 / std::sqrt(squares / n + 1e-5L);
          for (int i = 0; i < n; ++i) r.set(3, row * n + i, (r.in(0, row * n + i) - mean) * scale * r.in(1, i) + r.in(2, i));
          r.set(4, row, mean);
        }
      },
      n == 1 ? 1e-3 : 1e-4);
}

/// A dot product of rows, block by block, the partial sums carried as a tile.
Kernel dot_product(int n) {
  static constexpr int rows = 2, block = 64;
  return kernel(
      sized("loop_carried_dot_product", n), {rows, 1, 1}, {plain<float>(rows * n), plain<float>(n), output<float>(rows), number(n)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> out, tl::i32 n) {
        auto row = tl::program_id(0) * n;
        auto i = tl::arange(0, block);
        auto sums = tl::range(0, n, block, tl::zeros<float>({block}), [&](auto k, auto sums) {
          auto mask = k + i < n;
          return sums + tl::load(x + row + k + i, mask) * tl::load(y + k + i, mask);
        });
        tl::store(out + tl::program_id(0), tl::sum(sums, 0));
      },
      [n](Reference& r) {
        for (int row = 0; row < rows; ++row) {
          Real sum = 0;
          for (int i = 0; i < n; ++i) sum += r.in(0, row * n + i) * r.in(1, i);
          r.set(2, row, sum);
        }
      },
      1e-3);
}

// --- axes

struct Axes {
  std::vector<int64_t> shape;
  int axis;
  bool keep;
};

Kernel sum_along(const Axes& a, bool maximum) {
  std::string name = maximum ? "max_of" : "sum_of";
  int64_t count = 1, inner = 1;
  for (size_t k = 0; k < a.shape.size(); ++k) {
    name += (k ? "x" : "_") + std::to_string(a.shape[k]);
    count *= a.shape[k];
    if (static_cast<int>(k) > a.axis) inner *= a.shape[k];
  }
  int64_t length = a.shape[static_cast<size_t>(a.axis)];
  name += "_axis_" + std::to_string(a.axis) + (a.keep ? "_kept" : "");
  return kernel(
      name, {1, 1, 1}, {plain<float>(count), output<float>(count / length), output<float>(a.keep ? count : 1)},
      [a, maximum](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> z) {
        auto offsets = row_major(a.shape);
        auto v = tl::load(x + offsets);
        auto folded = maximum ? tl::max(v, a.axis, a.keep) : tl::sum(v, a.axis, a.keep);
        std::vector<int64_t> shape = a.shape;
        if (a.keep) shape[static_cast<size_t>(a.axis)] = 1;
        else shape.erase(shape.begin() + a.axis);
        tl::store(y + row_major(shape), folded);
        if (a.keep) tl::store(z + offsets, v - folded);
        else tl::store(z, 0.0f);
      },
      [a, count, inner, length, maximum](Reference& r) {
        if (!a.keep) r.set(2, 0, 0);
        for (int64_t k = 0; k < count / length; ++k) {
          int64_t first = k / inner * inner * length + k % inner;
          Real folded = r.in(0, first);
          for (int64_t i = 1; i < length; ++i) {
            Real element = r.in(0, first + i * inner);
            folded = maximum ? std::max(folded, element) : folded + element;
          }
          r.set(1, k, folded);
          for (int64_t i = 0; a.keep && i < length; ++i) r.set(2, first + i * inner, r.in(0, first + i * inner) - folded);
        }
      },
      2e-5);
}

Kernel reduce_of_reduce() {
  return kernel(
      "max_over_rows_of_sums_over_columns", {1, 1, 1}, {plain<float>(17 * 33), output<float>(1)},
      [](tl::Ptr<float> x, tl::Ptr<float> y) {
        auto i = tl::arange(0, 17), j = tl::arange(0, 33);
        auto v = tl::load(x + i[{tl::colon, tl::newaxis}] * 33 + j[{tl::newaxis, tl::colon}]);
        tl::store(y, tl::max(tl::sum(v, 1), 0));
      },
      [](Reference& r) {
        Real best = -INFINITY;
        for (int i = 0; i < 17; ++i) {
          Real sum = 0;
          for (int j = 0; j < 33; ++j) sum += r.in(0, i * 33 + j);
          best = std::max(best, sum);
        }
        r.set(1, 0, best);
      },
      1e-4);
}

// --- combines

Kernel argmax(int n, int rows) {
  return kernel(
      sized("argmax", n), {rows, 1, 1}, {formula<float>(rows * n, [n](int64_t i) { return (i * 37 + i / n) % 101 - 50; }), output<float>(rows), output<int>(rows)},
      [n](tl::Ptr<float> x, tl::Ptr<float> values, tl::Ptr<int> indices) {
        auto row = tl::program_id(0);
        auto i = tl::arange(0, n);
        auto v = tl::load(x + row * n + i);
        auto [best, at] = tl::reduce(std::array{v, i}, 0, [](auto v, auto i, auto w, auto j) {
          auto right = (w > v) | ((w == v) & (j < i));
          return std::tuple{tl::where(right, w, v), tl::where(right, j, i)};
        });
        tl::store(values + row, best);
        tl::store(indices + row, at);
      },
      [n, rows](Reference& r) {
        for (int row = 0; row < rows; ++row) {
          int at = 0;
          for (int i = 1; i < n; ++i)
            if (r.in(0, row * n + i) > r.in(0, row * n + at)) at = i;
          r.set(1, row, r.in(0, row * n + at));
          r.set(2, row, at);
        }
      });
}

/// A combine without an identity: of two values the one nearer to 3; no two are equally near.
Kernel nearest(int n) {
  auto nearer = [](Real a, Real b) { return std::fabs(b - 3) < std::fabs(a - 3) ? b : a; };
  return kernel(
      sized("combine_without_identity", n), {1, 1, 1}, {formula<float>(n, [](int64_t i) { return (i * 29) % 83 * 2 - 60.25; }), output<float>(1)},
      [n](tl::Ptr<float> x, tl::Ptr<float> y) {
        auto v = tl::load(x + tl::arange(0, n));
        tl::store(y, tl::reduce(v, 0, [](auto a, auto b) { return tl::where(tl::abs(b - 3.0f) < tl::abs(a - 3.0f), b, a); }));
      },
      [n, nearer](Reference& r) {
        Real best = r.in(0, 0);
        for (int i = 1; i < n; ++i) best = nearer(best, r.in(0, i));
        r.set(1, 0, best);
      });
}

/// Not associative, so the order shows: it must be the stated one, whatever the number of threads.
Kernel order_of_combination(int n) {
  return kernel(
      sized("order_of_combination", n), {1, 1, 1}, {mixed<int>(n), output<int>(1)},
      [n](tl::Ptr<int> x, tl::Ptr<int> y) {
        auto v = tl::load(x + tl::arange(0, n));
        tl::store(y, tl::reduce(v, 0, [](auto a, auto b) { return a * 3 - b; }));
      },
      [n](Reference& r) {
        std::vector<uint32_t> v;
        for (int i = 0; i < n; ++i) v.push_back(static_cast<uint32_t>(static_cast<int32_t>(r.in(0, i))));
        for (int h = power_of_two_from(n) / 2; h >= 1; h /= 2)
          for (int i = 0; i < h && i + h < n; ++i) v[static_cast<size_t>(i)] = v[static_cast<size_t>(i)] * 3 - v[static_cast<size_t>(i + h)];
        r.set(1, 0, static_cast<int32_t>(v[0]));
      });
}

template <class T, class R = T>
Kernel sum_in(std::string name, int n, Argument input, double tolerance) {
  return kernel(
      "sum_of_" + name, {1, 1, 1}, {input, output<R>(1)},
      [n](tl::Ptr<T> x, tl::Ptr<R> y) { tl::store(y, tl::sum(tl::load(x + tl::arange(0, n)))); },
      [n](Reference& r) {
        Real sum = 0;
        for (int i = 0; i < n; ++i) sum += r.in(0, i);
        r.set(1, 0, sum);
      },
      tolerance);
}

Kernel any_and_all() {
  return kernel(
      "any_and_all_of_bools", {2, 1, 1}, {formula<bool>(2 * 50, [](int64_t i) { return i == 70; }), output<bool>(4)},
      [](tl::Ptr<bool> x, tl::Ptr<bool> y) {
        auto p = tl::program_id(0);
        auto v = tl::load(x + p * 50 + tl::arange(0, 50));
        tl::store(y + p * 2, tl::reduce(v, 0, [](auto a, auto b) { return a | b; }));
        tl::store(y + p * 2 + 1, tl::reduce(~v, 0, [](auto a, auto b) { return a & b; }));
      },
      [](Reference& r) {
        const Real wanted[] = {0, 1, 1, 0};
        for (int i = 0; i < 4; ++i) r.set(1, i, wanted[i]);
      });
}

Kernel extremes_with_nan() {
  return kernel(
      "max_and_min_carry_nan", {3, 1, 1},
      {formula<float>(3 * 100, [](int64_t i) { return i == 130 ? NAN : i == 250 ? -0.0 : i < 200 ? i : 0.0; }), output<float>(3), output<float>(3)},
      [](tl::Ptr<float> x, tl::Ptr<float> largest, tl::Ptr<float> smallest) {
        auto p = tl::program_id(0);
        auto v = tl::load(x + p * 100 + tl::arange(0, 100));
        tl::store(largest + p, tl::max(v));
        tl::store(smallest + p, tl::min(v));
      },
      [](Reference& r) {
        const Real largest[] = {99, NAN, 0}, smallest[] = {0, NAN, -0.0L};
        for (int i = 0; i < 3; ++i) r.set(1, i, largest[i]), r.set(2, i, smallest[i]);
      });
}

// --- inside control flow

Kernel rows_in_a_loop() {
  return kernel(
      "reduction_in_a_loop", {1, 1, 1}, {plain<float>(7 * 100), output<float>(7), number(7)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::i32 rows) {
        auto i = tl::arange(0, 100);
        tl::range(0, rows, 1, [&](auto row) { tl::store(y + row, tl::sum(tl::load(x + row * 100 + i), 0)); });
      },
      [](Reference& r) {
        for (int row = 0; row < 7; ++row) {
          Real sum = 0;
          for (int i = 0; i < 100; ++i) sum += r.in(0, row * 100 + i);
          r.set(1, row, sum);
        }
      },
      1e-4);
}

/// Each iteration normalises the carried tile by a reduction of it.
Kernel carried_through_reductions() {
  return kernel(
      "carried_tile_divided_by_its_sum", {1, 1, 1}, {formula<float>(100, [](int64_t i) { return i + 1; }), output<float>(100), number(3)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::i32 n) {
        auto i = tl::arange(0, 100);
        auto v = tl::range(0, n, 1, tl::load(x + i), [&](auto, auto v) { return v / tl::sum(v, 0) + v; });
        tl::store(y + i, v);
      },
      [](Reference& r) {
        std::vector<Real> v;
        for (int i = 0; i < 100; ++i) v.push_back(r.in(0, i));
        for (int k = 0; k < 3; ++k) {
          Real sum = 0;
          for (Real x : v) sum += x;
          for (Real& x : v) x = x / sum + x;
        }
        for (int i = 0; i < 100; ++i) r.set(1, i, v[static_cast<size_t>(i)]);
      },
      1e-5);
}

Kernel nested_loops() {
  return kernel(
      "nested_loops_with_reductions", {2, 1, 1}, {plain<float>(2 * 3 * 4 * 32), output<float>(2 * 3), output<float>(2), number(3), number(4)},
      [](tl::Ptr<float> x, tl::Ptr<float> inner_sums, tl::Ptr<float> largest, tl::i32 outer, tl::i32 inner) {
        auto p = tl::program_id(0);
        auto i = tl::arange(0, 32);
        auto best = tl::range(0, outer, 1, tl::full<float>({}, -INFINITY), [&](auto a, auto best) {
          auto sum = tl::range(0, inner, 1, tl::zeros<float>({}), [&](auto b, auto sum) {
            return sum + tl::sum(tl::load(x + ((p * outer + a) * inner + b) * 32 + i), 0);
          });
          tl::store(inner_sums + p * outer + a, sum);
          return tl::maximum(best, sum);
        });
        tl::store(largest + p, best);
      },
      [](Reference& r) {
        for (int p = 0; p < 2; ++p) {
          Real best = -INFINITY;
          for (int a = 0; a < 3; ++a) {
            Real sum = 0;
            for (int k = 0; k < 128; ++k) sum += r.in(0, (p * 3 + a) * 128 + k);
            r.set(1, p * 3 + a, sum);
            best = std::max(best, sum);
          }
          r.set(2, p, best);
        }
      },
      1e-4);
}

Kernel reduction_in_a_branch() {
  return kernel(
      "reduction_in_a_run_time_branch", {3, 1, 1}, {plain<float>(3 * 200), output<float>(3), formula<int>(3, [](int64_t i) { return i != 1; })},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<int> flags) {
        auto p = tl::program_id(0);
        auto i = tl::arange(0, 200);
        auto v = tl::load(x + p * 200 + i);
        auto s = tl::if_(tl::load(flags + p) != 0, [&] { return tl::sum(v, 0); }, [&] { return tl::max(v, 0) * 2.0f; });
        tl::store(y + p, s);
      },
      [](Reference& r) {
        for (int p = 0; p < 3; ++p) {
          Real sum = 0, largest = -INFINITY;
          for (int i = 0; i < 200; ++i) sum += r.in(0, p * 200 + i), largest = std::max(largest, r.in(0, p * 200 + i));
          r.set(1, p, p != 1 ? sum : largest * 2);
        }
      },
      1e-4);
}

/// Runs until a reduction says so.
Kernel while_on_a_reduction() {
  return kernel(
      "while_on_a_reduction", {2, 1, 1}, {formula<float>(2 * 64, [](int64_t i) { return (i * 13) % 50; }), output<float>(2 * 64), output<int>(2)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<int> rounds) {
        auto p = tl::program_id(0);
        auto i = p * 64 + tl::arange(0, 64);
        auto [v, n] = tl::while_(
            tl::load(x + i), tl::zeros<int>({}), [](auto v, auto) { return tl::max(v, 0) > 1.0f; },
            [](auto v, auto n) { return std::tuple{v * 0.5f, n + 1}; });
        tl::store(y + i, v);
        tl::store(rounds + p, n);
      },
      [](Reference& r) {
        for (int p = 0; p < 2; ++p) {
          Real largest = 0;
          for (int i = 0; i < 64; ++i) largest = std::max(largest, r.in(0, p * 64 + i));
          int rounds = 0;
          for (; largest > 1; largest /= 2) ++rounds;
          for (int i = 0; i < 64; ++i) r.set(1, p * 64 + i, std::ldexp(r.in(0, p * 64 + i), -rounds));
          r.set(2, p, rounds);
        }
      });
}

Kernel online_softmax() {
  return kernel(
      "online_softmax_carrying_two_scalars", {2, 1, 1}, {plain<float>(2 * 300), output<float>(2 * 300), number(300)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::i32 n) {
        auto row = tl::program_id(0) * n;
        auto i = tl::arange(0, 64);
        auto [m, s] = tl::range(0, n, 64, tl::full<float>({}, -INFINITY), tl::zeros<float>({}), [&](auto k, auto m, auto s) {
          auto v = tl::load(x + row + k + i, k + i < n, -INFINITY);
          auto larger = tl::maximum(m, tl::max(v, 0));
          return std::tuple{larger, s * tl::exp(m - larger) + tl::sum(tl::exp(v - larger), 0)};
        });
        tl::range(0, n, 64, [&, m = m, s = s](auto k) {
          auto mask = k + i < n;
          tl::store(y + row + k + i, tl::exp(tl::load(x + row + k + i, mask) - m) / s, mask);
        });
      },
      [](Reference& r) {
        for (int row = 0; row < 2; ++row) {
          Real largest = -INFINITY, sum = 0;
          for (int i = 0; i < 300; ++i) largest = std::max(largest, r.in(0, row * 300 + i));
          for (int i = 0; i < 300; ++i) sum += std::exp(r.in(0, row * 300 + i) - largest);
          for (int i = 0; i < 300; ++i) r.set(1, row * 300 + i, std::exp(r.in(0, row * 300 + i) - largest) / sum);
        }
      },
      1e-5);
}

Kernel large_tile() {
  static constexpr int n = 1 << 16;
  return kernel(
      "sum_of_a_tile_of_65536", {1, 1, 1}, {formula<float>(n, [](int64_t i) { return i % 7; }), output<float>(1), output<float>(n)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> z) {
        auto i = tl::arange(0, n);
        auto v = tl::load(x + i);
        tl::store(y, tl::sum(v, 0));
        tl::store(z + i, v * 2.0f);
      },
      [](Reference& r) {
        Real sum = 0;
        for (int i = 0; i < n; ++i) sum += i % 7, r.set(2, i, i % 7 * 2);
        r.set(1, 0, sum);
      });
}

}  // namespace

Kernels reduction_kernels() {
  Kernels all;
  for (int n : {1, 3, 257, 1000, 4096}) {
    all.push_back(softmax(n));
    all.push_back(layer_norm(n));
    all.push_back(dot_product(n));
  }
  for (int n : {33, 257}) all.push_back(softmax_unpadded(n));
  const Axes axes[] = {
      {{16, 32}, 0, false}, {{16, 32}, 1, false}, {{16, 32}, 0, true}, {{16, 32}, 1, true}, {{7, 33}, 0, false}, {{7, 33}, 1, true},
      {{4, 8, 16}, 0, false}, {{4, 8, 16}, 1, false}, {{4, 8, 16}, 2, false}, {{3, 5, 6}, 0, true}, {{3, 5, 6}, 1, true}, {{3, 5, 6}, 2, false},
      {{1}, 0, false}, {{1}, 0, true}, {{1, 8}, 0, true}, {{8, 1}, 1, false}, {{1, 1}, 0, false},
  };
  for (const Axes& a : axes) {
    all.push_back(sum_along(a, false));
    if (a.keep) all.push_back(sum_along(a, true));
  }
  for (Kernel k : {reduce_of_reduce(), argmax(128, 2), argmax(33, 3), argmax(1, 1), nearest(64), nearest(33), order_of_combination(128),
                   order_of_combination(33), order_of_combination(1000), any_and_all(), extremes_with_nan(), rows_in_a_loop(),
                   carried_through_reductions(), nested_loops(), reduction_in_a_branch(), while_on_a_reduction(), online_softmax(), large_tile()})
    all.push_back(std::move(k));
  auto small = [](int64_t i) { return i % 5; };
  all.push_back(sum_in<Half>("f16", 100, formula<Half>(100, small), 0));
  all.push_back(sum_in<BFloat16>("bf16", 64, formula<BFloat16>(64, small), 0));
  all.push_back(sum_in<double>("f64", 257, plain<double>(257), 1e-12));
  all.push_back(sum_in<int64_t>("i64", 257, formula<int64_t>(257, [](int64_t i) { return i * 1000000007; }), 0));
  all.push_back(sum_in<uint8_t, uint32_t>("u8", 20, formula<uint8_t>(20, small), 0));
  return all;
}

}  // namespace strider::lowering
