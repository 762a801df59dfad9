// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/optimize.h"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace strider::codegen {
namespace {

llvm::FunctionPassManager passes() {
  llvm::FunctionPassManager list;
  list.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));  // small private arrays
  list.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));       // loads; equal pure values have one number already
  list.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  list.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  list.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  return list;
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager list = passes();
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) list.run(f, functions);
}

}  // namespace strider::codegen
