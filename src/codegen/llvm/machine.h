// SPDX-License-Identifier: Apache-2.0
// LLVM's description of a target, kept for the next compilation; making one anew costs more than compiling a small kernel.
#pragma once

#include <memory>
#include <string>

#include <llvm/Target/TargetMachine.h>

#include "ir/target.h"

namespace strider::codegen {

struct Spelling;

/// A TargetMachine for this compilation alone: LLVM's are not safe to share between threads. It goes back to the store at the
/// end, unless an error left it in an unknown state.
class Machine {
 public:
  Machine(const Target& target, const Spelling& spelling);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  llvm::TargetMachine& operator*() const { return *machine_; }
  llvm::TargetMachine* operator->() const { return machine_.get(); }
  bool has_feature(const llvm::Function& f, const char* feature) const;

 private:
  std::string key_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  int exceptions_;  // in flight when this was made
};

}  // namespace strider::codegen
