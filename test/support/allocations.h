// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace strider::test {

// Returns how often the calling thread has called operator new so far.
int64_t allocation_count();

}  // namespace strider::test
