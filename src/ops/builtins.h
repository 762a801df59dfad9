// SPDX-License-Identifier: Apache-2.0
// The library's operators and kernels by name, as tile programs for any target: no tensor and no device is needed.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <strider/kernel.h>

#include "ir/function.h"
#include "ir/target.h"
#include "call/inspect.h"

namespace strider::inline v0::ops {

struct Builtin {
  std::string name;
  std::string kind;  // "operator" or "kernel"
  /// `variant` is one of variants(): for operators how the inputs lie, for kernels a block size.
  std::function<ir::Function(const Target& target, std::string_view variant)> tile;
  const Operator* op = nullptr;    // of operators
  const Kernel* kernel = nullptr;  // of kernels
  /// Of operators: the plan on the way to the tile program.
  std::function<Inspection(const Target& target, std::string_view layout)> inspect = {};
};

std::span<const Builtin> builtins();
/// A user error that lists the names if there is none. The second form looks among those of a kind alone.
const Builtin& builtin_named(std::string_view name);
const Builtin& builtin_named(std::string_view name, std::string_view kind);
/// The variants of a builtin, the usual one first. Of operators: "flat" contiguous, "rows" the last input broadcast along the
/// rows (an only input: rows apart), "strided" every second column, "transposed" the last input transposed.
std::vector<std::string> variants(const Builtin& builtin);

}  // namespace strider::v0::ops
