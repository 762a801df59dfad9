// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels.h"

#include <bit>
#include <limits>

#include "backend/backend.h"
#include "base/error.h"

#include <strider/ops.h>

namespace strider::inline v0::ops {
namespace {

using Block = tl::Const<"BLOCK">;

/// Made at the first use and never destroyed.
template <class F>
const Kernel& make(std::string_view name, F f, std::vector<std::string> names) {
  static const Kernel& k = *new Kernel(kernel(name, f, {std::move(names)}));
  return k;
}

}  // namespace

const Kernel& vector_add_kernel() {
  return make("vector_add", [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Ptr<float> out, tl::i64 n, Block block) {
    auto i = tl::program_id(0).to(i64) * block + tl::arange(0, block);
    auto mask = i < n;
    tl::store(out + i, tl::load(x + i, mask) + tl::load(y + i, mask), mask);
  }, {"x", "y", "out", "n"});
}

const Kernel& l1_norm_kernel() {
  return make("l1_norm", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, Block block) {
    auto i = tl::program_id(0).to(i64) * block + tl::arange(0, block);
    tl::atomic_add(out, tl::sum(tl::abs(tl::load(x + i, i < n, 0.0f))));
  }, {"x", "out", "n"});
}

int64_t sum_block(const Device& device) { return device.target().max_threads == 1 ? 16384 : 4096; }

const Kernel& softmax_kernel() {
  return make("softmax", [](tl::Ptr<> x, tl::Ptr<> out, tl::i64 x_stride, tl::i64 out_stride, tl::i32 columns, Block block) {
    auto row = tl::program_id(0).to(i64);
    auto j = tl::arange(0, block);
    auto mask = j < columns;
    auto v = tl::load(x + row * x_stride + j, mask, -std::numeric_limits<float>::infinity()).to(f32);
    auto e = tl::exp(v - tl::max(v));
    tl::store(out + row * out_stride + j, (e / tl::sum(e)).to(out.dtype()), mask);
  }, {"x", "out", "x_stride", "out_stride", "columns"});
}

const Kernel& layer_norm_kernel() {
  return make("layer_norm", [](tl::Ptr<> x, tl::Ptr<> weight, tl::Ptr<> bias, tl::Ptr<> out, tl::i64 x_stride, tl::i64 out_stride,
                               tl::i32 columns, tl::f32 epsilon, Block block) {
    auto row = tl::program_id(0).to(i64);
    auto j = tl::arange(0, block);
    auto mask = j < columns;
    auto v = tl::load(x + row * x_stride + j, mask, 0.0f).to(f32);
    auto centred = tl::where(mask, v - tl::sum(v) / columns.to(f32), 0.0f);
    auto variance = tl::sum(centred * centred) / columns.to(f32);
    auto w = tl::load(weight + j, mask).to(f32), b = tl::load(bias + j, mask).to(f32);
    auto y = centred / tl::sqrt(variance + epsilon) * w + b;
    tl::store(out + row * out_stride + j, y.to(out.dtype()), mask);
  }, {"x", "weight", "bias", "out", "x_stride", "out_stride", "columns", "epsilon"});
}

// --- on tensors

namespace {

void check_rows(std::string_view what, const TensorView& x) {
  if (x.rank() != 2) user_error("{}: the tensor has shape {}, expected a matrix", what, to_string(x.shape()));
  if (!is_float(x.dtype())) user_error("{}: the tensor is {}, expected floats", what, name_of(x.dtype()));
  if (x.size(1) > 1 && x.strides()[1] != 1)
    user_error("{}: the tensor has strides {}, expected contiguous rows", what, to_string(x.strides()));
}

void check_vector(std::string_view what, std::string_view which, const TensorView& v, int64_t size) {
  if (v.shape() != Dims{size} || (size > 1 && v.strides()[0] != 1))
    user_error("{}: {} has shape {} and strides {}, expected {} contiguous elements", what, which, to_string(v.shape()),
               to_string(v.strides()), size);
}

int64_t block_for(int64_t columns) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns))); }

}  // namespace

Tensor l1_norm(const TensorView& x) {
  if (x.dtype() != DType::F32 || !x.is_contiguous()) user_error("l1_norm: expected a contiguous tensor of f32");
  Tensor out = zeros({}, {x.dtype(), x.device()});
  int64_t n = x.elements(), block = sum_block(x.device_object());
  if (n > 0) l1_norm_kernel()[cdiv(n, block)](x, out, n, {{"BLOCK", block}});
  return out;
}

Tensor softmax(const TensorView& x) {
  check_rows("softmax", x);
  Tensor out = empty(x.shape(), {x.dtype(), x.device()});
  if (x.elements() == 0) return out;
  softmax_kernel()[x.size(0)](x, out, x.strides()[0], out.strides()[0], x.size(1), {{"BLOCK", block_for(x.size(1))}});
  return out;
}

Tensor layer_norm(const TensorView& x, const TensorView& weight, const TensorView& bias, double epsilon) {
  check_rows("layer_norm", x);
  check_vector("layer_norm", "weight", weight, x.size(1));
  check_vector("layer_norm", "bias", bias, x.size(1));
  Tensor out = empty(x.shape(), {x.dtype(), x.device()});
  if (x.elements() == 0) return out;
  layer_norm_kernel()[x.size(0)](x, weight, bias, out, x.strides()[0], out.strides()[0], x.size(1), epsilon,
                                               {{"BLOCK", block_for(x.size(1))}});
  return out;
}

}  // namespace strider::v0::ops
