// SPDX-License-Identifier: Apache-2.0
// Softmax of each row: a program holds a whole row, so memory is read and written once.
#pragma once

#include <limits>

#include <strider/strider.h>

namespace strider::kernels {

namespace st = strider;

/// BLOCK is at least `columns`. Lanes past the row read -inf, whose exponential is 0.
inline const st::Kernel& softmax() {
  static const st::Kernel kernel = st::kernel("softmax", [](tl::Ptr<> x, tl::Ptr<> out, tl::i64 x_stride, tl::i64 out_stride, tl::i32 columns,
                                                            tl::Const<"BLOCK"> BLOCK) {
    auto row = tl::program_id(0).to(st::i64);
    auto j = tl::arange(0, BLOCK);
    auto inside = j < columns;
    auto v = tl::load(x + row * x_stride + j, inside, -std::numeric_limits<float>::infinity()).to(st::f32);
    auto e = tl::exp(v - tl::max(v));
    tl::store(out + row * out_stride + j, (e / tl::sum(e)).to(out.dtype()), inside);
  }, {{"x", "out", "x_stride", "out_stride", "columns"}});
  return kernel;
}

}  // namespace strider::kernels
