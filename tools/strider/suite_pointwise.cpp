// SPDX-License-Identifier: Apache-2.0
// Operators over contiguous f32, and over matrices whose layouts differ.
#include <fmt/format.h>

#include "suites.h"

#include <strider/ops.h>

namespace strider::tool {
namespace {

constexpr int64_t kBytes = 4;  // of an f32

template <class Op>
Case unary(const Runner& r, const Op& op, int64_t n) {
  return {std::string(Op::get().untyped().declaration().name), 2 * n * kBytes,
          [&op, x = r.inputs({n}), y = r.outputs({n})](int64_t call) { op(of_call(x, call), out(of_call(y, call))); }};
}

/// a + b, where the tensors are seen through `view`.
template <class View>
Case add_of(const Runner& r, std::string name, const Dims& a_shape, const Dims& b_shape, const Dims& result, View view) {
  auto a = r.inputs(a_shape), b = r.inputs(b_shape), c = r.outputs(result);
  int64_t elements = a[0].elements() + b[0].elements() + c[0].elements();
  return {std::move(name), elements * kBytes,
          [=](int64_t call) { ops::add(of_call(a, call), view(of_call(b, call)), out(of_call(c, call))); }};
}

Tensor as_is(const Tensor& t) { return t; }
Tensor transposed(const Tensor& t) { return t.t(); }

}  // namespace

void run_pointwise(Runner& r) {
  int64_t n = r.elements();
  r.compare_with_copy(unary(r, ops::copy, n));  // of the same bytes too: how far the ratio strays from 1 is the noise
  r.compare_with_copy(add_of(r, "add", {n}, {n}, {n}, as_is));
  r.compare_with_copy(unary(r, ops::abs, n));
  r.compare_with_copy(unary(r, ops::gelu, n));
}

void run_layouts(Runner& r) {
  int64_t n = r.side();
  r.compare_with_copy(add_of(r, fmt::format("({0}, 1) + ({0}, {0})", n), {n, 1}, {n, n}, {n, n}, as_is));
  r.compare_with_copy(add_of(r, fmt::format("(1, {0}) + ({0}, {0})", n), {1, n}, {n, n}, {n, n}, as_is));
  r.compare_with_copy(add_of(r, fmt::format("a + b.T, {}^2", n), {n, n}, {n, n}, {n, n}, transposed));
  if (r.is_gpu()) return;
  constexpr int64_t kUneven = 4000;  // rows that are no power of two apart
  r.compare_with_copy(
      add_of(r, fmt::format("a + b.T, {}^2", kUneven), {kUneven, kUneven}, {kUneven, kUneven}, {kUneven, kUneven}, transposed));
}

}  // namespace strider::tool
