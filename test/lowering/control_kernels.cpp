// SPDX-License-Identifier: Apache-2.0
// Loops, branches and early returns: carried tiles and scalars, run-time bounds, work that needs barriers under a condition.
#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

int32_t wrap(int64_t x) { return static_cast<int32_t>(static_cast<uint32_t>(x)); }
int32_t integer(Real x) { return static_cast<int32_t>(x); }

Kernel early_return() {
  return kernel(
      "early_return", {4, 1, 1}, {mixed<int>(4 * 64), output<int>(4 * 64), output<int>(4), number(2)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> sums, tl::i32 programs) {
        auto p = tl::program_id(0);
        auto i = p * 64 + tl::arange(0, 64);
        auto v = tl::load(x + i);
        tl::store(y + i, v);
        tl::return_if(p >= programs);
        tl::store(sums + p, tl::sum(v, 0));
        tl::return_if(p == 1);
        tl::store(y + i, -v);
      },
      [](Reference& r) {
        for (int p = 0; p < 4; ++p) {
          int64_t sum = 0;
          for (int i = p * 64; i < (p + 1) * 64; ++i) {
            sum += integer(r.in(0, i));
            r.set(1, i, p == 0 ? wrap(-static_cast<int64_t>(integer(r.in(0, i)))) : r.in(0, i));
          }
          if (p < 2) r.set(2, p, wrap(sum));
        }
      });
}

/// Both branches move values between lanes, which needs barriers on a GPU; the condition is loaded.
Kernel barrier_in_a_branch() {
  static constexpr int n = 96;
  return kernel(
      "lanes_exchanged_in_a_run_time_branch", {3, 1, 1}, {mixed<int>(3 * n), formula<int>(3, [](int64_t i) { return i; }), output<int>(3 * n)},
      [](tl::Ptr<int> x, tl::Ptr<int> flags, tl::Ptr<int> y) {
        auto p = tl::program_id(0);
        auto i = tl::arange(0, n);
        auto v = tl::load(x + p * n + i);
        auto w = tl::if_(
            tl::load(flags + p) == 1, [&] { return tl::reshape(tl::trans(tl::reshape(v, {8, 12})), {n}); }, [&] { return tl::cumsum(v); });
        tl::store(y + p * n + i, w + 1);
      },
      [](Reference& r) {
        for (int p = 0; p < 3; ++p) {
          int64_t sum = 0;
          for (int i = 0; i < n; ++i) {
            sum += integer(r.in(0, p * n + i));
            if (p == 1) r.set(2, p * n + i % 12 * 8 + i / 12, wrap(integer(r.in(0, p * n + i)) + int64_t{1}));
            else r.set(2, p * n + i, wrap(sum + 1));
          }
        }
      });
}

Kernel nested_branches() {
  return kernel(
      "nested_branches", {4, 1, 1}, {mixed<int>(4 * 40), output<int>(4 * 40)},
      [](tl::Ptr<int> x, tl::Ptr<int> y) {
        auto p = tl::program_id(0);
        auto i = p * 40 + tl::arange(0, 40);
        auto v = tl::load(x + i);
        auto w = tl::if_(
            p % 2 == 0, [&] { return tl::if_(p == 0, [&] { return v + 1; }, [&] { return v ^ tl::max(v, 0); }); },
            [&] {
              tl::if_(p == 3, [&] { tl::store(y + i, v); });
              return v * 2;
            });
        tl::if_(p != 3, [&] { tl::store(y + i, w); });
      },
      [](Reference& r) {
        for (int p = 0; p < 4; ++p) {
          Real largest = r.in(0, p * 40);
          for (int i = 0; i < 40; ++i) largest = std::max(largest, r.in(0, p * 40 + i));
          for (int i = p * 40; i < (p + 1) * 40; ++i) {
            int64_t v = integer(r.in(0, i));
            r.set(1, i, p == 0 ? wrap(v + 1) : p == 1 ? wrap(v * 2) : p == 2 ? integer(r.in(0, i)) ^ integer(largest) : wrap(v));
          }
        }
      });
}

