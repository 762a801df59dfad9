/* SPDX-License-Identifier: Apache-2.0
 *
 * strider/c.h from a program in C99: what it is for, and every way to misuse it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <strider/c.h>

static int failures = 0;

#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++failures, printf("%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, strider_last_error())))
#define OK(call) CHECK((call) == STRIDER_OK)

/* The call fails with this status, and the error has these words. */
static void expect(int line, strider_status found, strider_status wanted, const char *words) {
  if (found == wanted && strstr(strider_last_error(), words)) return;
  ++failures;
  printf("%s:%d: status %d, expected %d; error \"%s\", expected \"%s\"\n", __FILE__, line, (int)found, (int)wanted,
         strider_last_error(), words);
}
#define FAILS(call, words) expect(__LINE__, (call), STRIDER_USER_ERROR, words)

static int deleted = 0;
static void count_delete(void *context) { deleted += *(int *)context; }

static strider_tensor *tensor_of(float *data, int64_t size) {
  strider_tensor *t = NULL;
  OK(strider_tensor_from_memory(data, STRIDER_F32, 1, &size, NULL, NULL, NULL, NULL, &t));
  return t;
}

static int holds(const strider_tensor *t, const float *expected, size_t count) {
  float found[64];
  if (count > 64 || strider_tensor_copy_to_host(t, found, count * sizeof(float)) != STRIDER_OK) return 0;
  return memcmp(found, expected, count * sizeof(float)) == 0;
}

static void test_tensors(void) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  const int64_t shape[2] = {2, 3}, turned[2] = {3, 2}, strides[2] = {1, 3};
  const float rows[6] = {0, 3, 1, 4, 2, 5}, more[6] = {9, 8, 7, 6, 5, 4};
  strider_tensor *x = NULL, *t = NULL, *made = NULL;
  strider_tensor_info info;
  int one = 1;
  OK(strider_tensor_from_memory(data, STRIDER_F32, 2, shape, NULL, "cpu", count_delete, &one, &x));
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(strider_tensor_query(x, &info));
  CHECK(info.data == data && info.dtype == STRIDER_F32 && info.rank == 2 && info.elements == 6);
  CHECK(info.shape[1] == 3 && info.strides[0] == 3 && strcmp(info.device, "cpu") == 0 && !info.is_read_only);
  OK(strider_tensor_as_strided(x, 2, turned, strides, 0, &t));
  CHECK(holds(t, rows, 6));
  OK(strider_tensor_free(x));
  CHECK(deleted == 0); /* the view keeps it */
  OK(strider_tensor_free(t));
  CHECK(deleted == 1);

  OK(strider_tensor_empty(STRIDER_F32, 2, turned, NULL, &made));
  OK(strider_tensor_copy_from_host(made, more, sizeof more));
  CHECK(holds(made, more, 6));
  FAILS(strider_tensor_copy_from_host(made, more, 8), "8 bytes given for a tensor of f32 of shape (3, 2), expected 24");
  FAILS(strider_tensor_copy_to_host(made, NULL, sizeof more), "the host's memory is NULL");
  OK(strider_tensor_free(made));
  OK(strider_tensor_free(NULL));
}

static void test_tensor_errors(void) {
  float data[6] = {0};
  const int64_t shape[2] = {2, 3}, negative[1] = {-1};
  strider_tensor *t = (strider_tensor *)data; /* must stay as it is */
  strider_tensor_info info;
  int one = 1;
  deleted = 0;
  FAILS(strider_tensor_from_memory(NULL, STRIDER_F32, 2, shape, NULL, NULL, count_delete, &one, &t), "pointer is null");
  FAILS(strider_tensor_from_memory((char *)data + 1, STRIDER_F32, 1, shape, NULL, NULL, count_delete, &one, &t), "no multiple of 4");
  FAILS(strider_tensor_from_memory(data, 99, 2, shape, NULL, NULL, count_delete, &one, &t), "there is no dtype number 99");
  FAILS(strider_tensor_from_memory(data, -1, 2, shape, NULL, NULL, count_delete, &one, &t), "there is no dtype number -1");
  FAILS(strider_tensor_from_memory(data, STRIDER_F32, 2, NULL, NULL, NULL, count_delete, &one, &t), "the shape is NULL");
  FAILS(strider_tensor_from_memory(data, STRIDER_F32, 200, shape, NULL, NULL, count_delete, &one, &t), "200 axes, expected 0 to");
  FAILS(strider_tensor_from_memory(data, STRIDER_F32, 2, shape, NULL, "abacus", count_delete, &one, &t), "there is no device abacus");
  FAILS(strider_tensor_from_memory(data, STRIDER_F32, 1, negative, NULL, NULL, count_delete, &one, &t), "negative size");
  FAILS(strider_tensor_from_memory(data, STRIDER_F32, 2, shape, NULL, NULL, count_delete, &one, NULL), "the pointer for the result is NULL");
  FAILS(strider_tensor_empty(STRIDER_F32, 1, negative, NULL, &t), "negative size");
  CHECK(deleted == 0 && t == (strider_tensor *)data);
  memset(&info, 0, sizeof info);
  FAILS(strider_tensor_query(NULL, &info), "the tensor is NULL");
  t = tensor_of(data, 6);
  FAILS(strider_tensor_query(t, &info), "the info has struct_size 0");
  FAILS(strider_tensor_query(t, NULL), "the pointer for the result is NULL");
  FAILS(strider_tensor_as_strided(t, 2, shape, shape, 5, &t), "leaves the tensor's");
  OK(strider_tensor_free(t));
}

