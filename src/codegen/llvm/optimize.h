// SPDX-License-Identifier: Apache-2.0
// The passes over LLVM IR before code is selected: few, since the lowering has done the large transformations.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace strider::codegen {

/// Cuts the long blocks of the function that has this argument into pieces. LLVM's time for a block grows with the square of its
/// length (its scheduler walks all uses of a value at each of them). Between pieces stands a branch that is always taken, because
/// the pointer is never null; LLVM does not know that, and so leaves the pieces apart.
void cut_long_blocks(llvm::Argument& never_null);

void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace strider::codegen
