// SPDX-License-Identifier: Apache-2.0
// out = |x|, and the kernel it is measured against: out = x. Both move the same bytes, and take the same time.
#pragma once

#include <strider/strider.h>

namespace strider::kernels {

namespace st = strider;

inline const st::Kernel& abs() {
  static const st::Kernel kernel = st::kernel("abs", [](tl::Ptr<> x, tl::Ptr<> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    tl::store(out + i, tl::abs(tl::load(x + i, i < n)), i < n);
  }, {{"x", "out", "n"}});
  return kernel;
}

inline const st::Kernel& identity() {
  static const st::Kernel kernel = st::kernel("identity", [](tl::Ptr<> x, tl::Ptr<> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    tl::store(out + i, tl::load(x + i, i < n), i < n);
  }, {{"x", "out", "n"}});
  return kernel;
}

}  // namespace strider::kernels