static void test_dlpack(void) {
  float data[3] = {1, 2, 3};
  strider_tensor *x = tensor_of(data, 3), *y = NULL, *z = NULL;
  struct DLManagedTensor *old = NULL;
  struct DLManagedTensorVersioned *versioned = NULL;
  OK(strider_tensor_to_dlpack(x, &old));
  OK(strider_tensor_to_dlpack_versioned(x, &versioned));
  OK(strider_tensor_from_dlpack(old, &y));
  OK(strider_tensor_from_dlpack_versioned(versioned, &z));
  OK(strider_tensor_free(x));
  data[1] = 7;
  CHECK(holds(y, data, 3) && holds(z, data, 3));
  OK(strider_tensor_free(y));
  OK(strider_tensor_free(z));
  FAILS(strider_tensor_from_dlpack(NULL, &y), "the pointer is null");
  FAILS(strider_tensor_to_dlpack(NULL, &old), "the tensor is NULL");
}

static void test_operators(void) {
  float a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40}, c[4] = {0};
  const float sum[4] = {11, 22, 33, 44}, scaled[4] = {6, 12, 18, 24};
  strider_tensor *x = tensor_of(a, 4), *y = tensor_of(b, 4), *z = tensor_of(c, 4), *made = NULL, *two[2] = {NULL, NULL};
  strider_argument arguments[3];
  strider_operator *op = NULL;
  strider_options options;
  struct {
    strider_options known;
    void *newer;
  } later;
  size_t inputs = 0, outputs = 0;
  arguments[0] = strider_arg_tensor(x), arguments[1] = strider_arg_tensor(y);
  OK(strider_call("add", arguments, 2, &made, 1, NULL));
  CHECK(holds(made, sum, 4));
  OK(strider_tensor_free(made));
  OK(strider_call("add", arguments, 2, &z, 1, NULL));
  CHECK(memcmp(c, sum, sizeof sum) == 0);

  OK(strider_operator_named("add_scaled", &op));
  OK(strider_operator_count(op, &inputs, &outputs));
  CHECK(inputs == 3 && outputs == 1);
  arguments[2] = strider_arg_float(0.5);
  arguments[2].name = "alpha";
  OK(strider_operator_call(op, arguments, 3, &z, 1, NULL));
  CHECK(memcmp(c, scaled, sizeof scaled) == 0);
  options.struct_size = sizeof options;
  OK(strider_operator_call(op, arguments, 3, &z, 1, &options));
  options.struct_size = 1;
  FAILS(strider_operator_call(op, arguments, 3, &z, 1, &options), "the options have struct_size 1");
  later.known.struct_size = sizeof later, later.newer = NULL;
  OK(strider_operator_call(op, arguments, 3, &z, 1, &later.known));
  later.newer = a;
  FAILS(strider_operator_call(op, arguments, 3, &z, 1, &later.known), "a field that this version of Strider does not know");
  OK(strider_operator_free(op));

  FAILS(strider_call("abacus", arguments, 2, &z, 1, NULL), "there is no operator abacus; there are add,");
  FAILS(strider_call("softmax", arguments, 2, &z, 1, NULL), "there is no operator softmax");
  FAILS(strider_call(NULL, arguments, 2, &z, 1, NULL), "the name is NULL");
  FAILS(strider_call("add", NULL, 2, &z, 1, NULL), "the list of arguments is NULL");
  FAILS(strider_call("add", arguments, 2, NULL, 1, NULL), "the list of outputs is NULL");
  FAILS(strider_call("add", arguments, 1, &z, 1, NULL), "operator add: 1 arguments given, expected 2");
  FAILS(strider_call("add", arguments, 2, two, 2, NULL), "operator add: 2 outputs given, expected 1");
  FAILS(strider_operator_call(NULL, arguments, 2, &z, 1, NULL), "the operator is NULL");
  arguments[1] = strider_arg_tensor(NULL);
  FAILS(strider_call("add", arguments, 2, &z, 1, NULL), "argument 1 is a tensor that is NULL");
  arguments[1].kind = 77;
  FAILS(strider_call("add", arguments, 2, &z, 1, NULL), "argument 1 is of kind 77");
  arguments[1] = strider_arg_tensor(tensor_of(b, 3));
  FAILS(strider_call("add", arguments, 2, &z, 1, NULL), "does not broadcast");
  made = NULL;
  FAILS(strider_call("add", arguments, 2, &made, 1, NULL), "does not broadcast");
  CHECK(made == NULL);
  OK(strider_tensor_free((strider_tensor *)arguments[1].value.tensor));

  OK(strider_operator_from_ir("kernel both(%x: f32) {\n  %0 = add %x, %x : f32\n  %1 = mul %x, %x : f32\n  yield %0, %1\n}\n", &op));
  OK(strider_operator_call(op, arguments, 1, two, 2, NULL));
  CHECK(two[0] && two[1] && two[0] != two[1]);
  OK(strider_tensor_free(two[1]));
  two[1] = NULL;
  FAILS(strider_operator_call(op, arguments, 1, two, 2, NULL), "1 of 2 outputs are NULL: give all of them, or none");
  OK(strider_tensor_free(two[0]));
  OK(strider_operator_free(op));
  op = NULL;
  FAILS(strider_operator_from_ir("kernel both(%x: f32) {\n  oops\n}\n", &op), "line 2, column ");
  FAILS(strider_operator_from_ir(NULL, &op), "the text is NULL");
  CHECK(op == NULL);
  OK(strider_tensor_free(x));
  OK(strider_tensor_free(y));
  OK(strider_tensor_free(z));
}

