// SPDX-License-Identifier: Apache-2.0
// A call of an operator or a kernel, ready to run again: its arguments are checked, its plan is made and its code is found.
//
//   auto step = add.prepare(a, b, 0.5, st::out(c));
//   step();                    // only launches
//   step.set_number(2, 0.7);   // argument 2 from now on
//   step();
//
//   auto norm = l1[grid].prepare(x, out, n, {{"BLOCK", 1024}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <strider/argument.h>
#include <strider/export.h>
#include <strider/stream.h>
#include <strider/tensor.h>

namespace strider {
inline namespace v0 {

namespace detail {
struct PreparedParts;
}

/// Keeps the code and the tensors' memory; that of a TensorView is its owner's to keep. A copy launches the same code on the
/// same tensors and has numbers of its own. Any number of threads may run one call at the same time as long as none of them
/// sets a number: for that, each takes its copy.
class PreparedCall {
 public:
  explicit PreparedCall(detail::PreparedParts&& parts);
  PreparedCall(const PreparedCall&) = default;  // moving copies: there is no empty call
  PreparedCall& operator=(const PreparedCall&) = default;

  /// Launches it on the stream that is current now, or on another one of the device. Nothing is checked, planned or looked up again,
  /// and on a stream that was used before no memory is allocated. Throws driver errors.
  STRIDER_API void operator()() const;
  STRIDER_API void operator()(const Stream& stream) const;

  /// Another value for the number that is parameter `argument` (from 0 on) of the operator or kernel. User errors: it is no
  /// number; the value does not fit its dtype; the value would need other code: a float for an integer, or, for a kernel's
  /// integer that was a multiple of 16, one that is not.
  STRIDER_API void set_number(size_t argument, const Argument& value);
  /// The same for the parameter called `name`. A user error that lists the names if there is none.
  STRIDER_API void set_number(std::string_view name, const Argument& value);

  /// The outputs of an operator that own their memory: those that were given as tensors, or those that prepare() made.
  const std::vector<Tensor>& outputs() const { return outputs_; }

 private:
  struct Shared;  // what copies have in common
  void set(size_t number, const Argument& value);

  std::shared_ptr<const Shared> shared_;
  std::vector<uint64_t> slots_;
  std::vector<Tensor> outputs_;
};

}  // namespace v0
}  // namespace strider
