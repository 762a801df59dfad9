// SPDX-License-Identifier: Apache-2.0
// Layer normalisation of each row: its mean and variance become 0 and 1, then a weight and a bias for each column.
#pragma once

#include <strider/strider.h>

namespace strider::kernels {

namespace st = strider;

/// BLOCK is at least `columns`. The variance is that of the centred values, not a difference of two large sums.
inline const st::Kernel& layer_norm() {
  static const st::Kernel kernel = st::kernel("layer_norm", [](tl::Ptr<> x, tl::Ptr<> weight, tl::Ptr<> bias, tl::Ptr<> out, tl::i64 x_stride,
                                                               tl::i64 out_stride, tl::i32 columns, tl::f32 epsilon, tl::Const<"BLOCK"> BLOCK) {
    auto row = tl::program_id(0).to(st::i64);
    auto j = tl::arange(0, BLOCK);
    auto inside = j < columns;
    auto v = tl::load(x + row * x_stride + j, inside, 0).to(st::f32);
    auto centred = tl::where(inside, v - tl::sum(v) / columns.to(st::f32), 0.0f);
    auto variance = tl::sum(centred * centred) / columns.to(st::f32);
    auto w = tl::load(weight + j, inside).to(st::f32), b = tl::load(bias + j, inside).to(st::f32);
    tl::store(out + row * out_stride + j, (centred / tl::sqrt(variance + epsilon) * w + b).to(out.dtype()), inside);
  }, {{"x", "weight", "bias", "out", "x_stride", "out_stride", "columns", "epsilon"}});
  return kernel;
}

}  // namespace strider::kernels
