// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/driver.h"

#include "base/error.h"

namespace strider {
namespace {

using Describe = int(int result, const char** text);

/// The driver's word for a result. These two functions describe errors and have none of their own worth reporting.
std::string describe(const SharedLibrary& library, const char* symbol, int result) {
  auto* function = reinterpret_cast<Describe*>(library.find(symbol));
  const char* text = nullptr;
  return function && function(result, &text) == 0 && text ? text : "unknown";
}

}  // namespace

void throw_cuda_error(const char* symbol, int result) {
  SharedLibrary library("libcuda.so.1");
  driver_error("{}: {} ({}): {}", symbol, describe(library, "cuGetErrorName", result), result,
               describe(library, "cuGetErrorString", result));
}

CudaDriver::CudaDriver() { init(0); }

const CudaDriver& cuda_driver() {
  static const CudaDriver& driver = *new CudaDriver;  // kept to the end: destructors at exit may still free memory
  return driver;
}

}  // namespace strider
