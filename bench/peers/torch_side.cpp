// SPDX-License-Identifier: Apache-2.0
#include "torch_side.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/api/include/torch/version.h>

namespace strider::peers {
namespace {

at::Tensor wrap(const TensorView& t) {
  at::IntArrayRef shape(t.shape().data(), static_cast<size_t>(t.rank())),
      strides(t.strides().data(), static_cast<size_t>(t.rank()));
  return at::from_blob(t.data(), shape, strides, at::TensorOptions(at::kFloat));
}

}  // namespace

std::string torch_version() { return TORCH_VERSION; }

void set_up_torch(int threads) {
  at::set_num_threads(threads);
  c10::GradMode::set_enabled(false);
}

void torch_copy(const TensorView& x, const TensorView& out) { wrap(out).copy_(wrap(x)); }

void torch_add(const TensorView& x, const TensorView& y, const TensorView& out) {
  at::Tensor result = wrap(out);
  at::add_out(result, wrap(x), wrap(y));
}

void torch_gelu(const TensorView& x, const TensorView& out) {
  at::Tensor result = wrap(out);
  at::gelu_out(result, wrap(x));
}

void torch_softmax(const TensorView& x, const TensorView& out) {
  at::Tensor result = wrap(out);
  at::_softmax_out(result, wrap(x), -1, false);
}

}  // namespace strider::peers
