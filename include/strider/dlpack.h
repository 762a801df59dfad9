// SPDX-License-Identifier: Apache-2.0
// Tensors of other libraries, and ours for them, without a copy: the structures of DLPack, versions 0 and 1.
//
//   st::Tensor x = st::from_dlpack(managed);     // a DLManagedTensor or DLManagedTensorVersioned, of any header that has it
//   st::dlpack::DLManagedTensorVersioned* m = st::to_dlpack(x);   // the consumer calls m->deleter(m)
//
// The structures are declared here, in a namespace of Strider: no other header is needed, and none is in the way.
#pragma once

#include <cstdint>

#include <strider/tensor.h>

namespace strider {
inline namespace v0 {
namespace dlpack {

inline constexpr uint32_t kMajor = 1, kMinor = 1;  // the version that is exported

enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 };
enum DLDataTypeCode : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };
inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;  // flags

/// Numbers of CUDA streams as Python's `__dlpack__(stream=...)` has them; others are handles (cudaStream_t).
inline constexpr int64_t kLegacyStream = 1, kPerThreadStream = 2, kNoSync = -1;
/// The number of a stream, to ask a producer with.
STRIDER_API int64_t number_of(const Stream& stream);

struct DLDevice {
  int32_t device_type, device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);  // may be null
};
struct DLPackVersion {
  uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);  // may be null
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // namespace dlpack

/// The memory of another library as a tensor, which takes `managed` over: its deleter is called once, by whichever thread lets go
/// of the last tensor that shows the memory. When this throws, nothing was taken and `managed` is still the caller's.
/// Read-only memory gives a read-only tensor (TensorView::is_read_only).
/// `stream` is the number of the stream in whose order CUDA memory is ready and is freed, the one that the producer was asked with:
/// this thread's current stream waits for it, and at the end it waits for the streams that used the tensor. kNoSync: the memory is
/// ready. The CPU has no streams: it takes no number but the default and kNoSync.
/// User errors: null or misaligned memory, a rank or sizes beyond limits, a device that is not there, the stream number 0 (DLPack
/// calls it ambiguous). Unsupported errors: another major version, device types, dtypes, more than one lane.
STRIDER_API Tensor from_dlpack(dlpack::DLManagedTensorVersioned* managed, int64_t stream = dlpack::kLegacyStream);
STRIDER_API Tensor from_dlpack(dlpack::DLManagedTensor* managed, int64_t stream = dlpack::kLegacyStream);

/// The same for the structures of any other header of DLPack, which lie in memory as ours do.
template <class M>
  requires requires(M m) { m.dl_tensor.byte_offset; m.deleter; m.manager_ctx; }
Tensor from_dlpack(M* managed, int64_t stream = dlpack::kLegacyStream) {
  if constexpr (requires { managed->version; }) {
    static_assert(sizeof(M) == sizeof(dlpack::DLManagedTensorVersioned));
    return from_dlpack(reinterpret_cast<dlpack::DLManagedTensorVersioned*>(managed), stream);
  } else {
    static_assert(sizeof(M) == sizeof(dlpack::DLManagedTensor));
    return from_dlpack(reinterpret_cast<dlpack::DLManagedTensor*>(managed), stream);
  }
}

/// This tensor for another library; it shares the memory, which lives until the consumer calls the deleter.
/// The consumer's CUDA stream `stream` waits for what this thread's current stream has now, and the memory is not handed out again
/// before what the consumer's stream has when the deleter is called (with kPerThreadStream: the consumer waits itself). kNoSync:
/// nobody waits. User errors: as from_dlpack() has them for stream numbers.
STRIDER_API dlpack::DLManagedTensorVersioned* to_dlpack(const Tensor& tensor, int64_t stream = dlpack::kLegacyStream);
/// The same for consumers of DLPack before 1.0, which cannot be told that memory is read-only: a user error for such a tensor.
STRIDER_API dlpack::DLManagedTensor* to_dlpack_unversioned(const Tensor& tensor, int64_t stream = dlpack::kLegacyStream);

}  // namespace v0
}  // namespace strider
