// SPDX-License-Identifier: Apache-2.0
// Runs scalar functions: constants, pointwise ops and a yield at the end, by the meaning of ir/semantics.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/kit.h"
#include "ir/function.h"

namespace strider::ir {

/// Refers to the function, which must outlive it.
class Evaluator {
 public:
  STRIDER_KIT explicit Evaluator(const Function& f);

  /// For each of `count` lanes: args[k][i * strides[k]] is parameter k, strides being 0 or 1; out[k][i] becomes what is yielded at
  /// place k, where out[k] is not null.
  STRIDER_KIT void run(const uint64_t* const* args, const int* strides, uint64_t* const* out, size_t count);

 private:
  static constexpr size_t kChunk = 64;  // lanes that run together
  uint64_t* slots(Value v) { return values_.data() + v.id * kChunk; }
  void run_chunk(const uint64_t* const* args, const int* strides, size_t count);

  const Function& f_;
  std::vector<uint64_t> values_;  // kChunk slots for each node
};

}  // namespace strider::ir
