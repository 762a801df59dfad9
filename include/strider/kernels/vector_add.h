// SPDX-License-Identifier: Apache-2.0
// The first kernel anyone writes: out = x + y on vectors of any float or integer dtype.
#pragma once

#include <strider/strider.h>

namespace strider::kernels {

namespace st = strider;

inline const st::Kernel& vector_add() {
  static const st::Kernel kernel = st::kernel("vector_add", [](tl::Ptr<> x, tl::Ptr<> y, tl::Ptr<> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    auto inside = i < n;
    tl::store(out + i, tl::load(x + i, inside) + tl::load(y + i, inside), inside);
  }, {{"x", "y", "out", "n"}});
  return kernel;
}

}  // namespace strider::kernels
