// SPDX-License-Identifier: Apache-2.0
// What the library's functions on tensors share with those who launch the same kernels. The kernels themselves are worked
// examples: include/strider/kernels/.
#pragma once

#include <cstdint>

namespace strider {
class Device;
}

namespace strider::inline v0::ops {

int64_t sum_block(const Device& device);  // elements of a program that sums: on a CPU enough for long streams of reads

}  // namespace strider::v0::ops
