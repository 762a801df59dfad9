// SPDX-License-Identifier: Apache-2.0
// Operands in words, for the command line and for tables of benchmark cases:
//
//   f32(64,128)                    a contiguous tensor
//   f32(64,128):t                  a view of it: t, transpose(0,1), permute(2,0,1), flip(0), expand(8,64,128), squeeze(0),
//                                  unsqueeze(0), reshape(-1)
//   f32(64,128)[::2, 3:, -1]       NumPy's subscripts; views follow each other from left to right
//   f32(64,128):strides(1,64)      memory that lies so from the start; stands before any other view
//   f32()                          one element without axes
//   0.5   3   true                 a number
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <strider/tensor.h>

namespace strider {

class OperandText {
 public:
  /// A user error that quotes the text and says what was expected where.
  explicit OperandText(std::string_view text);

  bool is_number() const { return number_.is_number(); }
  const Argument& number() const { return number_; }
  DType dtype() const { return dtype_; }
  /// Elements of the memory that the tensor lies in.
  int64_t elements() const;
  int64_t bytes() const { return elements() * size_of(dtype_); }
  /// The tensor in memory of at least bytes().
  TensorView in(void* memory, Device& device) const;

 private:
  friend class OperandParser;
  using View = std::function<TensorView(const TensorView&)>;

  Argument number_;
  DType dtype_ = DType::F32;
  Dims shape_, strides_;
  std::vector<View> views_;
};

}  // namespace strider
