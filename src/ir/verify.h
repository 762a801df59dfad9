// SPDX-License-Identifier: Apache-2.0
// Checks that a function is what a form promises; docs/ir.md says what that is. Passes run it after themselves in tests.
#pragma once

#include <string_view>

#include "ir/function.h"

namespace strider::ir {

enum class Form : uint8_t { Tile, Scheduled, Lanes };

inline constexpr int kMaxThreads = 1024;         // of a program
inline constexpr int64_t kMaxScratch = INT32_MAX;  // bytes of a program
inline constexpr int64_t kMaxLanes = 64;         // of a vector in lane form

/// Throws an internal error that prints the offending line.
void verify(const Function& f, Form form);

/// The rules of one node that hold in every form and need no context. Throws a user error that names the op.
void check_node(const Function& f, Value v);

/// A user error if it is no function for Function::helpers.
void check_helper(const Function& helper);

/// How many regions an op holds.
int region_count(Op op);

}  // namespace strider::ir
