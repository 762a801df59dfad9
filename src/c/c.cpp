// SPDX-License-Identifier: Apache-2.0
// strider/c.h: handles around the C++ types, and a wall that no exception passes.
#include <strider/c.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include <strider/device.h>
#include <strider/dlpack.h>
#include <strider/kernel.h>
#include <strider/pointwise.h>
#include <strider/stream.h>
#include <strider/tensor.h>

#include "base/error.h"
#include "base/version.h"
#include "front/trace/kernel.h"
#include "ops/builtins.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

struct strider_tensor {
  strider::Tensor tensor;
};
struct strider_operator {
  strider::Operator op;
};
struct strider_kernel {
  strider::Kernel kernel;
};

namespace strider {
namespace {

// ---- the wall

constexpr size_t kErrorBytes = 4096;
thread_local char last_error[kErrorBytes];  // no destructor: it serves to the end of the thread

strider_status failed(strider_status status, std::string_view text) noexcept {
  size_t size = std::min(text.size(), kErrorBytes - 1);
  std::memcpy(last_error, text.data(), size);
  last_error[size] = 0;
  return status;
}

strider_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::User: return STRIDER_USER_ERROR;
    case ErrorKind::Unsupported: return STRIDER_UNSUPPORTED;
    case ErrorKind::Driver: return STRIDER_DRIVER_ERROR;
    default: return STRIDER_INTERNAL_ERROR;
  }
}

