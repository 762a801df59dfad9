// SPDX-License-Identifier: Apache-2.0
// Lane form to machine code by way of LLVM, for every target that LLVM serves. No LLVM type appears here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"
#include "ir/target.h"

namespace strider::codegen {

struct Spelling;  // emitter.h: how a back end's instruction set says what others say differently

/// Throws an unsupported error that names the op, the type and the target unless `lanes` is lane form that the target can spell.
void check_legal(const ir::Function& lanes, const Target& target);

/// Whether there is code for a pointwise op on operands of `dtype`. Casts, bitcasts, `where` and addresses take any.
bool can_spell(ir::Op op, DType dtype);

/// The symbol of a kernel in compiled code.
std::string entry_name(const ir::Function& lanes);

/// The target's output: an object file or the assembler's text.
std::vector<char> compile(const ir::Function& lanes, const Target& target, const Spelling& spelling);

/// The text of a stage: "llvm" (optimised IR), and Target::assembly. Throws a user error that lists the stages.
std::string text(const ir::Function& lanes, const Target& target, const Spelling& spelling, std::string_view stage);

/// "19.1.7".
std::string_view llvm_version();

/// Which build of LLVM runs: its version, and of a shared library what tells that one from others of the version.
const std::string& llvm_identity();

}  // namespace strider::codegen
