// SPDX-License-Identifier: Apache-2.0
// Comparisons run on the host, in parallel; each thread keeps the first difference that it met.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "backend/backend.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "base/thread_pool.h"
#include "ir/print.h"
#include "ir/semantics.h"
#include "tensor/compare.h"

#include <strider/compare.h>

namespace strider {
namespace {

/// |a - b| of integers of any two dtypes, rounded once.
double integer_distance(DType ta, uint64_t a, DType tb, uint64_t b) {
  __extension__ typedef __int128 Wide;
  auto wide = [](DType t, uint64_t bits) { return t == DType::U64 ? Wide{bits} : Wide{ir::int_of_bits(t, bits)}; };
  Wide distance = wide(ta, a) - wide(tb, b);
  return static_cast<double>(distance < 0 ? -distance : distance);
}

}  // namespace

double distance(DType ta, uint64_t a, DType tb, uint64_t b) {
  if (!is_float(ta) && !is_float(tb)) return integer_distance(ta, a, tb, b);
  double x = ir::double_of_bits(ta, a), y = ir::double_of_bits(tb, b);
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  return std::fabs(x - y);
}

bool Tolerance::accepts(DType ta, uint64_t a, DType tb, uint64_t b) const {
  double y = ir::double_of_bits(tb, b);
  if (std::isnan(y)) return equal_nan && std::isnan(ir::double_of_bits(ta, a));
  double d = distance(ta, a, tb, b);
  return d == 0 || (std::isfinite(y) && d <= atol + rtol * std::fabs(y));
}

Tolerance checked_tolerance(double rtol, double atol, bool equal_nan) {
  if (!(rtol >= 0) || !(atol >= 0)) user_error("the tolerances are {} and {}, expected 0 or more", rtol, atol);
  return {rtol, atol, equal_nan};
}

Dims index_of(int64_t i, const Dims& shape) {
  Dims index = Dims::filled(shape.rank(), 0);
  for (int k = shape.rank() - 1; k >= 0; --k) {
    index[k] = i % shape[k];
    i /= shape[k];
  }
  return index;
}

}  // namespace strider

namespace strider::inline v0 {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements worth a thread

void check_shapes(std::string_view what, const TensorView& a, const TensorView& b) {
  if (a.shape() != b.shape()) user_error("{}: the shapes {} and {} differ", what, to_string(a.shape()), to_string(b.shape()));
}

/// The least index below `count` at which `differs`, or -1.
template <class F>
int64_t find_first(int64_t count, int64_t grain, const F& differs) {
  std::atomic<int64_t> first{count};
  parallel_for(count, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end && i < first.load(std::memory_order_relaxed); ++i) {
      if (!differs(i)) continue;
      int64_t seen = first.load(std::memory_order_relaxed);
      while (i < seen && !first.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
      }
      return;
    }
  });
  return first == count ? -1 : first.load();
}

int64_t first_far(const Rows& x, const Rows& y, int64_t count, const Tolerance& tolerance) {
  return find_first(count, kGrain, [&](int64_t i) { return !tolerance.accepts(x.dtype(), x[i], y.dtype(), y[i]); });
}

/// Bits are compared in blocks; only the first block that differs is looked at closely.
int64_t first_unequal(const Rows& x, const Rows& y, int64_t count) {
  constexpr int64_t kBlock = 4096;
  auto end = [&](int64_t block) { return std::min(count, (block + 1) * kBlock); };
  int64_t block = find_first((count + kBlock - 1) / kBlock, kGrain / kBlock,
                             [&](int64_t b) { return !x.same_bits(y, b * kBlock, end(b)); });
  if (block < 0) return -1;
  int64_t i = block * kBlock;
  while (x[i] == y[i]) ++i;
  return i;
}

std::optional<Difference> difference_at(int64_t i, const Dims& shape, const Rows& x, const Rows& y) {
  if (i < 0) return std::nullopt;
  return Difference{index_of(i, shape), ir::print_element(x.dtype(), x[i]), ir::print_element(y.dtype(), y[i])};
}

}  // namespace

bool equal(const TensorView& a, const TensorView& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  return !first_difference(a, b);
}

bool all_close(const TensorView& a, const TensorView& b, double rtol, double atol, bool equal_nan) {
  return !first_difference(a, b, rtol, atol, equal_nan);
}

double max_abs_difference(const TensorView& a, const TensorView& b) {
  const DefaultFloatEnvironment environment;
  check_shapes("max_abs_difference", a, b);
  Rows x(a), y(b);
  double most = 0;
  std::mutex mutex;
  parallel_for(a.elements(), kGrain, [&](int64_t begin, int64_t end, int) {
    double here = 0;
    for (int64_t i = begin; i < end; ++i) {
      double d = distance(x.dtype(), x[i], y.dtype(), y[i]);
      here = std::isnan(here) || d <= here ? here : d;
    }
    std::lock_guard lock(mutex);
    most = std::isnan(most) || here <= most ? most : here;
  });
  return most;
}

std::optional<Difference> first_difference(const TensorView& a, const TensorView& b) {
  check_shapes("first_difference", a, b);
  if (a.dtype() != b.dtype()) user_error("first_difference: the dtypes {} and {} differ", name_of(a.dtype()), name_of(b.dtype()));
  Rows x(a), y(b);
  return difference_at(first_unequal(x, y, a.elements()), a.shape(), x, y);
}

std::optional<Difference> first_difference(const TensorView& a, const TensorView& b, double rtol, double atol, bool equal_nan) {
  const DefaultFloatEnvironment environment;
  Tolerance tolerance = checked_tolerance(rtol, atol, equal_nan);
  check_shapes("first_difference", a, b);
  Rows x(a), y(b);
  return difference_at(first_far(x, y, a.elements(), tolerance), a.shape(), x, y);
}

std::string Difference::text() const { return fmt::format("at {}: {} and {}", to_string(index), a, b); }

}  // namespace strider::v0
