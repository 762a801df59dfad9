/* SPDX-License-Identifier: Apache-2.0
 *
 * Strider for C and for every language that calls C: plain C99, nothing of C++.
 *
 *   strider_tensor *x, *y = NULL;
 *   int64_t shape[] = {2, 3};
 *   strider_tensor_from_memory(data, STRIDER_F32, 2, shape, NULL, "cpu", NULL, NULL, &x);
 *   strider_argument arguments[] = {strider_arg_tensor(x), strider_arg_float(0.5)};
 *   if (strider_call("mul", arguments, 2, &y, 1, NULL) != STRIDER_OK) puts(strider_last_error());
 *
 * Every function returns a status: STRIDER_OK, or whose mistake it was, and then strider_last_error() says what it was. On an error
 * nothing was made and nothing was written through the pointers for results. No exception leaves, nothing aborts.
 *
 * Handles are made by the functions whose last parameter is a pointer to a handle, and given back by their ..._free(), to which NULL
 * may be given. Operators and kernels may be used by any number of threads at once, and so may tensors, as memory may.
 */
#ifndef STRIDER_C_H
#define STRIDER_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STRIDER_C_API __attribute__((visibility("default")))

typedef int32_t strider_status;
enum {
  STRIDER_OK = 0,
  STRIDER_USER_ERROR = 1,     /* shape, dtype, layout, argument, text */
  STRIDER_UNSUPPORTED = 2,    /* an op, dtype or size that this target cannot do */
  STRIDER_DRIVER_ERROR = 3,   /* a driver call failed, or there is no memory */
  STRIDER_INTERNAL_ERROR = 4  /* a fault of Strider */
};

/* What went wrong in this thread's last call that failed; "" before any did. Lives until its next call that fails. */
STRIDER_C_API const char *strider_last_error(void);
/* "0.1.0" */
STRIDER_C_API const char *strider_version(void);

/* ---- dtypes, by the numbers of strider/dtypes.def */

enum {
  STRIDER_BOOL = 0,
  STRIDER_I8 = 1,
  STRIDER_I16 = 2,
  STRIDER_I32 = 3,
  STRIDER_I64 = 4,
  STRIDER_U8 = 5,
  STRIDER_U16 = 6,
  STRIDER_U32 = 7,
  STRIDER_U64 = 8,
  STRIDER_F16 = 9,
  STRIDER_BF16 = 10,
  STRIDER_F32 = 11,
  STRIDER_F64 = 12
};

/* ---- devices: "cpu", "cuda:0", ...; where a name is NULL, "cpu" is meant */

STRIDER_C_API strider_status strider_device_count(size_t *count);
/* The name lives as long as the process. */
STRIDER_C_API strider_status strider_device_name(size_t index, const char **name);
/* Returns when all launches on the device are done; tells the first error of any of them. */
STRIDER_C_API strider_status strider_synchronize(const char *device);

/* ---- tensors. Strides count elements and may be zero or negative; NULL means row-major. */

typedef struct strider_tensor strider_tensor;

/* New memory, which nobody has written. */
STRIDER_C_API strider_status strider_tensor_empty(int32_t dtype, int32_t rank, const int64_t *shape, const char *device,
                                                  strider_tensor **tensor);
/* Memory of the caller's; `data` is the element at index 0 of every axis. `deleter(context)` is called once, when the last tensor
 * that shows the memory is gone, by whichever thread lets go of it; it may be NULL. After an error it is not called. */
STRIDER_C_API strider_status strider_tensor_from_memory(void *data, int32_t dtype, int32_t rank, const int64_t *shape,
                                                        const int64_t *strides, const char *device, void (*deleter)(void *),
                                                        void *context, strider_tensor **tensor);
STRIDER_C_API strider_status strider_tensor_free(strider_tensor *tensor);

/* Another view of a tensor's memory, which both keep: from element `offset` of that memory on. */
STRIDER_C_API strider_status strider_tensor_as_strided(const strider_tensor *tensor, int32_t rank, const int64_t *shape,
                                                       const int64_t *strides, int64_t offset, strider_tensor **view);

typedef struct strider_tensor_info {
  size_t struct_size; /* the caller sets it to sizeof(strider_tensor_info): later versions may have more fields */
  void *data;
  int32_t dtype, rank;
  const int64_t *shape, *strides; /* live as long as the tensor */
  int64_t elements;
  const char *device; /* lives as long as the process */
  int32_t is_read_only;
} strider_tensor_info;
STRIDER_C_API strider_status strider_tensor_query(const strider_tensor *tensor, strider_tensor_info *info);

/* All elements in row-major order; `bytes` must be exactly what they take. The device is done with them on return. */
STRIDER_C_API strider_status strider_tensor_copy_from_host(strider_tensor *tensor, const void *source, size_t bytes);
STRIDER_C_API strider_status strider_tensor_copy_to_host(const strider_tensor *tensor, void *target, size_t bytes);

