// SPDX-License-Identifier: Apache-2.0
// The peer's side: the same maths by libtorch, on the memory of Strider's tensors. No libtorch type appears here.
#pragma once

#include <string>

#include <strider/tensor.h>

namespace strider::peers {

std::string torch_version();
/// How many threads libtorch uses, and that it keeps no gradients.
void set_up_torch(int threads);

void torch_copy(const TensorView& x, const TensorView& out);
void torch_add(const TensorView& x, const TensorView& y, const TensorView& out);
void torch_gelu(const TensorView& x, const TensorView& out);
void torch_softmax(const TensorView& x, const TensorView& out);  // along the last axis

}  // namespace strider::peers