/// The parallel copy: (a, b) = (b, a), and three tiles turned.
Kernel swapped_tiles(int n) {
  return kernel(
      "carried_tiles_swapped_" + std::to_string(n), {1, 1, 1}, {mixed<int>(n), mixed<int>(n), output<int>(n), output<int>(n), output<int>(n), number(7)},
      [n](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> a, tl::Ptr<int> b, tl::Ptr<int> c, tl::i32 rounds) {
        auto i = tl::arange(0, n);
        auto [u, v, w] = tl::range(0, rounds, 1, tl::load(x + i), tl::load(y + i), i, [](auto, auto u, auto v, auto w) {
          return std::tuple{v, w, u + 1};
        });
        tl::store(a + i, u);
        tl::store(b + i, v);
        tl::store(c + i, w);
      },
      [n](Reference& r) {
        for (int i = 0; i < n; ++i) {
          int64_t u = integer(r.in(0, i)), v = integer(r.in(1, i)), w = i;
          for (int k = 0; k < 7; ++k) {
            int64_t old = u;
            u = v, v = w, w = old + 1;
          }
          r.set(2, i, wrap(u)), r.set(3, i, wrap(v)), r.set(4, i, wrap(w));
        }
      });
}

/// Fibonacci by carried scalars, while other shapes are carried beside them.
Kernel carried_shapes() {
  return kernel(
      "carried_values_of_several_shapes", {1, 1, 1}, {mixed<int>(24), output<int>(24), output<int>(4), output<int64_t>(1), number(9)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> z, tl::Ptr<int64_t> f, tl::i32 n) {
        auto at = tl::reshape(tl::arange(0, 24), {6, 4});
        auto [tile, row, a, b] = tl::range(
            0, n, 1, tl::load(x + at), tl::zeros<int>({4}), tl::full<int64_t>({}, 0), tl::full<int64_t>({}, 1),
            [](auto k, auto tile, auto row, auto a, auto b) {
              return std::tuple{tile + row[{tl::newaxis, tl::colon}], row + tl::max(tile, 0) * k, b, a + b};
            });
        tl::store(y + at, tile);
        tl::store(z + tl::arange(0, 4), row);
        tl::store(f, a);
      },
      [](Reference& r) {
        int32_t tile[6][4], row[4] = {};
        for (int k = 0; k < 24; ++k) tile[k / 4][k % 4] = integer(r.in(0, k));
        int64_t a = 0, b = 1;
        for (int k = 0; k < 9; ++k) {
          for (int j = 0; j < 4; ++j) {
            int32_t best = tile[0][j];
            for (int i = 0; i < 6; ++i) {
              best = std::max(best, tile[i][j]);
              tile[i][j] = wrap(int64_t{tile[i][j]} + row[j]);
            }
            row[j] = wrap(row[j] + int64_t{best} * k);
          }
          std::tie(a, b) = std::pair(b, a + b);
        }
        for (int k = 0; k < 24; ++k) r.set(1, k, tile[k / 4][k % 4]);
        for (int j = 0; j < 4; ++j) r.set(2, j, row[j]);
        r.set(3, 0, a);
      });
}

/// The bound is loaded, another for each program; the third loop has no iteration.
Kernel loaded_bounds() {
  return kernel(
      "loop_bounds_loaded_from_memory", {3, 1, 1}, {formula<int>(3, [](int64_t i) { return i == 2 ? -1 : 5 + i; }), mixed<int>(32), output<int>(3 * 32)},
      [](tl::Ptr<int> bounds, tl::Ptr<int> x, tl::Ptr<int> y) {
        auto p = tl::program_id(0);
        auto i = tl::arange(0, 32);
        auto v = tl::range(0, tl::load(bounds + p), 2, tl::load(x + i), [&](auto k, auto v) { return v * 3 + k; });
        tl::store(y + p * 32 + i, v);
      },
      [](Reference& r) {
        for (int p = 0; p < 3; ++p)
          for (int i = 0; i < 32; ++i) {
            int32_t v = integer(r.in(1, i));
            for (int k = 0; k < integer(r.in(0, p)); k += 2) v = wrap(int64_t{v} * 3 + k);
            r.set(2, p * 32 + i, v);
          }
      });
}

