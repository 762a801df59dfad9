// SPDX-License-Identifier: Apache-2.0
// PTX, on any machine: nothing here needs a driver.
#include "backend/cuda/cuda.h"
#include "backend/cuda/spelling.h"
#include "backend/slots.h"
#include "codegen/llvm/codegen.h"

namespace strider {
namespace {

class CudaCompiler final : public Compiler {
 public:
  Binary compile(const ir::Function& lanes, const Target& target) override {
    return describe(lanes, target, codegen::entry_name(lanes), codegen::compile(lanes, target, cuda_spelling()));
  }
  std::string text(const ir::Function& lanes, const Target& target, std::string_view stage) override {
    return codegen::text(lanes, target, cuda_spelling(), stage);
  }
};

}  // namespace

Compiler& cuda_compiler() {
  static Compiler& compiler = *new CudaCompiler;
  return compiler;
}

}  // namespace strider
