// SPDX-License-Identifier: Apache-2.0
// Both structures hold a DLTensor and a deleter; what differs is read once, at the top of from_dlpack() and to_dlpack().
#include <strider/dlpack.h>

#include <charconv>
#include <cstddef>
#include <memory>

#include "backend/backend.h"
#include "base/error.h"
#include "base/out_of_memory.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

namespace strider::inline v0 {
namespace {

using dlpack::DLDataType;
using dlpack::DLDevice;
using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;
using dlpack::DLTensor;

// The layout is a contract with programs compiled elsewhere.
static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, byte_offset) == 40 && offsetof(DLTensor, dtype) == 20);
static_assert(sizeof(DLManagedTensor) == 64 && offsetof(DLManagedTensor, deleter) == 56);
static_assert(sizeof(DLManagedTensorVersioned) == 80 && offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

// ---- dtypes

struct Row {
  DType dtype;
  uint8_t code, bits;
};
constexpr Row kRows[] = {
    {DType::Bool, dlpack::kDLBool, 8}, {DType::I8, dlpack::kDLInt, 8},     {DType::I16, dlpack::kDLInt, 16},
    {DType::I32, dlpack::kDLInt, 32},  {DType::I64, dlpack::kDLInt, 64},   {DType::U8, dlpack::kDLUInt, 8},
    {DType::U16, dlpack::kDLUInt, 16}, {DType::U32, dlpack::kDLUInt, 32},  {DType::U64, dlpack::kDLUInt, 64},
    {DType::F16, dlpack::kDLFloat, 16}, {DType::BF16, dlpack::kDLBfloat, 16}, {DType::F32, dlpack::kDLFloat, 32},
    {DType::F64, dlpack::kDLFloat, 64},
};
static_assert(std::size(kRows) == kDTypeCount);

/// By code; for messages.
constexpr std::string_view kCodes[] = {"int", "uint", "float", "opaque handle", "bfloat", "complex", "bool"};

DType dtype_of_dlpack(const DLDataType& t) {
  std::string name = t.code < std::size(kCodes) ? std::string(kCodes[t.code]) : fmt::format("code {}", t.code);
  if (t.lanes != 1) unsupported_error("from_dlpack: {} of {} bits in {} lanes; expected 1 lane", name, t.bits, t.lanes);
  for (const Row& row : kRows)
    if (row.code == t.code && row.bits == t.bits) return row.dtype;
  unsupported_error("from_dlpack: the dtype {} of {} bits has no counterpart", name, t.bits);
}

DLDataType dlpack_of_dtype(DType dtype) {
  for (const Row& row : kRows)
    if (row.dtype == dtype) return {row.code, row.bits, 1};
  internal_error("dlpack: {} is not in the table", name_of(dtype));
}

// ---- devices

Device& device_of_dlpack(const DLDevice& d) {
  switch (d.device_type) {
    case dlpack::kDLCPU:
    case dlpack::kDLCUDAHost: return device_of("cpu");
    case dlpack::kDLCUDA: return device_named(fmt::format("cuda:{}", d.device_id));
    default:
      unsupported_error("from_dlpack: memory of device type {}; the CPU (1), CUDA (2) and CUDA host memory (3) are known",
                        d.device_type);
  }
}

DLDevice dlpack_of_device(const TensorView& tensor) {
  if (is_host(tensor.device_object())) return {dlpack::kDLCPU, 0};
  constexpr std::string_view kCuda = "cuda:";
  std::string name = tensor.device();
  if (!name.starts_with(kCuda)) unsupported_error("to_dlpack: memory of {}; the CPU and CUDA are known", name);
  DLDevice d{dlpack::kDLCUDA, 0};
  std::from_chars(name.data() + kCuda.size(), name.data() + name.size(), d.device_id);
  return d;
}

// ---- streams

/// The stream of that number, which may be another thread's.
Stream stream_of_dlpack(Device& device, int64_t number) {
  const bool is_known = number == dlpack::kNoSync || number > 0;
  if (!is_known || (number > dlpack::kLegacyStream && !device.has_streams()))
    user_error("{} has no stream of number {} in DLPack", device.name(), number);
  if (number <= dlpack::kLegacyStream) return Stream(device, nullptr);
  auto handle = number == dlpack::kPerThreadStream ? reinterpret_cast<void*>(number)
                                                   : device.adopt_stream(reinterpret_cast<void*>(number));
  return Stream(device, std::make_shared<detail::StreamState>(device, handle, false));
}

// ---- in

void* first_byte(const DLTensor& t) {
  if (!t.data) return nullptr;
  uintptr_t address = 0;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), t.byte_offset, &address))
    user_error("from_dlpack: the data at {} and the offset of {} bytes leave the address space", t.data, t.byte_offset);
  return reinterpret_cast<void*>(address);
}