/// The Collatz steps of one number, all scalar.
Kernel scalar_while() {
  return kernel(
      "scalar_while", {8, 1, 1}, {output<int>(8)},
      [](tl::Ptr<int> steps) {
        auto p = tl::program_id(0);
        auto [x, n] = tl::while_(
            p + 1, tl::zeros<int>({}), [](auto x, auto) { return x != 1; },
            [](auto x, auto n) { return std::tuple{tl::where(x % 2 == 0, tl::div(x, 2), x * 3 + 1), n + 1}; });
        tl::store(steps + p, n);
      },
      [](Reference& r) {
        for (int p = 0; p < 8; ++p) {
          int n = 0;
          for (int x = p + 1; x != 1; x = x % 2 ? 3 * x + 1 : x / 2) ++n;
          r.set(0, p, n);
        }
      });
}

Kernel carried_pointer() {
  return kernel(
      "pointer_carried_through_a_loop", {1, 1, 1}, {mixed<int>(6 * 50), output<int>(50), number(6)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::i32 n) {
        auto i = tl::arange(0, 50);
        auto [p, v] = tl::range(0, n, 1, x, tl::zeros<int>({50}), [&](auto, auto p, auto v) {
          return std::tuple{p + 50, v ^ tl::load(p + i)};
        });
        tl::store(y + i, v ^ tl::load(p + (i - 50)));
      },
      [](Reference& r) {
        for (int i = 0; i < 50; ++i) {
          int32_t v = 0;
          for (int k = 0; k < 5; ++k) v ^= integer(r.in(0, k * 50 + i));
          r.set(1, i, v);
        }
      });
}

Kernel carried_pointer_tile() {
  return kernel(
      "pointer_tile_carried_through_a_loop", {1, 1, 1}, {mixed<int>(6 * 50), output<int>(50), number(6)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::i32 n) {
        auto i = tl::arange(0, 50);
        auto [p, v] = tl::range(0, n, 1, x + i, tl::zeros<int>({50}), [&](auto, auto p, auto v) {
          return std::tuple{p + 50, v * 3 ^ tl::load(p)};
        });
        tl::store(y + i, v);
      },
      [](Reference& r) {
        for (int i = 0; i < 50; ++i) {
          int32_t v = 0;
          for (int k = 0; k < 6; ++k) v = wrap(int64_t{v} * 3) ^ integer(r.in(0, k * 50 + i));
          r.set(1, i, v);
        }
      });
}

Kernel chosen_pointer() {
  return kernel(
      "pointer_chosen_at_run_time", {2, 1, 1}, {mixed<int>(64), mixed<int>(64), output<int>(2 * 64), output<int>(2 * 64)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> z, tl::Ptr<int> w) {
        auto p = tl::program_id(0);
        auto i = tl::arange(0, 64);
        auto source = tl::if_(p == 0, [&] { return x; }, [&] { return y; });
        tl::store(z + p * 64 + i, tl::load(source + i));
        tl::store(w + p * 64 + i, tl::load(tl::where(i % 2 == p, x + i, y + i)));
      },
      [](Reference& r) {
        for (int k = 0; k < 128; ++k) {
          int p = k / 64, i = k % 64;
          r.set(2, k, r.in(p, i));
          r.set(3, k, r.in(i % 2 == p ? 0 : 1, i));
        }
      });
}

