// SPDX-License-Identifier: Apache-2.0
// A declared kernel and the facts of its arguments -> its tile program.
#pragma once

#include <span>
#include <vector>

#include <strider/kernel.h>

#include "base/kit.h"
#include "front/lang/effects.h"
#include "ir/function.h"

namespace strider::front {

/// What one argument contributes to the specialisation; plain bytes, so that a list of them is a key.
struct ArgumentFact {
  int64_t constant = 0;             // of a Constexpr
  DType dtype = DType::I64;         // of the elements or the number
  uint8_t log2_align = 0;           // of a pointer, in bytes; 4, 5 or 6, or what the dtype has
  uint8_t divisible_by_16 = 0;      // of an integer
  uint8_t no_alias = 0;             // a pointer whose memory no other argument reaches
  uint8_t streams = 0;              // a pointer to so much memory that what is written there is not read again soon
  uint8_t unused[3] = {};
  bool operator==(const ArgumentFact&) const = default;
};
static_assert(sizeof(ArgumentFact) == 16);

/// Runs the body. Errors name the kernel and the line.
STRIDER_KIT ir::Function trace_kernel(const detail::KernelDecl& kernel, std::span<const ArgumentFact> facts);

/// The same, and what its prints, assertions and taps mean: the hidden parameters follow those of the kernel.
struct TracedKernel {
  ir::Function program;
  Effects effects;
};
TracedKernel trace_with_effects(const detail::KernelDecl& kernel, std::span<const ArgumentFact> facts, const TapRequest& request = {});

/// Facts for a program without tensors: pointers aligned to 64 bytes and free of overlap, F32 where any dtype is taken.
struct FactOptions {
  int log2_align = 6;
  bool no_alias = true;
  bool divisible_by_16 = false;
  DType any_dtype = DType::F32;
};
std::vector<ArgumentFact> facts_for(const detail::KernelDecl& kernel, std::span<const Constant> constants,
                                    const FactOptions& options = {});
ir::Function trace_kernel(const Kernel& kernel, std::initializer_list<Constant> constants, const FactOptions& options = {});

/// How the parameter is called in messages and in the program.
STRIDER_KIT std::string name_of(const detail::KernelDecl& kernel, size_t param);
/// The Constexpr parameter that a given name means: the one that bears it, or the only one if it has no name.
/// A user error that lists the names if there is none.
STRIDER_KIT size_t constant_named(const detail::KernelDecl& kernel, std::string_view name);

}  // namespace strider::front