template <class F>
strider_status guarded(F&& f) noexcept {
  try {
    f();
    return STRIDER_OK;
  } catch (const Error& error) {
    return failed(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(STRIDER_DRIVER_ERROR, "there is no memory on the host");
  } catch (const std::exception& error) {
    return failed(STRIDER_INTERNAL_ERROR, error.what());
  } catch (...) {
    return failed(STRIDER_INTERNAL_ERROR, "an exception of an unknown type");
  }
}

// ---- what comes in

template <class T>
T& given(T* pointer, std::string_view what) {
  if (!pointer) user_error("the {} is NULL", what);
  return *pointer;
}

template <class H, class... A>
void make(H** result, A&&... parts) {
  given(result, "pointer for the result");
  *result = new H{std::forward<A>(parts)...};
}

std::string_view device_named_by(const char* name) { return name ? name : "cpu"; }

Dims dims_of(std::string_view what, int32_t rank, const int64_t* sizes) {
  if (rank < 0 || rank > kMaxDims) user_error("{} axes, expected 0 to {}", rank, kMaxDims);
  if (rank > 0) given(sizes, what);
  return Dims(sizes, static_cast<size_t>(rank));
}

DType dtype_of_number(int32_t number) {
  if (number < 0 || number > UINT8_MAX || !is_known(static_cast<DType>(number))) user_error("there is no dtype number {}", number);
  return static_cast<DType>(number);
}

static_assert(STRIDER_BOOL == int(DType::Bool) && STRIDER_I8 == int(DType::I8) && STRIDER_I16 == int(DType::I16));
static_assert(STRIDER_I32 == int(DType::I32) && STRIDER_I64 == int(DType::I64) && STRIDER_U8 == int(DType::U8));
static_assert(STRIDER_U16 == int(DType::U16) && STRIDER_U32 == int(DType::U32) && STRIDER_U64 == int(DType::U64));
static_assert(STRIDER_F16 == int(DType::F16) && STRIDER_BF16 == int(DType::BF16) && STRIDER_F32 == int(DType::F32));
static_assert(STRIDER_F64 == int(DType::F64));

/// A caller of a later version may have more fields: what is not known here must not be used.
void check_options(const strider_options* options) {
  if (!options) return;
  constexpr size_t kMost = 4096;
  if (options->struct_size < sizeof(strider_options) || options->struct_size > kMost)
    user_error("the options have struct_size {}, expected sizeof(strider_options)", options->struct_size);
  const auto* bytes = reinterpret_cast<const unsigned char*>(options);
  if (std::any_of(bytes + sizeof(strider_options), bytes + options->struct_size, [](unsigned char b) { return b != 0; }))
    user_error("the options use a field that this version of Strider does not know");
}

/// Arguments as C++ takes them. A kernel's constants become numbers for the parameters that their names mean.
class Arguments {
 public:
  Arguments(const strider_argument* list, size_t count, const Kernel* kernel = nullptr) {
    if (count > 0) given(list, "list of arguments");
    names_.reserve(count);
    for (size_t k = 0; k < count; ++k) {
      const strider_argument& a = list[k];
      if (a.reserved != 0) user_error("argument {}: reserved is {}, expected 0", k, a.reserved);
      arguments_.push_back(a.kind == STRIDER_ARG_CONSTANT ? constant(k, a, kernel) : argument(k, a));
    }
  }
  void add_output(const Tensor& tensor) { arguments_.push_back(Argument(out(tensor))); }
  std::span<const Argument> list() const { return arguments_; }

 private:
  template <class T>
  static Argument number(const strider_argument& a, T value) {
    return a.name ? Argument(arg(a.name, value)) : Argument(value);
  }
  static Argument argument(size_t k, const strider_argument& a) {
    switch (a.kind) {
      case STRIDER_ARG_TENSOR:
        if (a.name) user_error("argument {} is a tensor with a name: tensors are given by their place", k);
        if (!a.value.tensor) user_error("argument {} is a tensor that is NULL", k);
        return Argument(a.value.tensor->tensor);
      case STRIDER_ARG_BOOL: return number(a, a.value.integer != 0);
      case STRIDER_ARG_INT: return number(a, a.value.integer);
      case STRIDER_ARG_UNSIGNED: return number(a, a.value.unsigned_integer);
      case STRIDER_ARG_FLOAT: return number(a, a.value.number);
      default: user_error("argument {} is of kind {}, which is none of STRIDER_ARG_...", k, a.kind);
    }
  }

  Argument constant(size_t k, const strider_argument& a, const Kernel* kernel) {
    if (!kernel) user_error("argument {} is a constant, which only kernels have", k);
    const detail::KernelDecl& decl = kernel->declaration();
    names_.push_back(front::name_of(decl, front::constant_named(decl, &given(a.name, "name of a constant"))));
    return Argument(arg(names_.back(), a.value.integer));
  }

  std::vector<Argument> arguments_;
  std::vector<std::string> names_;
};

void call(const Operator& op, const strider_argument* list, size_t count, strider_tensor** outputs, size_t output_count,
          const strider_options* options) {
  check_options(options);
  given(outputs, "list of outputs");
  if (output_count != op.outputs()) user_error("operator {}: {} outputs given, expected {}", op.name(), output_count, op.outputs());
  Arguments arguments(list, count);
  auto tensors = static_cast<size_t>(std::count_if(outputs, outputs + output_count, [](auto* o) { return o != nullptr; }));
  if (tensors != 0 && tensors != output_count)
    user_error("operator {}: {} of {} outputs are NULL: give all of them, or none", op.name(), output_count - tensors, output_count);
  for (size_t k = 0; k < tensors; ++k) arguments.add_output(outputs[k]->tensor);
  std::vector<Tensor> results = op.run(arguments.list());
  std::vector<std::unique_ptr<strider_tensor>> made;
  for (Tensor& t : results) made.push_back(std::unique_ptr<strider_tensor>(new strider_tensor{std::move(t)}));
  for (size_t k = 0; k < made.size(); ++k) outputs[k] = made[k].release();
}

/// Names that live to the end of the process.
const char* kept_name(const std::string& name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& names = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

template <class H>
strider_status freed(H* handle) {
  return guarded([&] { delete handle; });
}

}  // namespace
}  // namespace strider

using namespace strider;

const char* strider_last_error(void) { return last_error; }
const char* strider_version(void) { return kVersion.data(); }

// ---- devices

strider_status strider_device_count(size_t* count) {
  return guarded([&] { given(count, "pointer for the result") = devices().size(); });
}