/// What one iteration stored is loaded by the next, inside a branch.
Kernel branch_in_a_loop() {
  static constexpr int n = 48;
  return kernel(
      "branch_with_stores_in_a_loop", {1, 1, 1}, {mixed<int>(n), output<int>(1), number(10)},
      [](tl::Ptr<int> x, tl::Ptr<int> taken, tl::i32 rounds) {
        auto i = tl::arange(0, n);
        auto count = tl::range(0, rounds, 1, tl::zeros<int>({}), [&](auto k, auto count) {
          auto v = tl::load(x + i);
          auto odd = (tl::sum(v & 1, 0) + k) % 2 == 1;
          return tl::if_(
              odd,
              [&] {
                tl::store(x + (n - 1 - i), v + 1);
                return count + 1;
              },
              [&] {
                tl::store(x + i, v ^ i);
                return count;
              });
        });
        tl::store(taken, count);
      },
      [](Reference& r) {
        std::vector<int32_t> x;
        for (int i = 0; i < n; ++i) x.push_back(integer(r.in(0, i)));
        int count = 0;
        for (int k = 0; k < 10; ++k) {
          int odd = k;
          for (int32_t v : x) odd += v & 1;
          std::vector<int32_t> old = x;
          for (int i = 0; i < n; ++i) {
            if (odd % 2) x[static_cast<size_t>(n - 1 - i)] = wrap(int64_t{old[static_cast<size_t>(i)]} + 1);
            else x[static_cast<size_t>(i)] = old[static_cast<size_t>(i)] ^ i;
          }
          count += odd % 2;
        }
        for (int i = 0; i < n; ++i) r.set(0, i, x[static_cast<size_t>(i)]);
        r.set(1, 0, count);
      });
}

Kernel three_dimensional_grid() {
  return kernel(
      "three_dimensional_grid", {3, 2, 2}, {output<int>(3 * 2 * 2 * 8)},
      [](tl::Ptr<int> x) {
        auto p = tl::program_id(0) + tl::num_programs(0) * (tl::program_id(1) + tl::num_programs(1) * tl::program_id(2));
        tl::store(x + p * 8 + tl::arange(0, 8), p * 1000 + tl::num_programs(2));
      },
      [](Reference& r) {
        for (int k = 0; k < 96; ++k) r.set(0, k, k / 8 * 1000 + 2);
      });
}

/// Tiles made before a loop, used in it and after it.
Kernel tiles_across_a_loop() {
  static constexpr int n = 90;
  return kernel(
      "tiles_used_across_a_loop", {2, 1, 1}, {plain<float>(2 * n), plain<float>(2 * n), output<float>(2 * n), number(4)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> z, tl::i32 rounds) {
        auto i = tl::program_id(0) * n + tl::arange(0, n);
        auto a = tl::load(x + i), b = tl::load(y + i) * a;
        auto v = tl::range(0, rounds, 1, a, [&](auto k, auto v) { return tl::minimum(v * 0.5f, b) + k.template to<float>(); });
        tl::store(z + i, v + b + a);
      },
      [](Reference& r) {
        for (int i = 0; i < 2 * n; ++i) {
          Real a = r.in(0, i), b = r.in(1, i) * a, v = a;
          for (int k = 0; k < 4; ++k) v = std::min(v * 0.5L, b) + k;
          r.set(2, i, v + b + a);
        }
      },
      1e-4);
}

Kernel reversed_in_a_loop() {
  static constexpr int n = 64;
  return kernel(
      "carried_tile_permuted_each_iteration", {1, 1, 1}, {mixed<int>(n), output<int>(n), number(3)},
      [](tl::Ptr<int> x, tl::Ptr<int> y, tl::i32 rounds) {
        auto i = tl::arange(0, n);
        auto v = tl::range(0, rounds, 1, tl::load(x + i), [](auto k, auto v) {
          return tl::reshape(tl::trans(tl::reshape(v, {4, 16})), {n}) + k;
        });
        tl::store(y + i, v);
      },
      [](Reference& r) {
        std::vector<int32_t> v(n);
        for (int i = 0; i < n; ++i) v[static_cast<size_t>(i)] = integer(r.in(0, i));
        for (int k = 0; k < 3; ++k) {
          std::vector<int32_t> old = v;
          for (int i = 0; i < n; ++i) v[static_cast<size_t>(i % 16 * 4 + i / 16)] = wrap(int64_t{old[static_cast<size_t>(i)]} + k);
        }
        for (int i = 0; i < n; ++i) r.set(1, i, v[static_cast<size_t>(i)]);
      });
}

// --- assignments in bodies, as in Triton: each kernel fills y with one number for each form

