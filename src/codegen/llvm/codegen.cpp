// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/codegen.h"

#include <algorithm>
#include <cctype>

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "base/deep_stack.h"
#include "base/error.h"
#include "base/undisturbed.h"
#include "codegen/llvm/emitter.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/optimize.h"

namespace strider::codegen {
namespace {

/// Keeps LLVM from printing an error and leaving the process.
struct KeepErrors final : llvm::DiagnosticHandler {
  explicit KeepErrors(std::string& text) : text_(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(text_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }
  std::string& text_;
};

/// One compilation, from lane form to optimised IR and on to code.
class Compilation {
 public:
  Compilation(const ir::Function& lanes, const Target& target, const Spelling& spelling)
      : machine_(target, spelling), module_("strider", context_) {
    context_.setDiagnosticHandler(std::make_unique<KeepErrors>(errors_));
    module_.setTargetTriple(target.triple);
    module_.setDataLayout(machine_->createDataLayout());
    emit(lanes, target, spelling);
    optimize(module_, *machine_);
    if (never_null_) cut_long_blocks(*never_null_);
    check_errors();
  }

  std::string ir() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module_.print(stream, nullptr);
    return text;
  }

  std::vector<char> code(llvm::CodeGenFileType kind) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    if (machine_->addPassesToEmitFile(passes, stream, nullptr, kind)) internal_error("llvm cannot write this kind of file");
    passes.run(module_);
    check_errors();
    return {bytes.begin(), bytes.end()};
  }

 private:
  void emit(const ir::Function& lanes, const Target& target, const Spelling& spelling) {
    llvm::Function* probe = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context_), false),
                                                   llvm::Function::InternalLinkage, "probe", module_);
    llvm::TargetTransformInfo costs = machine_->getTargetTransformInfo(*probe);
    Emitter emitter(lanes, target, spelling, module_);
    emitter.costs = &costs;
    emitter.converts_half = !spelling.half_feature || machine_.has_feature(*probe, spelling.half_feature);
    emitter.has_ranges = spelling.range_feature && machine_.has_feature(*probe, spelling.range_feature);
    emit_function(emitter);
    never_null_ = llvm::dyn_cast_or_null<llvm::Argument>(emitter.program.never_null);
    probe->eraseFromParent();
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (llvm::verifyModule(module_, &stream)) internal_error("{}: {}", lanes.name, text);
  }

  void check_errors() const {
    if (!errors_.empty()) internal_error("llvm: {}", errors_);
  }

  Machine machine_;
  std::string errors_;
  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::Argument* never_null_ = nullptr;  // of the kernel
};

}  // namespace

std::string entry_name(const ir::Function& lanes) {
  std::string name = "strider_" + lanes.name;  // never the name of a library function that the code may call
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
  return name;
}

std::vector<char> compile(const ir::Function& lanes, const Target& target, const Spelling& spelling) {
  check_legal(lanes, target);
  auto kind = target.output == Output::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  check_compiler_lives();
  const Undisturbed undisturbed;
  return on_expendable_stack([&] { return Compilation(lanes, target, spelling).code(kind); });
}

std::string text(const ir::Function& lanes, const Target& target, const Spelling& spelling, std::string_view stage) {
  if (stage != "llvm" && stage != target.assembly)
    user_error("target {} has no stage {}; it has llvm and {}", target.name, stage, target.assembly);
  check_legal(lanes, target);
  check_compiler_lives();
  const Undisturbed undisturbed;
  return on_expendable_stack([&] {
    Compilation compilation(lanes, target, spelling);
    if (stage == "llvm") return compilation.ir();
    std::vector<char> code = compilation.code(llvm::CodeGenFileType::AssemblyFile);
    return std::string(code.begin(), code.end());
  });
}

}  // namespace strider::codegen
