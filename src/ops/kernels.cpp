// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels.h"

#include <bit>

#include "backend/backend.h"
#include "base/error.h"

#include <strider/ops.h>
#include <strider/kernels/l1_norm.h>
#include <strider/kernels/layer_norm.h>
#include <strider/kernels/softmax.h>

namespace strider::inline v0::ops {

int64_t sum_block(const Device& device) { return device.target().costs.fold_elements; }

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
  if (n > 0) kernels::l1_norm()[cdiv(n, block)](x, out, n, {{"BLOCK", block}});
  return out;
}

Tensor softmax(const TensorView& x) {
  check_rows("softmax", x);
  Tensor out = empty(x.shape(), {x.dtype(), x.device()});
  if (x.elements() == 0) return out;
  kernels::softmax()[x.size(0)](x, out, x.strides()[0], out.strides()[0], x.size(1), {{"BLOCK", block_for(x.size(1))}});
  return out;
}

Tensor layer_norm(const TensorView& x, const TensorView& weight, const TensorView& bias, double epsilon) {
  check_rows("layer_norm", x);
  check_vector("layer_norm", "weight", weight, x.size(1));
  check_vector("layer_norm", "bias", bias, x.size(1));
  Tensor out = empty(x.shape(), {x.dtype(), x.device()});
  if (x.elements() == 0) return out;
  kernels::layer_norm()[x.size(0)](x, weight, bias, out, x.strides()[0], out.strides()[0], x.size(1), epsilon,
                                               {{"BLOCK", block_for(x.size(1))}});
  return out;
}

}  // namespace strider::v0::ops
