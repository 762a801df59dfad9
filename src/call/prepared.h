// SPDX-License-Identifier: Apache-2.0
// What operators and kernels put together for a prepared call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <strider/prepared.h>

#include "backend/backend.h"

namespace strider {
inline namespace v0 {
namespace detail {

struct PreparedNumber {
  static constexpr size_t kNoSlot = SIZE_MAX;
  size_t argument;
  std::string name;
  Argument::Kind kind;             // the highest category that its code takes
  DType rounded, passed;           // as passed_bits() has them
  bool divisible_by_16 = false;    // the code relies on it
  size_t slot = kNoSlot;
  bool is_natural = false;         // it must not be negative
};

struct PreparedParts {
  std::string what, name;                // "operator", "add"
  std::shared_ptr<const void> code;      // keeps the executable
  Executable* executable = nullptr;      // null: there is nothing to launch
  Device* device = nullptr;
  Grid grid{};
  std::vector<uint64_t> slots;
  std::vector<PreparedNumber> numbers;
  std::vector<Tensor> tensors, outputs;
};

/// The tensors among arguments of a kind that own their memory.
std::vector<Tensor> owning_tensors(std::span<const Argument> arguments, Argument::Kind kind);

}  // namespace detail
}  // namespace v0
}  // namespace strider
