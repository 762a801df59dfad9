// SPDX-License-Identifier: Apache-2.0
// Every op of ops.def that pass/decompose writes in other ops, on every dtype: all engines must agree in every bit.
#include "base/error.h"
#include "ir/infer.h"
#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

constexpr int n = 130, block = 64;

using ir::Op;
using Ops = std::vector<Op>;

bool is_taken(Op op, DType dtype) {
  try {
    std::vector<ir::Type> operands(static_cast<size_t>(info(op).least), ir::Type::scalar(dtype));
    ir::infer(op, operands, 0, nullptr);
    return true;
  } catch (const Error&) {
    return false;
  }
}

Ops ops_with(uint16_t trait, DType dtype) {
  Ops all;
  for (int k = 0; k < ir::kOpCount; ++k)
    if (has(ir::op_at(k), trait) && is_taken(ir::op_at(k), dtype)) all.push_back(ir::op_at(k));
  return all;
}

Value apply(Op op, const Value& a, const Value& b) {
  auto id = static_cast<detail::OpId>(ir::number_of(op));
  return info(op).least == 1 ? detail::apply(id, a) : detail::apply(id, a, b);
}

/// Output k * n + i is op k of element i.
template <class T>
Kernel op_kernel(const std::string& name, const Ops& ops) {
  return kernel(name + "_" + std::string(name_of(dtype_of<T>)), {(n + block - 1) / block, 1, 1},
                {mixed<T>(n), mixed<T>(n), output<T>(n * static_cast<int64_t>(ops.size())), number(n)},
                [ops](tl::Ptr<T> x, tl::Ptr<T> y, tl::Ptr<T> z, tl::i32 n) {
                  auto i = tl::program_id(0) * block + tl::arange(0, block);
                  auto mask = i < n;
                  auto a = tl::load(x + i, mask), b = tl::load(y + i, mask);
                  for (size_t k = 0; k < ops.size(); ++k)
                    tl::store(z + i + n * static_cast<int>(k), apply(ops[k], a, b).template to<T>(), mask);
                });
}

template <class T>
void add_functions(Kernels& all, size_t in_one_kernel) {
  Ops functions = ops_with(ir::Approx, dtype_of<T>);
  for (size_t k = 0; k < functions.size(); k += in_one_kernel) {
    Ops some(functions.begin() + static_cast<long>(k), functions.begin() + static_cast<long>(std::min(k + in_one_kernel, functions.size())));
    all.push_back(op_kernel<T>("from_" + std::string(name_of(some[0])), some));
  }
}

template <class... T>
void add_composed(Kernels& all) {
  (all.push_back(op_kernel<T>("composed", ops_with(ir::Composed, dtype_of<T>))), ...);
}

/// So many functions that they are called: each of sin, pow and tanh eight times.
template <class T>
Kernel called_kernel() {
  return kernel("called_" + std::string(name_of(dtype_of<T>)), {(n + block - 1) / block, 1, 1},
                {mixed<T>(n), mixed<T>(n), output<T>(24 * n), number(n)}, [](tl::Ptr<T> x, tl::Ptr<T> y, tl::Ptr<T> z, tl::i32 n) {
                  auto i = tl::program_id(0) * block + tl::arange(0, block);
                  auto mask = i < n;
                  auto a = tl::load(x + i, mask), b = tl::load(y + i, mask);
                  for (int k = 0; k < 8; ++k) {
                    tl::store(z + i + 3 * k * n, apply(Op::Sin, a * (k + 1), b).template to<T>(), mask);
                    tl::store(z + i + (3 * k + 1) * n, apply(Op::Pow, a, b + k).template to<T>(), mask);
                    tl::store(z + i + (3 * k + 2) * n, apply(Op::Tanh, b - k, a).template to<T>(), mask);
                  }
                });
}

}  // namespace

Kernels op_kernels() {
  Kernels all;
  all.push_back(called_kernel<float>());
  all.push_back(called_kernel<Half>());
  add_composed<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t, Half, BFloat16, float, double>(all);
  add_functions<float>(all, 6);
  add_functions<double>(all, 4);
  all.push_back(op_kernel<BFloat16>("exp_sin_pow", {Op::Exp, Op::Sin, Op::Pow}));
  return all;
}

}  // namespace strider::lowering
