// SPDX-License-Identifier: Apache-2.0
// Memory of tensors: who frees it, what fills it, how it moves between devices and to the host.
#include <cmath>
#include <cstring>
#include <numbers>

#include "backend/backend.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "ir/semantics.h"
#include "runtime/shape.h"
#include "runtime/storage.h"

#include <strider/tensor.h>

namespace strider {

Tensor empty_on(Device& device, const Dims& shape, const Dims& strides, DType dtype) {
  count_elements(shape, dtype);
  Extent e = extent(shape, strides);
  auto storage = std::make_shared<Tensor::Storage>(device, e.elements() * size_of(dtype));
  char* first = static_cast<char*>(storage->memory) - e.low * size_of(dtype);
  return Tensor(TensorView(first, dtype, shape, strides, device), storage);
}

inline namespace v0 {
namespace {

/// Fills a contiguous tensor: element i is bits(i).
template <class F>
Tensor generate(const Dims& shape, const TensorOptions& options, F bits) {
  Tensor host = empty(shape, {options.dtype, "cpu"});
  char* data = static_cast<char*>(host.data());
  int bytes = size_of(options.dtype);
  parallel_for(host.elements(), 1 << 14, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      uint64_t element = bits(i);
      std::memcpy(data + i * bytes, &element, static_cast<size_t>(bytes));
    }
  });
  return host.to(options.device);
}

/// A well mixed function of its argument.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

double uniform(uint64_t key, uint64_t counter) {
  return (static_cast<double>(mixed(key + counter * 0x9E3779B97F4A7C15u) >> 11) + 0.5) * 0x1p-53;
}

double normal(uint64_t key, uint64_t i) {
  double radius = std::sqrt(-2 * std::log(uniform(key, 2 * i)));
  return radius * std::cos(2 * std::numbers::pi * uniform(key, 2 * i + 1));
}

/// The bytes that a tensor's elements lie in.
struct Bytes {
  char* begin;
  int64_t count;
};
Bytes reached(const TensorView& v) {
  Extent e = extent(v.shape(), v.strides());
  return {static_cast<char*>(v.data()) + e.low * size_of(v.dtype()), e.elements() * size_of(v.dtype())};
}

void copy_bytes(Device& to, void* destination, Device& from, const void* source, int64_t bytes) {
  static Device& cpu = device_named("cpu");
  if (&from == &cpu) return to.copy_in(destination, source, bytes);
  if (&to == &cpu) return from.copy_out(destination, source, bytes);
  std::vector<char> host(static_cast<size_t>(bytes));
  from.copy_out(host.data(), source, bytes);
  to.copy_in(destination, host.data(), bytes);
}

}  // namespace

Tensor::Storage::Storage(Device& owner, int64_t size)
    : device(owner), memory(owner.allocate(std::max<int64_t>(size, 1))), bytes(size) {}
Tensor::Storage::~Storage() { device.release(memory); }

int64_t Tensor::offset() const {
  return (static_cast<char*>(data_) - static_cast<char*>(storage_->memory)) / size_of(dtype_);
}

Tensor Tensor::as_strided(const Dims& shape, const Dims& strides, int64_t offset) const {
  void* first = static_cast<char*>(storage_->memory) + offset * size_of(dtype_);
  TensorView view(first, dtype_, shape, strides, *device_);
  Extent e = extent(shape, strides);
  int64_t available = storage_->bytes / size_of(dtype_);
  if (e.elements() > 0 && (offset + e.low < 0 || offset + e.high >= available))
    user_error("as_strided: shape {} with strides {} from element {} on leaves the tensor's {} elements", to_string(shape),
               to_string(strides), offset, available);
  return Tensor(view, storage_);
}

Tensor Tensor::to(std::string_view device) const {
  Device& target = device_named(device);
  if (&target == device_) return *this;
  Tensor result = empty_on(target, shape_, strides_, dtype_);
  Bytes from = reached(*this), to = reached(result);
  if (from.count > 0) copy_bytes(target, to.begin, *device_, from.begin, from.count);
  return result;
}

void TensorView::copy_out(void* row_major) const {
  Bytes bytes = reached(*this);
  if (bytes.count <= 0) return;
  static Device& cpu = device_named("cpu");
  std::vector<char> host;
  const char* first = static_cast<const char*>(data_);
  if (device_ != &cpu) {
    host.resize(static_cast<size_t>(bytes.count));
    device_->copy_out(host.data(), bytes.begin, bytes.count);
    first = host.data() + (first - bytes.begin);
  }
  char* to = static_cast<char*>(row_major);
  int64_t size = size_of(dtype_);
  for_each_offset(shape_, strides_, [&](int64_t offset) {
    std::memcpy(to, first + offset * size, static_cast<size_t>(size));
    to += size;
  });
}

std::vector<uint64_t> TensorView::to_bits() const {
  size_t count = static_cast<size_t>(elements()), size = static_cast<size_t>(size_of(dtype_));
  std::vector<char> bytes(count * size);
  copy_out(bytes.data());
  std::vector<uint64_t> result(count, 0);
  for (size_t i = 0; i < count; ++i) std::memcpy(&result[i], bytes.data() + i * size, size);
  return result;
}

std::vector<double> TensorView::to_doubles() const {
  std::vector<double> result;
  for (uint64_t bits : to_bits()) result.push_back(ir::double_of_bits(dtype_, bits));
  return result;
}

double TensorView::item() const {
  if (elements() != 1) user_error("item: a tensor of shape {} has {} elements, expected one", to_string(shape_), elements());
  return to_doubles()[0];
}

// --- factories

Tensor empty_strided(const Dims& shape, const Dims& strides, const TensorOptions& options) {
  return empty_on(device_named(options.device), shape, strides, options.dtype);
}

Tensor empty(const Dims& shape, const TensorOptions& options) {
  count_elements(shape, options.dtype);
  return empty_strided(shape, contiguous_strides(shape), options);
}

Tensor zeros(const Dims& shape, const TensorOptions& options) {
  Tensor t = empty(shape, options);
  t.device_object().fill_zero(t.data(), t.elements() * size_of(options.dtype));
  return t;
}

Tensor full(const Dims& shape, double value, const TensorOptions& options) {
  uint64_t bits = ir::bits_of_double(options.dtype, value);
  return generate(shape, options, [bits](int64_t) { return bits; });
}

Tensor arange(int64_t count, const TensorOptions& options) {
  return generate({count}, options, [&](int64_t i) { return ir::bits_of_int(options.dtype, i); });
}

Tensor randn(const Dims& shape, const TensorOptions& options, uint64_t seed) {
  uint64_t key = mixed(seed + 0x632BE59BD9B4E019u);
  return generate(shape, options,
                  [&](int64_t i) { return ir::bits_of_double(options.dtype, normal(key, static_cast<uint64_t>(i))); });
}

Tensor detail::tensor_from(const void* values, size_t count, DType dtype, const Dims& shape) {
  if (count_elements(shape, dtype) != static_cast<int64_t>(count))
    user_error("tensor: {} values for shape {}, which has {} elements", count, to_string(shape), count_elements(shape, dtype));
  Tensor t = empty(shape, {dtype, "cpu"});
  if (count > 0) std::memcpy(t.data(), values, count * static_cast<size_t>(size_of(dtype)));
  return t;
}

}  // namespace v0
}  // namespace strider
