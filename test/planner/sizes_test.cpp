// SPDX-License-Identifier: Apache-2.0
// How many kernels the sizes of tensors can make. Numbers make none. For tensors that lie alike the code depends on sizes by the
// shape of the block alone, of which a layout has at most 9, and by two thresholds: large outputs bypass the caches, and offsets
// beyond 32 bits are counted in 64.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include <strider/strider.h>

#include "backend/backend.h"
#include "planner/plan.h"

namespace st = strider;

namespace strider::planner {
namespace {

constexpr size_t kMostBlocks = 9;

struct Layouts {
  const char* name;
  Dims (*left)(int64_t m, int64_t n);
  Dims (*right)(int64_t m, int64_t n);
};

Dims rows(int64_t, int64_t n) { return {n, 1}; }
Dims apart(int64_t, int64_t n) { return {n + 8, 1}; }
Dims turned(int64_t m, int64_t) { return {1, m}; }
Dims row(int64_t, int64_t) { return {0, 1}; }

const Layouts kLayouts[] = {{"flat", rows, rows}, {"a row for all", rows, row}, {"rows apart", apart, apart}, {"transposed", rows, turned}};

std::string key_of(const Layouts& layout, int64_t m, int64_t n, const Target& target) {
  Dims shape{m, n}, out = rows(m, n), left = layout.left(m, n), right = layout.right(m, n);
  auto at = [](uintptr_t k) { return reinterpret_cast<const void*>(k << 50); };
  const Operand operands[] = {{Role::Output, f32, at(1), &shape, &out}, {Role::Input, f32, at(2), &shape, &left},
                              {Role::Input, f32, at(3), &shape, &right}};
  Plan p = plan(operands, target);
  return std::string(reinterpret_cast<const char*>(&p.key), p.key.bytes());
}

TEST(Sizes, MakeAsManyKernelsAsThereAreBlocks) {
  for (const char* name : {"cpu", "cuda:sm_90"}) {
    Target target = target_named(name);
    for (const Layouts& layout : kLayouts) {
      std::set<std::string> keys;
      // Multiples of 16, so that alignment, which is no matter of size, stays; up to 8 MiB of output.
      for (int64_t m = 16; m <= 4096; m = m * 5 / 4 / 16 * 16 + 16)
        for (int64_t n = 16; m * n <= (int64_t{2} << 20); n = n * 9 / 8 / 16 * 16 + 16) keys.insert(key_of(layout, m, n, target));
      EXPECT_LE(keys.size(), layout.name == std::string("flat") ? 1 : kMostBlocks) << name << ", " << layout.name;
    }
  }
}

TEST(Sizes, CompileNoMoreThanThat) {
  auto op = st::pointwise("sizes_alone", [](auto x, auto y) { return x * 3 + y; });
  int64_t before = st::stats().compiles + st::stats().disk_hits;
  for (int64_t m = 2; m < 300; m += 37)
    for (int64_t n = 2; n < 400; n += 57) op(st::zeros({m, n}), st::zeros({n}));
  int64_t made = st::stats().compiles + st::stats().disk_hits - before;
  EXPECT_GE(made, 1);
  EXPECT_LE(made, static_cast<int64_t>(kMostBlocks));
}

}  // namespace
}  // namespace strider::planner
