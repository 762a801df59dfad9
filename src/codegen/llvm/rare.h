// SPDX-License-Identifier: Apache-2.0
// `where(common, fast, slow)` with the flag kLikely: what only `slow` needs is put behind a branch that is taken when not all
// lanes are common. The values are the same; a program just skips, nearly always, code like the reduction of huge angles.
#pragma once

#include <vector>

#include "ir/function.h"

namespace strider::codegen {

/// Choices by one condition, made at the place of the first.
struct RareCode {
  ir::Value condition;
  std::vector<ir::Value> choices;  // all kLikely, in order
  std::vector<ir::Value> slow;     // what nobody else uses, in order
  std::vector<ir::Value> before;   // pure values that stand after the first choice but are needed for it, in order
};

/// What to do at each value.
struct RarePlan {
  std::vector<RareCode> codes;
  std::vector<int> code_of;     // by ir::Value: the code that starts at this choice, or -1
  std::vector<bool> is_placed;  // by ir::Value: written as part of a code, not where it stands
};

RarePlan plan_rare_code(const ir::Function& f);

}  // namespace strider::codegen
