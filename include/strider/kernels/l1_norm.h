// SPDX-License-Identifier: Apache-2.0
// The sum of |x|, in two ways. `l1_norm` adds each program's part to one number with an atomic: short, and every program waits
// for that number's cache line. `l1_norm_parts` stores the parts, and `sum_parts`, a single program, adds them up: nobody
// waits, and the order of the additions, and so the result, is always the same.
#pragma once

#include <strider/strider.h>

namespace strider::kernels {

namespace st = strider;

/// Adds to `out`, which the caller sets to zero before.
inline const st::Kernel& l1_norm() {
  static const st::Kernel kernel = st::kernel("l1_norm", [](tl::Ptr<> x, tl::Ptr<float> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    tl::atomic_add(out, tl::sum(tl::abs(tl::load(x + i, i < n, 0).to(st::f32))));
  }, {{"x", "out", "n"}});
  return kernel;
}

inline const st::Kernel& l1_norm_parts() {
  static const st::Kernel kernel = st::kernel("l1_norm_parts", [](tl::Ptr<> x, tl::Ptr<float> parts, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto program = tl::program_id(0).to(st::i64);
    auto i = program * BLOCK + tl::arange(0, BLOCK);
    tl::store(parts + program, tl::sum(tl::abs(tl::load(x + i, i < n, 0).to(st::f32))));
  }, {{"x", "parts", "n"}});
  return kernel;
}

/// One program.
inline const st::Kernel& sum_parts() {
  static const st::Kernel kernel = st::kernel("sum_parts", [](tl::Ptr<float> parts, tl::Ptr<float> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto j = tl::arange(0, BLOCK);
    auto sums = tl::range(0, n, BLOCK, tl::zeros<float>({BLOCK}), [&](auto begin, auto sums) {
      return sums + tl::load(parts + begin + j, begin + j < n, 0);
    });
    tl::store(out, tl::sum(sums));
  }, {{"parts", "out", "n"}});
  return kernel;
}

}  // namespace strider::kernels
