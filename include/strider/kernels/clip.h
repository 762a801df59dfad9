// SPDX-License-Identifier: Apache-2.0
// Gradient clipping. `clip` bounds each element. Clipping by norm keeps the direction: `square_sum` adds up the squares, and
// `clip_by_norm` multiplies all elements by min(1, limit / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ does.
#pragma once

#include <strider/strider.h>

namespace strider::kernels {

namespace st = strider;

inline const st::Kernel& clip() {
  static const st::Kernel kernel = st::kernel("clip", [](tl::Ptr<> x, tl::Ptr<> out, tl::f32 limit, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    auto v = tl::load(x + i, i < n).to(st::f32);
    tl::store(out + i, tl::clamp(v, -limit, limit).to(out.dtype()), i < n);
  }, {{"x", "out", "limit", "n"}});
  return kernel;
}

/// Adds to `sum`, which the caller sets to zero before.
inline const st::Kernel& square_sum() {
  static const st::Kernel kernel = st::kernel("square_sum", [](tl::Ptr<> x, tl::Ptr<float> sum, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    auto v = tl::load(x + i, i < n, 0).to(st::f32);
    tl::atomic_add(sum, tl::sum(v * v));
  }, {{"x", "sum", "n"}});
  return kernel;
}

inline const st::Kernel& clip_by_norm() {
  static const st::Kernel kernel = st::kernel("clip_by_norm", [](tl::Ptr<> x, tl::Ptr<float> square_sum, tl::Ptr<> out, tl::f32 limit, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    auto scale = tl::minimum(limit / (tl::sqrt(tl::load(square_sum)) + 1e-6f), 1.0f);
    tl::store(out + i, (tl::load(x + i, i < n).to(st::f32) * scale).to(out.dtype()), i < n);
  }, {{"x", "square_sum", "out", "limit", "n"}});
  return kernel;
}

}  // namespace strider::kernels
