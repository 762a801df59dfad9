// SPDX-License-Identifier: Apache-2.0
// Tensors that calls add into or overwrite, made as they were before each of them.
#pragma once

#include <utility>
#include <vector>

#include <strider/tensor.h>

namespace strider::inline v0::testing {

class Reset {
 public:
  /// Keeps copies of what the tensors of `restore` hold now. A user error for read-only ones.
  Reset(const std::vector<TensorView>& to_zero, const std::vector<TensorView>& restore);
  /// Leaves the tensors as they are before a call.
  ~Reset();
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;

  bool is_empty() const { return tensors_.empty(); }
  void operator()() const;

 private:
  std::vector<std::pair<TensorView, Tensor>> tensors_;  // and what they hold before a call
};

}  // namespace strider::v0::testing
