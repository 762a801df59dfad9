// SPDX-License-Identifier: Apache-2.0
// A tensor's elements on the host.
#include <cstring>

#include "backend/backend.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "ir/semantics.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

#include <strider/tensor.h>

namespace strider::inline v0 {

void TensorView::check_dtype(DType wanted) const {
  if (wanted != dtype()) user_error("a tensor of {} is read as {}", name_of(dtype()), name_of(wanted));
}

void TensorView::check_single() const {
  if (elements() != 1) user_error("item: a tensor of shape {} has {} elements, expected one", to_string(shape()), elements());
}

void TensorView::no_host_memory() const {
  user_error("a tensor of {} of shape {} has {} elements, too many for a vector in this process", name_of(dtype()),
             to_string(shape()), elements());
}

TensorView TensorView::read_only() const {
  TensorView v = checked();
  v.read_only_ = true;
  return v;
}

void detail::output_is_read_only(const TensorView& view) {
  user_error("the output, a tensor of {} of shape {}, is read-only", name_of(view.dtype()), to_string(view.shape()));
}

namespace {

template <int size>
void gather(const char* first, const Dims& shape, const Dims& strides, char* to) {
  for_each_offset(shape, strides, [&](int64_t offset) {
    std::memcpy(to, first + offset * size, size);
    to += size;
  });
}

}  // namespace

void TensorView::copy_out(void* row_major) const {
  if (elements() == 0) return;
  std::span<char> bytes = bytes_of(*this);
  std::vector<char> host;
  const char* first = static_cast<const char*>(data());
  if (!is_host(device_object())) {
    host.resize(bytes.size());
    device_object().copy_out(host.data(), bytes.data(), static_cast<int64_t>(bytes.size()), current_handle(device_object()));
    first = host.data() + (first - bytes.data());
  }
  auto* to = static_cast<char*>(row_major);
  if (is_contiguous()) std::memcpy(to, first, bytes.size());
  else if (size_of(dtype()) == 1) gather<1>(first, shape(), strides(), to);
  else if (size_of(dtype()) == 2) gather<2>(first, shape(), strides(), to);
  else if (size_of(dtype()) == 4) gather<4>(first, shape(), strides(), to);
  else gather<8>(first, shape(), strides(), to);
}

std::vector<uint64_t> TensorView::to_bits() const {
  size_t count = static_cast<size_t>(elements()), size = static_cast<size_t>(size_of(dtype()));
  std::vector<char> bytes;
  std::vector<uint64_t> result;
  try {
    bytes.resize(count * size);
    result.resize(count);
  } catch (const std::exception&) {
    no_host_memory();
  }
  copy_out(bytes.data());
  for (size_t i = 0; i < count; ++i) std::memcpy(&result[i], bytes.data() + i * size, size);
  return result;
}

std::vector<double> TensorView::to_doubles() const {
  const DefaultFloatEnvironment environment;
  std::vector<double> result;
  for (uint64_t bits : to_bits()) result.push_back(ir::double_of_bits(dtype(), bits));
  return result;
}

double TensorView::item() const {
  check_single();
  return to_doubles()[0];
}

}  // namespace strider::v0
