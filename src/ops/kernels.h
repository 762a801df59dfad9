// SPDX-License-Identifier: Apache-2.0
// The library's kernels by hand.
#pragma once

#include <strider/kernel.h>

namespace strider {
class Device;
}

namespace strider::inline v0::ops {

const Kernel& vector_add_kernel();  // x, y, out, n; BLOCK
const Kernel& l1_norm_kernel();     // x, out, n; BLOCK
int64_t sum_block(const Device& device);  // elements of a program that sums: on a CPU enough for long streams of reads
const Kernel& softmax_kernel();     // x, out, x_stride, out_stride, columns; BLOCK >= columns
const Kernel& layer_norm_kernel();  // x, weight, bias, out, x_stride, out_stride, columns, epsilon; BLOCK >= columns

}  // namespace strider::v0::ops
