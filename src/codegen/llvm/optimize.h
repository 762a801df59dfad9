// SPDX-License-Identifier: Apache-2.0
// The passes over LLVM IR before code is selected: few, since the lowering has done the large transformations.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace strider::codegen {

void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace strider::codegen
