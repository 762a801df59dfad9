// SPDX-License-Identifier: Apache-2.0
// Memory for the operands of benchmarks: filled once, kept, and used again by later cases.
#pragma once

#include <map>

#include "testing/operand_text.h"

namespace strider::inline v0::testing {

enum class Content : uint8_t { Normal, Positive, None };  // normally distributed, their magnitudes, whatever calls left there

class Memory {
 public:
  explicit Memory(Device& device) : device_(device) {}

  /// The operand in memory number `slot`, which it shares with all operands of that number, dtype and content.
  TensorView operand(const OperandText& text, Content content, int slot);
  /// Gives all of it back: tensors from before are no longer valid.
  void release() { slabs_.clear(); }

 private:
  using Key = std::tuple<DType, Content, int>;
  Tensor make(DType dtype, Content content, int64_t elements) const;

  Device& device_;
  std::map<Key, Tensor> slabs_;
};

}  // namespace strider::v0::testing
