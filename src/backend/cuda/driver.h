// SPDX-License-Identifier: Apache-2.0
// NVIDIA's driver, opened at first use. Every call is checked:
//
//   const CudaDriver& cuda = cuda_driver();   // throws a driver error when libcuda.so.1 cannot be opened
//   cuda.memory_allocate(&pointer, bytes);    // throws "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dlopen.h"

namespace strider {

using CudaContext = struct CUctx_st*;
using CudaModule = struct CUmod_st*;
using CudaFunction = struct CUfunc_st*;
using CudaStream = struct CUstream_st*;
using CudaLink = struct CUlinkState_st*;
using CudaEvent = struct CUevent_st*;
using CudaPointer = unsigned long long;

/// The driver's numbers of what Strider asks for and sets.
enum CudaDeviceAttribute {
  kCudaMultiprocessors = 16,
  kCudaMajor = 75,
  kCudaMinor = 76,
};
enum CudaFunctionAttribute { kCudaDynamicSharedBytes = 8 };
enum CudaStreamFlag { kCudaNonBlocking = 1 };
enum CudaEventFlag { kCudaTiming = 0, kCudaNoTiming = 2 };
enum CudaResult { kCudaNotReady = 600 };
enum CudaInput { kCudaPtx = 1 };
enum CudaJitOption { kCudaErrorLog = 5, kCudaErrorLogBytes = 6, kCudaOptimization = 7 };

template <class Signature>
class CudaCall;

/// Names the result of the call that gave it.
[[noreturn]] void throw_cuda_error(const char* symbol, int result);

/// A function of the driver; calling it checks the result.
template <class... Args>
class CudaCall<int(Args...)> {
 public:
  CudaCall(const SharedLibrary& library, const char* symbol)
      : function_(reinterpret_cast<int (*)(Args...)>(library.get(symbol))), symbol_(symbol) {}
  void operator()(Args... args) const {
    if (int result = function_(args...)) throw_cuda_error(symbol_, result);
  }
  /// The unchecked result.
  int result(Args... args) const noexcept { return function_(args...); }
  const char* symbol() const { return symbol_; }

 private:
  int (*function_)(Args...);
  const char* symbol_;
};

struct CudaDriver {
  CudaDriver();

  SharedLibrary library{"libcuda.so.1"};
#define STRIDER_CUDA(name, symbol, ...) CudaCall<int(__VA_ARGS__)> name{library, symbol};
#include "backend/cuda/driver.def"
};

/// The driver, initialised. A failure is thrown again by each call.
const CudaDriver& cuda_driver();

}  // namespace strider
