// SPDX-License-Identifier: Apache-2.0
// A function as text, in any of its forms; ir/parse.h reads it back. docs/ir.md has the grammar.
#pragma once

#include <string>

#include "base/kit.h"
#include "ir/function.h"

namespace strider::ir {

/// Parameters keep their names, other values are numbered in the order of the text. Every bit of a constant is there.
STRIDER_KIT std::string print(const Function& f);

/// The line of `v` as print() writes it, without what its regions hold. Works on functions that verify() refuses.
std::string print_statement(const Function& f, Value v);

/// One element as a literal: "-7", "true", "0.1", "-0.0", "inf", "nan", "nan(0x7fc00001)".
STRIDER_KIT std::string print_element(DType dtype, uint64_t bits);

}  // namespace strider::ir
