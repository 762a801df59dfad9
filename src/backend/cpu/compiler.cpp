// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu.h"
#include "backend/slots.h"
#include "codegen/llvm/codegen.h"

namespace strider {
namespace {

class CpuCompiler final : public Compiler {
 public:
  Binary compile(const ir::Function& lanes, const Target& target) override {
    return describe(lanes, target, codegen::entry_name(lanes), codegen::compile(lanes, target));
  }
  std::string text(const ir::Function& lanes, const Target& target, std::string_view stage) override {
    return codegen::text(lanes, target, stage);
  }
};

}  // namespace

Compiler& cpu_compiler() {
  static Compiler& compiler = *new CpuCompiler;
  return compiler;
}

}  // namespace strider