strider_status strider_device_name(size_t index, const char** name) {
  return guarded([&] {
    std::vector<std::string> all = devices();
    if (index >= all.size()) user_error("there is no device number {}, there are {}", index, all.size());
    given(name, "pointer for the result") = kept_name(all[index]);
  });
}

strider_status strider_synchronize(const char* device) {
  return guarded([&] { synchronize(device_named_by(device)); });
}

// ---- tensors

strider_status strider_tensor_empty(int32_t dtype, int32_t rank, const int64_t* shape, const char* device, strider_tensor** tensor) {
  return guarded([&] {
    make(tensor, empty(dims_of("shape", rank, shape), {dtype_of_number(dtype), device_named_by(device)}));
  });
}

strider_status strider_tensor_from_memory(void* data, int32_t dtype, int32_t rank, const int64_t* shape, const int64_t* strides,
                                          const char* device, void (*deleter)(void*), void* context, strider_tensor** tensor) {
  return guarded([&] {
    given(tensor, "pointer for the result");
    DType type = dtype_of_number(dtype);
    Dims sizes = dims_of("shape", rank, shape);
    count_elements(sizes, type);
    Dims steps = strides ? dims_of("strides", rank, strides) : contiguous_strides(sizes);
    TensorView view(data, type, sizes, steps, device_named_by(device));
    std::span<char> bytes = bytes_of(view);
    void* begin = bytes.empty() ? data : bytes.data();
    Stream home = Stream::default_of(device_named_by(device));
    auto storage = std::make_shared<Tensor::Storage>(begin, static_cast<int64_t>(bytes.size()), home, nullptr);
    auto handle = std::unique_ptr<strider_tensor>(new strider_tensor{Tensor(view, storage)});
    if (deleter) storage->take_over([deleter, context] { deleter(context); });  // last: after an error nobody is told
    *tensor = handle.release();
  });
}

strider_status strider_tensor_free(strider_tensor* tensor) { return freed(tensor); }

strider_status strider_tensor_as_strided(const strider_tensor* tensor, int32_t rank, const int64_t* shape, const int64_t* strides,
                                         int64_t offset, strider_tensor** view) {
  return guarded([&] {
    const Tensor& t = given(tensor, "tensor").tensor;
    Dims sizes = dims_of("shape", rank, shape);
    make(view, t.as_strided(sizes, strides ? dims_of("strides", rank, strides) : contiguous_strides(sizes), offset));
  });
}

strider_status strider_tensor_query(const strider_tensor* tensor, strider_tensor_info* info) {
  return guarded([&] {
    const Tensor& t = given(tensor, "tensor").tensor;
    size_t size = given(info, "pointer for the result").struct_size;
    if (size < sizeof(strider_tensor_info)) user_error("the info has struct_size {}, expected sizeof(strider_tensor_info)", size);
    *info = {size, t.data(), static_cast<int32_t>(t.dtype()), t.rank(), t.shape().begin(), t.strides().begin(), t.elements(),
             kept_name(t.device()), t.is_read_only()};
  });
}

namespace {

void check_bytes(const Tensor& t, const void* host, size_t bytes) {
  auto wanted = static_cast<size_t>(t.elements() * size_of(t.dtype()));
  if (bytes != wanted)
    user_error("{} bytes given for a tensor of {} of shape {}, expected {}", bytes, name_of(t.dtype()), to_string(t.shape()), wanted);
  if (bytes > 0) given(static_cast<const char*>(host), "host's memory");
}

}  // namespace

strider_status strider_tensor_copy_from_host(strider_tensor* tensor, const void* source, size_t bytes) {
  return guarded([&] {
    const Tensor& t = given(tensor, "tensor").tensor;
    check_bytes(t, source, bytes);
    if (bytes == 0) return;
    Tensor rows = empty(t.shape(), {t.dtype(), "cpu"});
    std::memcpy(rows.data(), source, bytes);
    t.copy_from(rows);
    synchronize(t.device());
  });
}