/// A kernel of one program that is given x[i] = i (64 elements), the number 4 and y; `expected` are y's elements.
template <class F>
Kernel assigning(const std::string& name, std::vector<int> expected, F body) {
  const auto count = static_cast<int64_t>(expected.size());
  return kernel(
      "assigns_" + name, {1, 1, 1}, {formula<int>(64, [](int64_t i) { return i; }), number(4), output<int>(count)}, body,
      [expected](Reference& r) {
        for (size_t k = 0; k < expected.size(); ++k) r.set(2, static_cast<int64_t>(k), expected[k]);
      });
}
using In = tl::Ptr<int>;
using N = tl::i32;

Kernels assigning_kernels() {
  return {
      assigning("pointer_moved", {16, 8}, [](In x, N n, In y) {
        auto p = x, q = x + 20;
        tl::range(0, n, 1, [&] { p += 4, q -= 3; });
        tl::store(y, tl::load(p));
        tl::store(y + 1, tl::load(q));
      }),
      assigning("pointer_tile_moved", {86, 91, 96, 101}, [](In x, N n, In y) {
        auto i = tl::arange(0, 4);
        auto p = x + i;
        auto acc = tl::zeros<int>({4});
        tl::range(0, n, 1, [&](auto k) {
          acc += tl::load(p) + k;
          p += 8;
        });
        tl::store(y + i, acc + tl::load(p));  // 4 i + 54, and 32 + i
      }),
      assigning("counter_from_a_literal", {10, 4, -8}, [](In, N n, In y) {
        Value a = 0, b = 0, c = 0;
        tl::range(0, 10, 1, [&] { a += 1; });
        tl::range(0, n, 1, [&](auto) { b = b + 1, c -= 2; });
        tl::store(y, a);
        tl::store(y + 1, b);
        tl::store(y + 2, c);
      }),
      assigning("in_one_branch", {7, 5, 9}, [](In x, N n, In y) {
        Value v = 5, w = 5, u = tl::load(x + 9);
        tl::if_(n > 3, [&] { v = 7; });
        tl::if_(n > 4, [&] { w = 7; });
        tl::if_(n > 4, [&] { u = u + 1; });
        tl::store(y, v);
        tl::store(y + 1, w);
        tl::store(y + 2, u);
      }),
      assigning("in_two_branches", {3, 11, 40}, [](In x, N n, In y) {
        Value v, w = 1;
        auto p = x;
        tl::if_(n == 4, [&] { v = n - 1; }, [&] { v = n + 1; });
        tl::if_(n == 4, [&] { w += 10; }, [&] { p += 1; });
        tl::if_(n != 4, [&] { p += 30; }, [&] { p += 40; });
        tl::store(y, v);
        tl::store(y + 1, w);
        tl::store(y + 2, tl::load(p));
      }),
      assigning("while", {6, 8}, [](In x, N n, In y) {
        auto acc = tl::load(x), k = tl::load(x);
        tl::while_([&] { return k < n; }, [&] {
          acc += k;
          k += 1;
        });
        auto m = tl::while_(n, [&](auto m) { return m > 0; }, [&](auto m) {
          k += 1;
          return m - 1;
        });
        tl::store(y, acc);
        tl::store(y + 1, k + m);
      }),
      assigning("beside_carried_values", {6, 4, 0}, [](In x, N n, In y) {
        auto acc = tl::zeros<int>({});
        auto [sum, last] = tl::range(0, n, 1, 0, x, [&](auto i, auto sum, auto last) {
          acc += 1;
          return std::tuple{sum + i, last};
        });
        tl::store(y, sum);
        tl::store(y + 1, acc);
        tl::store(y + 2, tl::load(last));
      }),
      assigning("swapped", {3, 5}, [](In x, N n, In y) {
        auto a = tl::load(x), b = tl::load(x + 1);  // Fibonacci
        tl::range(0, n, 1, [&] {
          auto next = a + b;
          a = std::exchange(b, next);
        });
        tl::store(y, a);
        tl::store(y + 1, b);
        tl::if_(n == 7, [&] { std::swap(a, b); });
        tl::if_(n == 4, [&] { std::swap(a, b), std::swap(a, b); });
        tl::store(y, a);
      }),
      assigning("nested", {22, 18, 4, 14}, [](In x, N n, In y) {
        Value inner = 0, count = 0, odd = 0;
        auto p = x;
        tl::range(0, n, 1, [&](auto i) {
          Value local = 0;
          tl::range(0, i, 1, [&](auto j) {
            local += 1;
            tl::if_(j > 0, [&] { inner += 2; }, [&] { inner += n; });
            tl::if_(j == i - 1, [&] { p += 2, odd += 1; });
          });
          count += local * 3;
          odd = tl::where(i == 3, odd + 1, odd);
          p += 2;
        });
        tl::store(y, inner + 4);
        tl::store(y + 1, count);
        tl::store(y + 2, odd);
        tl::store(y + 3, tl::load(p));
      }),
      assigning("elements", {4, 8, 12, 10}, [](In, N n, In y) {
        struct State {
          Value count = 0;
        } state;
        std::array<Value, 2> pair{Value(0), Value(0)};
        std::vector<Value> list(3, Value(0));
        tl::range(0, n, 1, [&] {
          state.count += 1;
          pair[1] += 2;
          list[2] = list[2] + 3;
          std::tie(pair[0], list[0]) = std::tuple{pair[0] + 1, list[0] + pair[0]};
        });
        tl::store(y, state.count);
        tl::store(y + 1, pair[1]);
        tl::store(y + 2, list[2]);
        tl::store(y + 3, list[0] + pair[0]);
      }),
      assigning("operators", {1, 3, 12, 2}, [](In, N n, In y) {
        Value a = 13, b = 3, c = 3, d = 40;
        tl::if_(n == 4, [&] {
          a %= 4;
          b |= 2;
          c <<= 2;
          d >>= n;
        });
        tl::range(0, 2, 1, [&] { a &= 5, b ^= 0; });
        tl::store(y, a);
        tl::store(y + 1, b);
        tl::store(y + 2, c);
        tl::store(y + 3, d);
      }),
      assigning("parameters", {6, 8}, [](In x, N n, In y) {
        auto old = n;
        tl::range(0, 2, 1, [&] { n = n + 1; });
        tl::range(0, old, 1, [&] { x += 2; });
        tl::store(y, n);
        tl::store(y + 1, tl::load(x));
      }),
      assigning("no_iteration", {5, 2}, [](In x, N n, In y) {
        Value v = 5;
        auto p = x + 2;
        tl::range(n, 0, 1, [&] { v = 6, p += 1; });
        tl::store(y, v);
        tl::store(y + 1, tl::load(p));
      }),
      assigning("counting_down", {321, 420, 42, 3, 0}, [](In x, N n, In y) {
        Value v = 0, w = 0, u = 0, none = 0;
        tl::range(3, 0, -1, [&](auto i) { v = v * 10 + i; });
        tl::range(n, -1, tl::load(x) - 2, [&](auto i) { w = w * 10 + i; });
        tl::range(n, 0, -2, [&](auto i) { u = u * 10 + i; });
        tl::range(0, 10, -1, [&] { none += 1; });
        tl::store(y, v);
        tl::store(y + 1, w);
        tl::store(y + 2, u);
        Value edge = 0;
        tl::range(INT32_MIN + 2, INT32_MIN, -1, [&] { edge += 1; });
        tl::range(tl::load(x) + INT32_MAX, INT32_MAX - 1, tl::load(x) - 5, [&] { edge += 1; });
        tl::store(y + 3, edge);
        tl::store(y + 4, none);
      }),
  };
}

}  // namespace

Kernels control_kernels() {
  Kernels all = assigning_kernels();
  Kernels others = {
      early_return(), barrier_in_a_branch(), nested_branches(), swapped_tiles(64), swapped_tiles(33), carried_shapes(), loaded_bounds(), scalar_while(),
      carried_pointer(), carried_pointer_tile(), chosen_pointer(), branch_in_a_loop(), three_dimensional_grid(), tiles_across_a_loop(), reversed_in_a_loop(),
  };
  all.insert(all.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return all;
}

}  // namespace strider::lowering
