// SPDX-License-Identifier: Apache-2.0
// Launches that are interpreted: whether they are, and an executable that stands for compiled code.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <strider/interpret.h>
#include <strider/tensor.h>

#include "backend/backend.h"
#include "base/kit.h"

namespace strider {

/// How launches of this thread are interpreted, or null: they run compiled. By the innermost Interpreted, else by the
/// settings STRIDER_BACKEND, STRIDER_LINTS and STRIDER_STEPS, read once. A user error if a setting has no meaning.
STRIDER_KIT const Interpretation* interpretation();

/// What the settings STRIDER_BACKEND, STRIDER_LINTS and STRIDER_STEPS, null where they are not set, ask for. User errors: one of
/// them has no meaning, even if nothing is interpreted.
std::optional<Interpretation> interpretation_from(const char* backend, const char* lints, const char* steps = nullptr);

/// The program as the interpreter runs it: what every engine runs, or with the lint of overflow what was written.
std::unique_ptr<ir::Function> prepare_to_interpret(const ir::Function& tile, const Interpretation& how);

/// The tensor behind parameter `param`.
TensorArgument tensor_argument(size_t param, const void* data, DType dtype, const Dims& shape, const Dims& strides);

/// A user error unless `device` is the CPU.
void check_interpretable(const Device& device);

/// Runs `program` in the interpreter; faults are collected by `how`, or thrown as an error that is placed.
class InterpretedLaunch final : public Executable {
 public:
  InterpretedLaunch(std::string what, const ir::Function& program, std::vector<TensorArgument> tensors, const Interpretation& how)
      : what_(std::move(what)), program_(program), tensors_(std::move(tensors)), how_(how) {}
  void launch(const Grid& grid, std::span<const uint64_t> args, StreamHandle = nullptr) override;

 private:
  std::string what_;
  const ir::Function& program_;  // of the kernel's or operator's cache
  std::vector<TensorArgument> tensors_;
  Interpretation how_;
};

}  // namespace strider
