// SPDX-License-Identifier: Apache-2.0
// Products, extremes and their indices, truth values, exclusive ors; of lines along an axis and of whole tiles.
#include <cmath>

#include "lowering/kernels.h"
#include "lowering/shapes.h"

namespace strider::lowering {

namespace {

constexpr int kAll = -1;  // no axis: all of them

struct Folded {
  Sizes shape;
  int axis;
  bool keep = false;

  tl::FoldAxis fold_axis() const { return axis == kAll ? tl::FoldAxis(tl::all_axes) : tl::FoldAxis(axis); }
  /// The elements of what a fold gives.
  tl::Tile results() const {
    Sizes left = shape;
    if (keep && axis == kAll) left.assign(shape.size(), 1);
    else if (keep) left[static_cast<size_t>(axis)] = 1;
    else if (axis == kAll) left.clear();
    else left.erase(left.begin() + axis);
    return row_major(left);
  }
  std::string text() const {
    return text_of(shape) + (axis == kAll ? "_all_axes" : "_axis_" + std::to_string(axis)) + (keep ? "_kept" : "");
  }
};

/// A fold of the reference: each line from its first element on.
template <class F>
void each_line(Reference& r, const Folded& f, int argument, F combine) {
  LinesAlong lines(f.shape, f.axis);
  for (int64_t line = 0; line < lines.count; ++line) {
    Real folded = r.in(0, lines.at(line, 0));
    for (int64_t i = 1; i < lines.length; ++i) folded = combine(folded, r.in(0, lines.at(line, i)));
    r.set(argument, line, folded);
  }
}

/// Exact in every dtype: powers of two that stay small, and small numbers.
template <class T>
Argument factors(int64_t count) {
  return formula<T>(count, [](int64_t i) -> Real {
    if (!is_float(dtype_of<T>)) return i % 7 == 3 ? 2 : 1;
    const Real cycle[] = {2, 0.5, -1, 1, 0.25, 4};
    return cycle[i % 6];
  });
}

template <class T, class R>
Kernel totals(const Folded& f) {
  int64_t count = count_of(f.shape), lines = LinesAlong(f.shape, f.axis).count;
  return kernel(
      "sum_and_prod_of_" + word_of<T>() + "_" + f.text(), {1, 1, 1}, {factors<T>(count), output<R>(lines), output<R>(lines)},
      [f](tl::Ptr<T> x, tl::Ptr<R> sums, tl::Ptr<R> products) {
        auto v = tl::load(x + row_major(f.shape));
        tl::store(sums + f.results(), tl::sum(v, f.fold_axis(), f.keep));
        tl::store(products + f.results(), tl::prod(v, f.fold_axis(), f.keep));
      },
      [f](Reference& r) {
        each_line(r, f, 1, [](Real a, Real b) { return a + b; });
        each_line(r, f, 2, [](Real a, Real b) { return wrapped<R>(a * b); });
      });
}

template <class T>
Kernel extremes(const Folded& f) {
  int64_t count = count_of(f.shape), lines = LinesAlong(f.shape, f.axis).count;
  return kernel(
      "extremes_of_" + word_of<T>() + "_" + f.text(), {1, 1, 1},
      {mixed<T>(count), output<T>(lines), output<T>(lines), output<T>(lines), output<T>(lines)},
      [f](tl::Ptr<T> x, tl::Ptr<T> largest, tl::Ptr<T> smallest, tl::Ptr<T> largest_number, tl::Ptr<T> smallest_number) {
        auto v = tl::load(x + row_major(f.shape));
        auto drop = tl::ExtremeOptions{.keep_dims = f.keep, .nans = tl::nan::drop};
        tl::store(largest + f.results(), tl::max(v, f.fold_axis(), f.keep));
        tl::store(smallest + f.results(), tl::min(v, f.fold_axis(), f.keep));
        tl::store(largest_number + f.results(), tl::max(v, f.fold_axis(), drop));
        tl::store(smallest_number + f.results(), tl::min(v, f.fold_axis(), drop));
      },
      [f](Reference& r) {
        auto carry = [](bool larger) {
          return [larger](Real a, Real b) { return std::isnan(a) || std::isnan(b) ? NAN : (a > b) == larger ? a : b; };
        };
        each_line(r, f, 1, carry(true));
        each_line(r, f, 2, carry(false));
        each_line(r, f, 3, [](Real a, Real b) { return std::fmax(a, b); });
        each_line(r, f, 4, [](Real a, Real b) { return std::fmin(a, b); });
      });
}

/// The index that the documented rule names.
int64_t index_of(const Reference& r, const LinesAlong& lines, int64_t line, bool largest, const tl::ExtremeOptions& o) {
  int64_t best = 0;
  for (int64_t i = 1; i < lines.length; ++i) {
    Real a = r.in(0, lines.at(line, best)), b = r.in(0, lines.at(line, i));
    bool equal = a == b || (std::isnan(a) && std::isnan(b));
    bool better = largest ? b > a : b < a;
    if (o.nans == tl::nan::carry) better |= std::isnan(b) && !std::isnan(a);
    else better |= std::isnan(a) && !std::isnan(b);
    if (better || (equal && o.ties == tl::tie::highest)) best = i;
  }
  return best;
}

/// Few different numbers, so that many are equal; some are NaN.
template <class T>
Argument with_ties(int64_t count) {
  return formula<T>(count, [](int64_t i) -> Real {
    if (is_float(dtype_of<T>) && i % 41 == 17) return NAN;
    return is_unsigned_int(dtype_of<T>) || dtype_of<T> == DType::Bool ? i * 7 % 5 : i * 7 % 5 - 2;
  });
}

template <class T>
Kernel indices(const Folded& f, const tl::ExtremeOptions& given) {
  int64_t count = count_of(f.shape), lines = LinesAlong(f.shape, f.axis).count;
  tl::ExtremeOptions o = given;
  o.keep_dims = f.keep;
  bool drops = o.nans == tl::nan::drop, last = o.ties == tl::tie::highest;
  return kernel(
      "indices_of_extremes_of_" + word_of<T>() + "_" + f.text() + (drops ? "_nan_dropped" : "") + (last ? "_last" : ""), {1, 1, 1},
      {with_ties<T>(count), output<int>(lines), output<int>(lines), output<T>(lines), output<T>(lines)},
      [f, o](tl::Ptr<T> x, tl::Ptr<int> first, tl::Ptr<int> second, tl::Ptr<T> largest, tl::Ptr<T> smallest) {
        auto v = tl::load(x + row_major(f.shape));
        auto [best, at] = tl::max_with_indices(v, f.fold_axis(), o);
        tl::store(first + f.results(), at);
        tl::store(largest + f.results(), best);
        tl::store(second + f.results(), tl::argmin(v, f.fold_axis(), o));
        tl::store(smallest + f.results(), tl::min_with_indices(v, f.fold_axis(), o)[0]);
      },
      [f, o](Reference& r) {
        LinesAlong along(f.shape, f.axis);
        for (int64_t line = 0; line < along.count; ++line) {
          int64_t most = index_of(r, along, line, true, o), least = index_of(r, along, line, false, o);
          r.set(1, line, most);
          r.set(2, line, least);
          r.set(3, line, r.in(0, along.at(line, most)));
          r.set(4, line, r.in(0, along.at(line, least)));
        }
      });
}

template <class T>
Kernel truths(const Folded& f) {
  int64_t count = count_of(f.shape), lines = LinesAlong(f.shape, f.axis).count;
  auto value = [lines](int64_t i) -> Real { return i % (lines + 3) == 1 ? 0 : i % 11 == 4 && is_float(dtype_of<T>) ? NAN : i % 3; };
  return kernel(
      "any_and_all_of_" + word_of<T>() + "_" + f.text(), {1, 1, 1}, {formula<T>(count, value), output<bool>(lines), output<bool>(lines)},
      [f](tl::Ptr<T> x, tl::Ptr<bool> some, tl::Ptr<bool> every) {
        auto v = tl::load(x + row_major(f.shape));
        tl::store(some + f.results(), tl::any(v, f.fold_axis(), f.keep));
        tl::store(every + f.results(), tl::all(v, f.fold_axis(), f.keep));
      },
      [f](Reference& r) {
        LinesAlong along(f.shape, f.axis);
        for (int64_t line = 0; line < along.count; ++line) {
          bool some = false, every = true;
          for (int64_t i = 0; i < along.length; ++i) some |= r.in(0, along.at(line, i)) != 0, every &= r.in(0, along.at(line, i)) != 0;
          r.set(1, line, some);
          r.set(2, line, every);
        }
      });
}

template <class T>
Kernel parity(const Folded& f) {
  int64_t count = count_of(f.shape), lines = LinesAlong(f.shape, f.axis).count;
  return kernel(
      "xor_sum_of_" + word_of<T>() + "_" + f.text(), {1, 1, 1}, {mixed<T>(count), output<T>(lines)},
      [f](tl::Ptr<T> x, tl::Ptr<T> y) { tl::store(y + f.results(), tl::xor_sum(tl::load(x + row_major(f.shape)), f.fold_axis(), f.keep)); },
      [f](Reference& r) {
        each_line(r, f, 1, [](Real a, Real b) { return static_cast<Real>(static_cast<T>(static_cast<T>(a) ^ static_cast<T>(b))); });
      });
}

/// The functions of a user over all axes, with two tiles: the mean of pairs by their weights.
Kernel user_fold(const Folded& f) {
  int64_t count = count_of(f.shape), lines = LinesAlong(f.shape, f.axis).count;
  return kernel(
      "weighted_sums_by_reduce_" + f.text(), {1, 1, 1},
      {formula<int>(count, [](int64_t i) { return i % 13 - 5; }), output<int>(lines), output<int>(lines)},
      [f](tl::Ptr<int> x, tl::Ptr<int> sums, tl::Ptr<int> counts) {
        auto v = tl::load(x + row_major(f.shape));
        auto [sum, n] = tl::reduce(
            std::array{v, tl::full_like(v, 1)}, f.fold_axis(), [](auto a, auto n, auto b, auto m) { return std::tuple{a + b, n + m}; }, f.keep);
        tl::store(sums + f.results(), sum);
        tl::store(counts + f.results(), n);
      },
      [f](Reference& r) {
        each_line(r, f, 1, [](Real a, Real b) { return a + b; });
        LinesAlong along(f.shape, f.axis);
        for (int64_t line = 0; line < along.count; ++line) r.set(2, line, along.length);
      });
}

/// Case F4: many trues, narrow integers, and a dtype that is asked for.
Kernel sums_of_narrow() {
  return kernel(
      "sums_of_bools_and_narrow_integers", {1, 1, 1},
      {formula<bool>(1024, [](int64_t) { return 1; }), formula<uint8_t>(2, [](int64_t i) { return i ? 100 : 200; }), output<int>(1),
       output<bool>(1), output<uint32_t>(1), output<int64_t>(1), output<double>(1)},
      [](tl::Ptr<bool> x, tl::Ptr<uint8_t> b, tl::Ptr<int> count, tl::Ptr<bool> some, tl::Ptr<uint32_t> sum, tl::Ptr<int64_t> wide, tl::Ptr<double> real) {
        tl::store(count, tl::sum(tl::load(x + tl::arange(0, 1024))));
        tl::store(some, tl::sum(tl::load(x + tl::arange(0, 256))).to(DType::Bool));
        auto v = tl::load(b + tl::arange(0, 2));
        tl::store(sum, tl::sum(v));
        tl::store(wide, tl::sum(v, tl::all_axes, {.dtype = DType::I64}));
        tl::store(real, tl::prod(v, 0, {.dtype = DType::F64}));
      },
      [](Reference& r) {
        const Real wanted[] = {1024, 1, 300, 300, 20000};
        for (int k = 0; k < 5; ++k) r.set(k + 2, 0, wanted[k]);
      });
}

/// Case F6.
Kernel nan_among_infinities() {
  return kernel(
      "max_of_nan_and_infinities", {1, 1, 1}, {formula<float>(8, [](int64_t i) { return i == 0 ? NAN : INFINITY; }), output<float>(2), output<int>(2)},
      [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<int> at) {
        auto v = tl::load(x + tl::arange(0, 8));
        tl::store(y, tl::max(v));
        tl::store(y + 1, tl::max(v, 0, {.nans = tl::nan::drop}));
        tl::store(at, tl::argmax(v, 0));
        tl::store(at + 1, tl::argmax(v, 0, {.nans = tl::nan::drop}));
      },
      [](Reference& r) {
        r.set(1, 0, NAN), r.set(1, 1, INFINITY);
        r.set(2, 0, 0), r.set(2, 1, 1);
      });
}

// --- scans

template <class T, class R>
Kernel running(const Sizes& shape, int axis, bool reverse) {
  int64_t count = count_of(shape);
  return kernel(
      "running_sums_and_products_of_" + word_of<T>() + "_" + text_of(shape) + "_axis_" + std::to_string(axis) + (reverse ? "_reversed" : ""),
      {1, 1, 1}, {factors<T>(count), output<R>(count), output<R>(count)},
      [shape, axis, reverse](tl::Ptr<T> x, tl::Ptr<R> sums, tl::Ptr<R> products) {
        auto i = row_major(shape);
        auto v = tl::load(x + i);
        tl::store(sums + i, tl::cumsum(v, axis, reverse));
        tl::store(products + i, tl::cumprod(v, axis, reverse).to(dtype_of<R>));
      },
      [shape, axis, reverse](Reference& r) {
        LinesAlong along(shape, axis);
        for (int64_t line = 0; line < along.count; ++line) {
          Real sum = 0, product = 1;
          for (int64_t k = 0; k < along.length; ++k) {
            int64_t at = along.at(line, reverse ? along.length - 1 - k : k);
            r.set(1, at, sum += r.in(0, at));
            r.set(2, at, product = wrapped<T>(product * r.in(0, at)));
          }
        }
      });
}

/// Not commutative: of each pair the left value, unless the right one is marked.
Kernel last_marked(int n, bool reverse) {
  return kernel(
      std::string("last_marked_by_associative_scan") + (reverse ? "_reversed_" : "_") + std::to_string(n), {1, 1, 1},
      {formula<int>(n, [](int64_t i) { return i * 31 % 101; }), output<int>(n), output<int>(n)},
      [n, reverse](tl::Ptr<int> x, tl::Ptr<int> values, tl::Ptr<int> places) {
        auto i = tl::arange(0, n);
        auto v = tl::load(x + i);
        auto marked = v % 4 == 0;
        auto [m, value, place] = tl::associative_scan(
            std::array{marked, v, i}, 0,
            [](auto m, auto v, auto i, auto n, auto w, auto j) { return std::tuple{m | n, tl::where(n, w, v), tl::where(n, j, i)}; }, reverse);
        tl::store(values + i, tl::where(m, value, -1));
        tl::store(places + i, place);
      },
      [n, reverse](Reference& r) {
        int64_t last = reverse ? n - 1 : 0;
        bool any = false;
        for (int64_t k = 0; k < n; ++k) {
          int64_t i = reverse ? n - 1 - k : k;
          if (static_cast<int>(r.in(0, i)) % 4 == 0) last = i, any = true;
          r.set(1, i, any ? r.in(0, last) : -1);
          r.set(2, i, last);
        }
      });
}

}  // namespace

Kernels fold_kernels() {
  Kernels all{sums_of_narrow(), nan_among_infinities()};
  auto add = [&](Kernel k) { all.push_back(std::move(k)); };
  add(totals<float, float>({{257}, 0}));
  add(totals<Half, Half>({{3, 33}, 1, true}));
  add(totals<BFloat16, BFloat16>({{4, 8, 3}, 1}));
  add(totals<double, double>({{5, 7, 2}, kAll, true}));
  add(totals<int8_t, int32_t>({{33}, kAll}));
  add(totals<uint16_t, uint32_t>({{16, 4}, 0}));
  add(totals<int64_t, int64_t>({{3}, 0, true}));
  add(totals<float, float>({{}, kAll}));
  add(extremes<float>({{257}, 0}));
  add(extremes<float>({{64, 8}, 0, true}));
  add(extremes<Half>({{3, 33}, 1}));
  add(extremes<BFloat16>({{3, 5, 6}, kAll}));
  add(extremes<double>({{4, 8, 16}, 1}));
  add(extremes<int8_t>({{257}, kAll}));
  add(extremes<uint64_t>({{2, 3, 7}, 0, true}));
  add(extremes<bool>({{33, 2}, 0}));
  add(indices<float>({{257}, 0}, {}));
  add(indices<float>({{257}, 0}, {.nans = tl::nan::drop}));
  add(indices<float>({{64, 8}, 0, true}, {.ties = tl::tie::highest}));
  add(indices<Half>({{3, 5, 7}, kAll, true}, {}));
  add(indices<int16_t>({{4, 33}, 1}, {.ties = tl::tie::highest}));
  add(indices<bool>({{3, 4, 8}, 2}, {}));
  add(indices<uint32_t>({{1}, 0}, {}));
  add(truths<float>({{33}, 0}));
  add(truths<int64_t>({{3, 64}, 1, true}));
  add(truths<bool>({{2, 3, 33}, kAll}));
  add(truths<Half>({{4, 8, 2}, 0}));
  add(parity<int>({{257}, 0}));
  add(parity<uint8_t>({{3, 33}, 0, true}));
  add(parity<bool>({{2, 3, 5}, kAll}));
  for (const Folded& f : {Folded{{257}, kAll}, Folded{{3, 33}, kAll, true}, Folded{{2, 8, 3}, kAll}, Folded{{5, 6}, 0, true}, Folded{{}, kAll}})
    add(user_fold(f));
  add(running<float, float>({33}, 0, false));
  add(running<float, float>({3, 16}, 1, true));
  add(running<BFloat16, float>({3, 5, 4}, 1, true));
  add(running<int8_t, int32_t>({257}, 0, true));
  add(running<double, double>({1}, 0, true));
  for (bool reverse : {false, true}) add(last_marked(100, reverse));
  add(last_marked(3, true));
  return all;
}

}  // namespace strider::lowering
