// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/machine.h"

#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>

#include "base/deep_stack.h"
#include "base/error.h"
#include "codegen/llvm/emitter.h"

namespace strider::codegen {
namespace {

/// The last resort; kernels are checked before LLVM sees them. No exception may pass through LLVM's frames, so they are left as they
/// are, and what they hold is lost.
void leave_llvm(void*, const char* reason, bool) {
  abandon_stack(std::make_exception_ptr(Error(ErrorKind::Internal, fmt::format("internal error: llvm: {}", reason))));
}

void start_llvm() {
  llvm::install_fatal_error_handler(leave_llvm);
}

struct Store {
  std::mutex mutex;
  std::map<std::string, std::vector<std::unique_ptr<llvm::TargetMachine>>> idle;
  std::set<const Spelling*> started;
};

/// Never destroyed, so that no destructor at exit can find it gone.
Store& store() {
  static Store& only = *new Store;
  static std::once_flag started;
  std::call_once(started, start_llvm);
  return only;
}

std::unique_ptr<llvm::TargetMachine> take(const std::string& key) {
  Store& s = store();
  std::lock_guard lock(s.mutex);
  auto& idle = s.idle[key];
  if (idle.empty()) return nullptr;
  auto machine = std::move(idle.back());
  idle.pop_back();
  return machine;
}

/// LLVM's list of families is not safe to share between threads.
const llvm::Target& family_of(const Target& t, const Spelling& spelling) {
  Store& s = store();
  std::lock_guard lock(s.mutex);
  if (s.started.insert(&spelling).second) spelling.start();
  std::string error;
  const llvm::Target* family = llvm::TargetRegistry::lookupTarget(t.triple, error);
  if (!family) unsupported_error("target {}: {}", t.name, error);
  return *family;
}

/// Nothing is contracted, reassociated or flushed.
std::unique_ptr<llvm::TargetMachine> make(const Target& t, const Spelling& spelling) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(family_of(t, spelling).createTargetMachine(
      t.triple, t.processor, t.features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine) internal_error("llvm has no machine for target {}", t.name);
  return machine;
}

}  // namespace

Machine::Machine(const Target& target, const Spelling& spelling)
    : key_(target.triple + ' ' + target.processor + ' ' + target.features),
      machine_(take(key_)),
      exceptions_(std::uncaught_exceptions()) {
  if (!machine_) machine_ = make(target, spelling);
}

Machine::~Machine() {
  if (std::uncaught_exceptions() > exceptions_) return;
  Store& s = store();
  std::lock_guard lock(s.mutex);
  s.idle[key_].push_back(std::move(machine_));
}

bool Machine::has_feature(const llvm::Function& f, const char* feature) const {
  return machine_->getSubtargetImpl(f)->checkFeatures(feature);
}

}  // namespace strider::codegen