static const char *const kTwice =
    "kernel twice(%x: *f32, %n: i32) {\n"
    "  %0 = program_id axis=0 : i32\n"
    "  %1 = const 4 : i32\n"
    "  %2 = mul %0, %1 : i32\n"
    "  %3 = broadcast %2 : i32[4]\n"
    "  %4 = arange begin=0 : i32[4]\n"
    "  %5 = add %3, %4 : i32[4]\n"
    "  %6 = broadcast %n : i32[4]\n"
    "  %7 = lt %5, %6 : bool[4]\n"
    "  %8 = broadcast %x : *f32[4]\n"
    "  %9 = ptr_add %8, %5 : *f32[4]\n"
    "  %10 = load %9, %7 : f32[4]\n"
    "  %11 = add %10, %10 : f32[4]\n"
    "  store %9, %11, %7\n"
    "}\n";

static void test_kernels(void) {
  float a[6] = {1, 2, 3, 4, 5, 6}, total = 0;
  const float twice[6] = {2, 4, 6, 8, 10, 6};
  const int64_t grid[4] = {2, 1, 1, 1};
  strider_tensor *x = tensor_of(a, 6), *sum = tensor_of(&total, 1);
  strider_argument arguments[4];
  strider_kernel *kernel = NULL;
  OK(strider_kernel_from_ir(kTwice, &kernel));
  arguments[0] = strider_arg_tensor(x), arguments[1] = strider_arg_int(5);
  OK(strider_kernel_launch(kernel, grid, 1, arguments, 2, NULL));
  OK(strider_synchronize("cpu"));
  CHECK(memcmp(a, twice, sizeof twice) == 0);
  FAILS(strider_kernel_launch(kernel, grid, 1, arguments, 1, NULL), "kernel twice: 1 arguments given, expected 2 (x, n)");
  FAILS(strider_kernel_launch(kernel, grid, 4, arguments, 2, NULL), "kernel twice: the grid has 4 numbers, expected 1 to 3");
  FAILS(strider_kernel_launch(kernel, NULL, 1, arguments, 2, NULL), "the grid is NULL");
  FAILS(strider_kernel_launch(NULL, grid, 1, arguments, 2, NULL), "the kernel is NULL");
  OK(strider_kernel_free(kernel));

  OK(strider_kernel_named("l1_norm", &kernel));
  arguments[1] = strider_arg_tensor(sum), arguments[2] = strider_arg_int(6), arguments[3] = strider_arg_constant("BLOCK", 4);
  OK(strider_kernel_launch(kernel, grid, 1, arguments, 4, NULL));
  CHECK(total == 36);
  FAILS(strider_kernel_launch(kernel, grid, 1, arguments, 3, NULL), "has no value");
  arguments[3].name = NULL;
  FAILS(strider_kernel_launch(kernel, grid, 1, arguments, 4, NULL), "the name of a constant is NULL");
  OK(strider_kernel_free(kernel));
  FAILS(strider_kernel_named("add", &kernel), "there is no kernel add; there are");
  FAILS(strider_kernel_from_ir("nonsense", &kernel), "line 1, column ");
  OK(strider_tensor_free(x));
  OK(strider_tensor_free(sum));
}

static void test_devices(void) {
  size_t count = 0;
  const char *name = NULL;
  OK(strider_device_count(&count));
  CHECK(count >= 1);
  OK(strider_device_name(0, &name));
  CHECK(name && strcmp(name, "cpu") == 0);
  FAILS(strider_device_name(count, &name), "there is no device number");
  FAILS(strider_device_count(NULL), "the pointer for the result is NULL");
  FAILS(strider_synchronize("abacus"), "there is no device abacus");
  CHECK(strchr(strider_version(), '.') != NULL);
}

int main(void) {
  CHECK(strcmp(strider_last_error(), "") == 0);
  test_tensors();
  test_tensor_errors();
  test_dlpack();
  test_operators();
  test_kernels();
  test_devices();
  if (failures == 0) puts("ok");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
