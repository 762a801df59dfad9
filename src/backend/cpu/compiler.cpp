// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu.h"
#include "backend/cpu/spelling.h"
#include "backend/slots.h"
#include "base/error.h"
#include "codegen/llvm/codegen.h"

namespace strider {
namespace {

/// The spelling is that of x86-64; elsewhere there is none yet.
void check_architecture(const Target& target) {
  if (!target.triple.starts_with("x86_64-"))
    unsupported_error("target {}: there is no code for {}, only for x86-64", target.name, target.triple);
}

class CpuCompiler final : public Compiler {
 public:
  Binary compile(const ir::Function& lanes, const Target& target) override {
    check_architecture(target);
    return describe(lanes, target, codegen::entry_name(lanes), codegen::compile(lanes, target, cpu_spelling()));
  }
  std::string text(const ir::Function& lanes, const Target& target, std::string_view stage) override {
    check_architecture(target);
    return codegen::text(lanes, target, cpu_spelling(), stage);
  }
};

}  // namespace

Compiler& cpu_compiler() {
  static Compiler& compiler = *new CpuCompiler;
  return compiler;
}

}  // namespace strider
