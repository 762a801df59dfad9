// SPDX-License-Identifier: Apache-2.0
// GELU with the error function. The maths is a device function: any C++ function of values is one.
#pragma once

#include <strider/strider.h>

namespace strider::kernels {

namespace st = strider;

/// x times the probability that a normal number is below x.
inline tl::Tile gelu_of(const tl::Tile& x) { return 0.5f * x * (1.0f + tl::erf(x * 0.70710678118654752f)); }

inline const st::Kernel& gelu() {
  static const st::Kernel kernel = st::kernel("gelu", [](tl::Ptr<> x, tl::Ptr<> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    tl::store(out + i, gelu_of(tl::load(x + i, i < n).to(st::f32)).to(out.dtype()), i < n);
  }, {{"x", "out", "n"}});
  return kernel;
}

}  // namespace strider::kernels
