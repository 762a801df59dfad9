// SPDX-License-Identifier: Apache-2.0
#include "testing/reset.h"

#include "base/error.h"

namespace strider::inline v0::testing {

namespace {

void check_writable(const TensorView& tensor) {
  if (tensor.is_read_only()) user_error("a tensor to be zeroed or restored is read-only: {}", name_of(tensor.dtype()));
}

}  // namespace

Reset::Reset(const std::vector<TensorView>& to_zero, const std::vector<TensorView>& restore) {
  for (const TensorView& t : to_zero) {
    check_writable(t);
    Tensor zero = zeros(Dims::filled(t.rank(), 1), {t.dtype(), t.device()});
    tensors_.emplace_back(t, zero);
  }
  for (const TensorView& t : restore) {
    check_writable(t);
    tensors_.emplace_back(t, t.clone());
  }
}

Reset::~Reset() {
  try {
    (*this)();
  } catch (const Error&) {
    // The device failed, which whoever waits for it is told.
  }
}

void Reset::operator()() const {
  for (const auto& [tensor, content] : tensors_) tensor.copy_from(content);
}

}  // namespace strider::v0::testing