strider_status strider_tensor_copy_to_host(const strider_tensor* tensor, void* target, size_t bytes) {
  return guarded([&] {
    const Tensor& t = given(tensor, "tensor").tensor;
    check_bytes(t, target, bytes);
    if (bytes == 0) return;
    Tensor rows = t.to_host().contiguous();
    std::memcpy(target, rows.data(), bytes);
  });
}

strider_status strider_tensor_from_dlpack(struct DLManagedTensor* managed, strider_tensor** tensor) {
  return guarded([&] {
    given(tensor, "pointer for the result");
    auto handle = std::make_unique<strider_tensor>(empty({0}));
    handle->tensor = from_dlpack(reinterpret_cast<dlpack::DLManagedTensor*>(managed));
    *tensor = handle.release();
  });
}

strider_status strider_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed, strider_tensor** tensor) {
  return guarded([&] {
    given(tensor, "pointer for the result");
    auto handle = std::make_unique<strider_tensor>(empty({0}));
    handle->tensor = from_dlpack(reinterpret_cast<dlpack::DLManagedTensorVersioned*>(managed));
    *tensor = handle.release();
  });
}

strider_status strider_tensor_to_dlpack(const strider_tensor* tensor, struct DLManagedTensor** managed) {
  return guarded([&] {
    given(managed, "pointer for the result");
    *managed = reinterpret_cast<struct DLManagedTensor*>(to_dlpack_unversioned(given(tensor, "tensor").tensor));
  });
}

strider_status strider_tensor_to_dlpack_versioned(const strider_tensor* tensor, struct DLManagedTensorVersioned** managed) {
  return guarded([&] {
    given(managed, "pointer for the result");
    *managed = reinterpret_cast<struct DLManagedTensorVersioned*>(to_dlpack(given(tensor, "tensor").tensor));
  });
}

// ---- operators

strider_status strider_operator_named(const char* name, strider_operator** op) {
  return guarded([&] { make(op, *ops::builtin_named(&given(name, "name"), "operator").op); });
}

strider_status strider_operator_from_ir(const char* text, strider_operator** op) {
  return guarded([&] { make(op, operator_from_ir(&given(text, "text"))); });
}

strider_status strider_operator_free(strider_operator* op) { return freed(op); }

strider_status strider_operator_count(const strider_operator* op, size_t* arguments, size_t* outputs) {
  return guarded([&] {
    const Operator& o = given(op, "operator").op;
    if (arguments) *arguments = o.arguments();
    if (outputs) *outputs = o.outputs();
  });
}

strider_status strider_operator_call(const strider_operator* op, const strider_argument* arguments, size_t count,
                                     strider_tensor** outputs, size_t output_count, const strider_options* options) {
  return guarded([&] { call(given(op, "operator").op, arguments, count, outputs, output_count, options); });
}

strider_status strider_call(const char* name, const strider_argument* arguments, size_t count, strider_tensor** outputs,
                            size_t output_count, const strider_options* options) {
  return guarded([&] {
    call(*ops::builtin_named(&given(name, "name"), "operator").op, arguments, count, outputs, output_count, options);
  });
}

// ---- kernels

strider_status strider_kernel_named(const char* name, strider_kernel** kernel) {
  return guarded([&] { make(kernel, *ops::builtin_named(&given(name, "name"), "kernel").kernel); });
}

strider_status strider_kernel_from_ir(const char* text, strider_kernel** kernel) {
  return guarded([&] { make(kernel, kernel_from_ir(&given(text, "text"))); });
}

strider_status strider_kernel_free(strider_kernel* kernel) { return freed(kernel); }

strider_status strider_kernel_launch(const strider_kernel* kernel, const int64_t* grid, int32_t axes, const strider_argument* arguments,
                                     size_t count, const strider_options* options) {
  return guarded([&] {
    check_options(options);
    const Kernel& k = given(kernel, "kernel").kernel;
    Dims size = dims_of("grid", axes, grid);
    k.launch(LaunchGrid(size, {}), Arguments(arguments, count, &k).list());
  });
}
