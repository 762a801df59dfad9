// SPDX-License-Identifier: Apache-2.0
// The peer's side: the same maths by libtorch, on the memory of Strider's tensors. No libtorch type appears here.
#pragma once

#include <memory>

#include "testing/runner.h"

namespace strider::peers {

std::unique_ptr<testing::Peer> make_torch();

}  // namespace strider::peers
