// SPDX-License-Identifier: Apache-2.0
// Huber's loss of each element: half the square of the error where that is at most delta, and a line beyond.
#pragma once

#include <strider/strider.h>

namespace strider::kernels {

namespace st = strider;

inline const st::Kernel& huber() {
  static const st::Kernel kernel = st::kernel("huber", [](tl::Ptr<> x, tl::Ptr<> target, tl::Ptr<> out, tl::f32 delta, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    auto error = tl::abs(tl::load(x + i, i < n).to(st::f32) - tl::load(target + i, i < n).to(st::f32));
    auto loss = tl::where(error <= delta, 0.5f * error * error, delta * (error - 0.5f * delta));
    tl::store(out + i, loss.to(out.dtype()), i < n);
  }, {{"x", "target", "out", "delta", "n"}});
  return kernel;
}

}  // namespace strider::kernels
