// SPDX-License-Identifier: Apache-2.0
// Reads the text that ir/print.h writes. docs/ir.md has the grammar.
#pragma once

#include <string_view>

#include "ir/function.h"

namespace strider::ir {

/// The function that `text` describes, node by node: nothing is folded or merged. Every node keeps the rules of
/// check_node(); which form it is in is for verify() to say. Throws a user error with line, column, source line and caret.
Function parse(std::string_view text);

}  // namespace strider::ir