TensorView view_of(const DLTensor& t) {
  if (t.ndim < 0 || t.ndim > kMaxDims) user_error("from_dlpack: {} axes, expected 0 to {}", t.ndim, kMaxDims);
  if (t.ndim > 0 && !t.shape) user_error("from_dlpack: the shape of a tensor of {} axes is null", t.ndim);
  DType dtype = dtype_of_dlpack(t.dtype);
  Device& device = device_of_dlpack(t.device);
  auto rank = static_cast<size_t>(t.ndim);
  Dims shape(t.shape, rank);
  count_elements(shape, dtype);
  Dims strides = t.strides ? Dims(t.strides, rank) : contiguous_strides(shape);
  return TensorView(first_byte(t), dtype, shape, strides, device);
}

/// A tensor that calls the deleter at its end. Nothing is taken over before all that can fail is done.
template <class Managed>
Tensor take_over(Managed* managed, bool read_only, int64_t stream) {
  TensorView view = view_of(managed->dl_tensor);
  const Stream producer = stream_of_dlpack(view.device_object(), stream);
  if (read_only) view = view.read_only();
  std::span<char> bytes = bytes_of(view);
  void* begin = bytes.empty() ? view.data() : bytes.data();
  auto storage = std::make_shared<Tensor::Storage>(begin, static_cast<int64_t>(bytes.size()), producer, nullptr);
  if (stream != dlpack::kNoSync) current_stream(view.device_object()).wait(producer);
  storage->take_over([managed] {
    if (managed->deleter) managed->deleter(managed);
  });
  return Tensor(view, std::move(storage));
}

// ---- out

/// What a consumer gets, with what it needs to live.
template <class Managed>
struct Export {
  explicit Export(const Tensor& t) : tensor(t), shape(t.shape()), strides(t.strides()) {
    managed.dl_tensor = {t.data(), dlpack_of_device(t), t.rank(), dlpack_of_dtype(t.dtype()), shape.begin(), strides.begin(), 0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) {
      if (self) delete static_cast<Export*>(self->manager_ctx);
    };
  }

  Tensor tensor;
  Dims shape, strides;
  Managed managed{};
};

template <class Managed>
Managed* exported(const Tensor& tensor, int64_t stream) {
  return out_of_memory_is_an_error([&] {
    auto made = std::make_unique<Export<Managed>>(tensor);
    const Stream consumer = stream_of_dlpack(tensor.device_object(), stream);
    if (stream != dlpack::kNoSync) consumer.wait(current_stream(tensor.device_object()));
    if (stream != dlpack::kNoSync && stream != dlpack::kPerThreadStream) tensor.used_on(consumer);
    return &made.release()->managed;
  });
}

}  // namespace

Tensor from_dlpack(DLManagedTensorVersioned* managed, int64_t stream) {
  if (!managed) user_error("from_dlpack: the pointer is null");
  if (managed->version.major != dlpack::kMajor)
    unsupported_error("from_dlpack: version {}.{} of DLPack; version {} is known", managed->version.major, managed->version.minor,
                      dlpack::kMajor);
  return out_of_memory_is_an_error([&] { return take_over(managed, managed->flags & dlpack::kReadOnly, stream); });
}

Tensor from_dlpack(DLManagedTensor* managed, int64_t stream) {
  if (!managed) user_error("from_dlpack: the pointer is null");
  return out_of_memory_is_an_error([&] { return take_over(managed, false, stream); });
}

DLManagedTensorVersioned* to_dlpack(const Tensor& tensor, int64_t stream) {
  DLManagedTensorVersioned* made = exported<DLManagedTensorVersioned>(tensor, stream);
  made->version = {dlpack::kMajor, dlpack::kMinor};
  made->flags = tensor.is_read_only() ? dlpack::kReadOnly : 0;
  return made;
}

DLManagedTensor* to_dlpack_unversioned(const Tensor& tensor, int64_t stream) {
  if (tensor.is_read_only()) user_error("to_dlpack_unversioned: the tensor is read-only, which DLPack before 1.0 cannot say");
  return exported<DLManagedTensor>(tensor, stream);
}

int64_t dlpack::number_of(const Stream& stream) {
  return stream.is_default() ? kLegacyStream : static_cast<int64_t>(reinterpret_cast<uintptr_t>(stream.native()));
}

}  // namespace strider::v0
