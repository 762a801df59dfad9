// SPDX-License-Identifier: Apache-2.0
// Kernels by hand that reduce.
#include <fmt/format.h>

#include <bit>

#include "ops/kernels.h"
#include "suites.h"

#include <strider/strider.h>

namespace strider::tool {
namespace {

constexpr int64_t kBytes = 4;  // of an f32

/// Reads everything and does as little as makes that necessary: the words of a block, as integers, are or-ed together, and
/// each program stores one word of its own.
const Kernel& read_kernel() {
  static const Kernel k = kernel("read", [](tl::Ptr<int32_t> x, tl::Ptr<int32_t> out, tl::i64 n, tl::Const<"BLOCK"> block) {
    auto program = tl::program_id(0).to(i64);
    auto i = program * block + tl::arange(0, block);
    auto all = tl::reduce(tl::load(x + i, i < n), 0, [](auto a, auto b) { return a | b; });
    tl::store(out + program, all);
  }, {{"x", "out", "n"}});
  return k;
}

/// The same memory as words.
TensorView as_words(const Tensor& t) { return {t.data(), i32, t.shape(), t.strides(), t.device_object()}; }

Case read_of(const Runner& r, int64_t n) {
  const int64_t block = ops::sum_block(r.device_object());
  auto x = r.inputs({n}), parts = r.outputs({cdiv(n, block)});
  return {"read", n * kBytes, [=](int64_t call) {
    read_kernel()[cdiv(n, block)](as_words(of_call(x, call)), as_words(of_call(parts, call)), n, {{"BLOCK", block}});
  }};
}

Case l1_norm_of(const Runner& r, int64_t n) {
  const int64_t block = ops::sum_block(r.device_object());
  auto x = r.inputs({n});
  return {"l1_norm", n * kBytes, [=, sum = zeros({}, {f32, r.device()})](int64_t call) {
    ops::l1_norm_kernel()[cdiv(n, block)](of_call(x, call), sum, n, {{"BLOCK", block}});
  }};
}

Case softmax_of(const Runner& r, int64_t rows, int64_t columns) {
  auto x = r.inputs({rows, columns}), y = r.outputs({rows, columns});
  int64_t block = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns)));
  return {fmt::format("softmax of rows, {}x{}", rows, columns), 2 * rows * columns * kBytes, [=](int64_t call) {
    ops::softmax_kernel()[rows](of_call(x, call), of_call(y, call), columns, columns, columns, {{"BLOCK", block}});
  }};
}

}  // namespace

void run_reduce(Runner& r) {
  r.compare_with_copy(read_of(r, r.elements()));
  r.compare(l1_norm_of(r, r.elements()), read_of(r, r.elements()));
  r.compare_with_copy(softmax_of(r, 4096, 4096));
}

}  // namespace strider::tool
