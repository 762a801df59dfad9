// SPDX-License-Identifier: Apache-2.0
// Dropout without a stored mask: whether element i is kept follows from the seed and i alone (Philox), so that the backward
// pass, another block size and another device draw the same numbers.
#pragma once

#include <strider/strider.h>

namespace strider::kernels {

namespace st = strider;

/// Elements are zero with probability p, and the others are divided by 1 - p.
inline const st::Kernel& dropout() {
  static const st::Kernel kernel = st::kernel("dropout", [](tl::Ptr<> x, tl::Ptr<> out, tl::f32 p, tl::i64 seed, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    auto kept = tl::rand(seed, i) > p;
    auto v = tl::load(x + i, i < n).to(st::f32);
    tl::store(out + i, tl::where(kept, v / (1.0f - p), 0.0f).to(out.dtype()), i < n);
  }, {{"x", "out", "p", "seed", "n"}});
  return kernel;
}

}  // namespace strider::kernels
