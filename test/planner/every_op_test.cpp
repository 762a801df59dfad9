// SPDX-License-Identifier: Apache-2.0
// Every pointwise op of ops.def as an operator on the CPU: all pairs of bytes against the op's meaning, and the same bits at
// every place of an array, whatever lies beside it.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "base/error.h"
#include "ir/infer.h"
#include "ir/semantics.h"
#include "support/bits.h"

#include <strider/strider.h>

namespace strider::test {
namespace {

using ir::Op;

/// Ops of numbers alone, on a dtype that they take.
bool is_tried(Op op, DType dtype) {
  if (!is_pointwise(op) || op == Op::PtrAdd || op == Op::Call || op == Op::Where || op == Op::Cast || op == Op::Bitcast) return false;
  try {
    std::vector<ir::Type> operands(static_cast<size_t>(info(op).least), ir::Type::scalar(dtype));
    ir::infer(op, operands, 0, nullptr);
    return true;
  } catch (const Error&) {
    return false;
  }
}

Operator make_operator(Op op) {
  auto id = static_cast<detail::OpId>(number_of(op));
  auto body = [=](std::span<const Value> x) {
    return detail::Values{x.size() == 1   ? detail::apply(id, x[0])
                          : x.size() == 2 ? detail::apply(id, x[0], x[1])
                                          : detail::apply(id, x[0], x[1], x[2])};
  };
  return Operator({std::string(name_of(op)), {}, static_cast<size_t>(info(op).least), 1, body});
}

uint64_t get(const Tensor& t, int64_t i) {
  uint64_t bits = 0;
  auto size = static_cast<size_t>(size_of(t.dtype()));
  std::memcpy(&bits, static_cast<const char*>(t.data()) + static_cast<size_t>(i) * size, size);
  return bits;
}

Tensor filled(DType dtype, int64_t count, const std::function<uint64_t(int64_t)>& bits) {
  Tensor t = empty({count}, {.dtype = dtype});
  auto size = static_cast<size_t>(size_of(dtype));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t value = bits(i);
    std::memcpy(static_cast<char*>(t.data()) + static_cast<size_t>(i) * size, &value, size);
  }
  return t;
}

Tensor run(const Operator& op, const std::vector<Tensor>& inputs) {
  std::vector<Argument> arguments(inputs.begin(), inputs.end());
  return op.run(arguments)[0];
}

class EveryOp : public ::testing::TestWithParam<int> {};

/// Operands k of pair i: the low byte, the high byte, and 5.
uint64_t byte_of(size_t k, int64_t i) { return k == 2 ? 5 : static_cast<uint64_t>(i >> (8 * k)) & 255; }

TEST_P(EveryOp, OnAllPairsOfBytes) {
  constexpr int64_t kPairs = 65536;
  Op op = ir::op_at(GetParam());
  for (DType dtype : {DType::I8, DType::U8}) {
    if (!is_tried(op, dtype)) continue;
    std::vector<Tensor> inputs;
    for (size_t k = 0; k < static_cast<size_t>(info(op).least); ++k)
      inputs.push_back(filled(dtype, kPairs, [k](int64_t i) { return byte_of(k, i); }));
    Tensor result = run(make_operator(op), inputs);
    for (int64_t i = 0; i < kPairs; ++i) {
      const uint64_t args[] = {byte_of(0, i), byte_of(1, i), byte_of(2, i)};
      ASSERT_EQ(get(result, i), ir::evaluate(op, dtype, result.dtype(), args)) << name_of(dtype) << " " << args[0] << " " << args[1];
    }
  }
}

TEST_P(EveryOp, GivesTheSameBitsEverywhere) {
  constexpr int64_t kMost = 67;
  Op op = ir::op_at(GetParam());
  std::mt19937_64 random(static_cast<uint64_t>(GetParam()));
  for (DType dtype : {DType::F16, DType::F32, DType::F64, DType::I32}) {
    if (!is_tried(op, dtype)) continue;
    Operator compiled = make_operator(op);
    for (int64_t count = 1; count <= kMost; ++count) {
      std::vector<Tensor> inputs;
      for (int k = 0; k < info(op).least; ++k) {
        uint64_t value = count % 2 ? ir::bits_of_double(dtype, 2.625 + k) : support::random_bits(dtype, random);
        inputs.push_back(filled(dtype, count, [value](int64_t) { return value; }));
      }
      Tensor result = run(compiled, inputs);
      for (int64_t i = 1; i < count; ++i)
        ASSERT_TRUE(support::same_answer(result.dtype(), get(result, i), get(result, 0))) << name_of(dtype) << ", " << i << " of " << count;
    }
  }
}

std::vector<int> all_ops() {
  std::vector<int> all;
  for (int k = 0; k < ir::kOpCount; ++k)
    for (DType dtype : {DType::I8, DType::F32})
      if (is_tried(ir::op_at(k), dtype) && (all.empty() || all.back() != k)) all.push_back(k);
  return all;
}

INSTANTIATE_TEST_SUITE_P(, EveryOp, ::testing::ValuesIn(all_ops()),
                         [](const auto& info) { return std::string(name_of(ir::op_at(info.param))); });

}  // namespace
}  // namespace strider::test
