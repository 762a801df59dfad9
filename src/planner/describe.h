// SPDX-License-Identifier: Apache-2.0
// A plan in words: what the planner made of the operands.
#pragma once

#include <span>
#include <string>

#include "planner/plan.h"

namespace strider::planner {

/// `names` are those of the operands, outputs first.
std::string describe(const Plan& plan, std::span<const std::string> names);

}  // namespace strider::planner
