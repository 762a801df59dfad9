// SPDX-License-Identifier: Apache-2.0
// Kernels by hand that reduce.
#include <fmt/format.h>

#include <bit>

#include "kernels/l1_norm.h"
#include "kernels/softmax.h"
#include "ops/kernels.h"
#include "suites/suites.h"

#include <strider/strider.h>

namespace strider::bench {
namespace {

using timing::Content;
using timing::Runner;
using timing::Work;
using Sets = std::vector<TensorView>;

constexpr int64_t kBytes = 4;  // of an f32

Sets tensors(Runner& r, const Dims& shape, Content content, int slot) {
  OperandText text(fmt::format("f32{}", to_string(shape)));
  Sets sets;
  for (int k = 0; k < Runner::sets_for(text.bytes()); ++k) sets.push_back(r.memory().operand(text, content, slot + k));
  return sets;
}

const TensorView& of_call(const Sets& sets, int64_t call) { return sets[static_cast<size_t>(call) % sets.size()]; }

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
TensorView as_words(const TensorView& t) { return {t.data(), i32, t.shape(), t.strides(), t.device_object()}; }

timing::Call read_call(Runner& r, int64_t n) {
  const int64_t block = ops::sum_block(r.device());
  Sets x = tensors(r, {n}, Content::Normal, 0), parts = tensors(r, {cdiv(n, block)}, Content::None, 100);
  return [=](int64_t call) {
    read_kernel()[cdiv(n, block)](as_words(of_call(x, call)), as_words(of_call(parts, call)), n, {{"BLOCK", block}});
  };
}

timing::Call l1_norm_call(Runner& r, int64_t n) {
  const int64_t block = ops::sum_block(r.device());
  Sets x = tensors(r, {n}, Content::Normal, 0);
  return [=, sum = zeros({}, {f32, r.device_name()})](int64_t call) {
    worked::l1_norm()[cdiv(n, block)](of_call(x, call), sum, n, {{"BLOCK", block}});
  };
}

timing::Call softmax_call(const Sets& x, const Sets& y, int64_t rows, int64_t columns) {
  int64_t block = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns)));
  return [=](int64_t call) {
    worked::softmax()[rows](of_call(x, call), of_call(y, call), columns, columns, columns, {{"BLOCK", block}});
  };
}

timing::Call softmax_by_peer(Runner& r, const Sets& x, const Sets& y) {
  if (!r.peer()) return {};
  std::vector<std::function<void()>> calls;
  for (size_t k = 0; k < x.size(); ++k) {
    const Argument operand[] = {x[k]};
    calls.push_back(r.peer()->call("softmax", operand, &y[k]));
  }
  return [=](int64_t call) { calls[static_cast<size_t>(call) % calls.size()](); };
}

void time(Runner& r, Work work) {
  r.progress().show(work.name);
  work.dtype = "f32";
  r.time(work);
}

}  // namespace

void run_reduce(Runner& r) {
  r.progress().expect(static_cast<int>(3 * r.threads().size()));
  const int64_t n = r.sizes()[0], side = 4096;
  for (int threads : r.threads()) {
    r.use_threads(threads);
    time(r, {.name = "read", .elements = n, .bytes = n * kBytes, .call = read_call(r, n)});
    time(r, {.name = "l1_norm", .elements = n, .bytes = n * kBytes, .call = l1_norm_call(r, n), .reference_name = "read",
             .reference = read_call(r, n)});
    Sets x = tensors(r, {side, side}, Content::Normal, 0), y = tensors(r, {side, side}, Content::None, 100);
    time(r, {.name = fmt::format("softmax of rows, {0}x{0}", side), .elements = side * side, .bytes = 2 * side * side * kBytes,
             .call = softmax_call(x, y, side, side), .peer = softmax_by_peer(r, x, y)});
  }
}

}  // namespace strider::bench