/* DLPack, versions 0 and 1, without a copy. From it: `managed` is taken over unless an error is told. To it: the consumer calls the
 * deleter. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
STRIDER_C_API strider_status strider_tensor_from_dlpack(struct DLManagedTensor *managed, strider_tensor **tensor);
STRIDER_C_API strider_status strider_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned *managed, strider_tensor **tensor);
STRIDER_C_API strider_status strider_tensor_to_dlpack(const strider_tensor *tensor, struct DLManagedTensor **managed);
STRIDER_C_API strider_status strider_tensor_to_dlpack_versioned(const strider_tensor *tensor,
                                                                struct DLManagedTensorVersioned **managed);

/* ---- arguments of calls and launches */

enum {
  STRIDER_ARG_TENSOR = 1,
  STRIDER_ARG_BOOL = 2, /* value.integer: 0 or not */
  STRIDER_ARG_INT = 3,
  STRIDER_ARG_UNSIGNED = 4,
  STRIDER_ARG_FLOAT = 5,
  STRIDER_ARG_CONSTANT = 6 /* of kernels: value.integer, by its name */
};
typedef struct strider_argument {
  int32_t kind;
  int32_t reserved; /* 0 */
  const char *name; /* NULL: by its place */
  union {
    const strider_tensor *tensor;
    int64_t integer;
    uint64_t unsigned_integer;
    double number;
  } value;
} strider_argument;

static inline strider_argument strider_arg_tensor(const strider_tensor *tensor) {
  strider_argument a;
  a.kind = STRIDER_ARG_TENSOR, a.reserved = 0, a.name = NULL, a.value.tensor = tensor;
  return a;
}
static inline strider_argument strider_arg_bool(int value) {
  strider_argument a;
  a.kind = STRIDER_ARG_BOOL, a.reserved = 0, a.name = NULL, a.value.integer = value != 0;
  return a;
}
static inline strider_argument strider_arg_int(int64_t value) {
  strider_argument a;
  a.kind = STRIDER_ARG_INT, a.reserved = 0, a.name = NULL, a.value.integer = value;
  return a;
}
static inline strider_argument strider_arg_unsigned(uint64_t value) {
  strider_argument a;
  a.kind = STRIDER_ARG_UNSIGNED, a.reserved = 0, a.name = NULL, a.value.unsigned_integer = value;
  return a;
}
static inline strider_argument strider_arg_float(double value) {
  strider_argument a;
  a.kind = STRIDER_ARG_FLOAT, a.reserved = 0, a.name = NULL, a.value.number = value;
  return a;
}
static inline strider_argument strider_arg_constant(const char *name, int64_t value) {
  strider_argument a;
  a.kind = STRIDER_ARG_CONSTANT, a.reserved = 0, a.name = name, a.value.integer = value;
  return a;
}

/* How a call or a launch runs. NULL, or a struct with struct_size set and all other bytes zero, is the usual way. Later versions
 * have more fields, for example a stream; a field that this version does not know must be zero. */
typedef struct strider_options {
  size_t struct_size;
} strider_options;

/* ---- operators */

typedef struct strider_operator strider_operator;

/* An operator of the library: "add", "gelu", ... (strider/operators.def). */
STRIDER_C_API strider_status strider_operator_named(const char *name, strider_operator **op);
/* From its maths as text of the IR, as operator_from_ir() of strider/pointwise.h. */
STRIDER_C_API strider_status strider_operator_from_ir(const char *text, strider_operator **op);
STRIDER_C_API strider_status strider_operator_free(strider_operator *op);
STRIDER_C_API strider_status strider_operator_count(const strider_operator *op, size_t *arguments, size_t *outputs);

/* Runs it. `outputs` has an entry for each output: all NULL, and new tensors are put there, or all tensors, which are written. */
STRIDER_C_API strider_status strider_operator_call(const strider_operator *op, const strider_argument *arguments, size_t count,
                                                   strider_tensor **outputs, size_t output_count,
                                                   const strider_options *options);
/* The same by name. */
STRIDER_C_API strider_status strider_call(const char *name, const strider_argument *arguments, size_t count,
                                          strider_tensor **outputs, size_t output_count, const strider_options *options);

/* ---- kernels */

typedef struct strider_kernel strider_kernel;

/* A kernel of the library: "softmax", "layer_norm", ... (`strider show` lists them). */
STRIDER_C_API strider_status strider_kernel_named(const char *name, strider_kernel **kernel);
/* From text of the IR in tile form, which `strider show NAME` prints. */
STRIDER_C_API strider_status strider_kernel_from_ir(const char *text, strider_kernel **kernel);
STRIDER_C_API strider_status strider_kernel_free(strider_kernel *kernel);

/* Runs grid[0] * ... * grid[axes - 1] programs, 1 to 3 axes. On a GPU it returns before they are done. */
STRIDER_C_API strider_status strider_kernel_launch(const strider_kernel *kernel, const int64_t *grid, int32_t axes,
                                                   const strider_argument *arguments, size_t count,
                                                   const strider_options *options);

#ifdef __cplusplus
}
#endif

#endif
