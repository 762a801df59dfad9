// SPDX-License-Identifier: Apache-2.0
// Memory of tensors: who frees it, and how it moves between devices.
#include "tensor/storage.h"

#include <cstdio>

#include "backend/backend.h"
#include "base/error.h"
#include "base/out_of_memory.h"
#include "tensor/shape.h"

namespace strider {

Device& device_of(std::string_view name) {
  static Device& cpu = device_named("cpu");
  return name == "cpu" ? cpu : device_named(name);
}

bool is_host(const Device& device) { return &device == &device_of("cpu"); }

Tensor empty_on(Device& device, const Dims& shape, const Dims& strides, DType dtype) {
  count_elements(shape, dtype);
  if (shape.rank() != strides.rank()) user_error("shape {} and strides {} differ in rank", to_string(shape), to_string(strides));
  Extent e = extent(shape, strides);
  int64_t bytes = e.elements() * size_of(dtype);
  std::shared_ptr<Tensor::Storage> storage;
  try {
    storage = std::make_shared<Tensor::Storage>(device, bytes);
  } catch (const std::exception& error) {
    auto* known = dynamic_cast<const Error*>(&error);
    if (known && known->kind() == ErrorKind::User) throw;
    driver_error("a tensor of {} of shape {} needs {} bytes: {}", name_of(dtype), to_string(shape), bytes,
                 known ? known->what() : "there is not enough memory");
  }
  char* first = static_cast<char*>(storage->memory) - e.low * size_of(dtype);
  return Tensor(TensorView(first, dtype, shape, strides, device), storage);
}

std::span<char> bytes_of(const TensorView& view) {
  Extent e = extent(view.shape(), view.strides());
  if (e.elements() == 0) return {};
  int64_t size = size_of(view.dtype());
  return {static_cast<char*>(view.data()) + e.low * size, static_cast<size_t>(e.elements() * size)};
}

TensorView host_rows(const TensorView& view, std::shared_ptr<Tensor>* keep) {
  if (is_host(view.device_object()) && view.is_contiguous()) return view;
  Tensor host = is_host(view.device_object()) ? view.contiguous() : view.to_host().contiguous();
  *keep = std::make_shared<Tensor>(host);
  return **keep;
}

inline namespace v0 {
namespace {

void copy_bytes(Device& to, std::span<char> destination, Device& from, std::span<const char> source) {
  auto bytes = static_cast<int64_t>(source.size());
  if (is_host(from)) return to.copy_in(destination.data(), source.data(), bytes, current_handle(to));
  if (is_host(to)) return from.copy_out(destination.data(), source.data(), bytes, current_handle(from));
  Tensor host = empty({bytes}, {u8, "cpu"});
  from.copy_out(host.data(), source.data(), bytes, current_handle(from));
  to.copy_in(destination.data(), host.data(), bytes, current_handle(to));
}

Tensor moved(const TensorView& view, Device& target) {
  Tensor result = empty_on(target, view.shape(), view.strides(), view.dtype());
  std::span<char> from = bytes_of(view);
  if (!from.empty()) copy_bytes(target, bytes_of(result), view.device_object(), from);
  return result;
}

}  // namespace

Tensor::Storage::Storage(Device& device, int64_t size) : bytes(size), device_(device), pool_(&memory_pool(device)) {
  loan_ = pool_->allocate(size + (guards_.is_on() ? guards_.extra_bytes() : 0), current_stream(device).state());
  memory = loan_.memory();
  if (!guards_.is_on()) return;
  try {
    memory = guards_.place(device, memory, size, current_handle(device));
  } catch (...) {
    pool_->release(std::move(loan_));
    throw;
  }
}
Tensor::Storage::Storage(void* theirs, int64_t size, const Stream& home, std::function<void()> release)
    : memory(theirs), bytes(size), device_(home.device_object()), loan_(home.state()), release_(std::move(release)) {}
Tensor::Storage::~Storage() {
  if (pool_ && guards_.is_on()) guards_.take_back();
  if (pool_) pool_->release(std::move(loan_));
  else tell_owner();
}

void Tensor::Storage::used_on(const Stream& stream) {
  if (&stream.device_object() != &device_ || stream.state() == loan_.home()) return;
  std::lock_guard lock(uses_mutex_);
  loan_.add_use(stream.state());
}

/// Nobody can be told of what fails here but the standard error stream.
void Tensor::Storage::tell_owner() noexcept {
  try {
    const Stream home(device_, loan_.home());
    for (const MemoryPool::Use& use : loan_.uses()) home.wait(Stream(device_, use.stream));
    if (release_) release_();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strider: memory of another library was not given back: %s\n", error.what());
  } catch (...) {
    std::fputs("strider: memory of another library was not given back\n", stderr);
  }
}

void Tensor::used_on(const Stream& stream) const {
  out_of_memory_is_an_error([&] {
    if (storage_) storage_->used_on(stream);
  });
}

int64_t Tensor::offset() const {
  auto* first = static_cast<char*>(data());
  if (!storage_) user_error("offset: the tensor owns no memory");
  return (first - static_cast<char*>(storage_->memory)) / size_of(dtype());
}

Tensor Tensor::as_strided(const Dims& shape, const Dims& strides, int64_t offset) const {
  checked();
  if (!storage_) user_error("as_strided: the tensor owns no memory");
  const int64_t element = size_of(dtype()), available = storage_->bytes / element;
  if (shape.rank() != strides.rank())
    user_error("as_strided: shape {} and strides {} differ in rank", to_string(shape), to_string(strides));
  count_elements(shape, dtype());
  Extent e = extent(shape, strides);
  if (offset < 0 || offset > available || offset + e.low < 0 || offset + e.high >= available + (e.elements() == 0))
    user_error("as_strided: shape {} with strides {} from element {} on leaves the tensor's {} elements", to_string(shape),
               to_string(strides), offset, available);
  TensorView view(static_cast<char*>(storage_->memory) + offset * element, dtype(), shape, strides, device_object());
  return own(read_only_ ? view.read_only() : view);
}

Tensor TensorView::to(std::string_view device) const { return moved(*this, device_of(device)); }
Tensor TensorView::to_host() const { return to("cpu"); }

Tensor Tensor::to(std::string_view device) const {
  Device& target = device_of(device);
  return &target == &device_object() ? *this : moved(*this, target);
}

}  // namespace v0
}  // namespace strider
