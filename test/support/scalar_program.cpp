// SPDX-License-Identifier: Apache-2.0
#include "support/scalar_program.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/evaluate.h"
#include "ir/semantics.h"
#include "support/bits.h"

namespace strider::support {

using namespace ir;

Function scalar_program(const std::vector<DType>& arguments, const ExpressionFn& expression) {
  auto write = [&](DType result, bool store) {
    Builder b("expression");
    Value out = b.param(Type::pointer(result), {.name = "out"});
    std::vector<Value> values;
    for (DType dtype : arguments) values.push_back(b.param(Type::scalar(dtype), {.name = "x"}));
    Value value = expression(b, values);
    if (store) b.store(out, value);
    DType dtype = b.type(value).dtype;
    return std::pair(dtype, b.finish());
  };
  DType result = write(DType::F32, false).first;
  return write(result, true).second;
}

DType stored_dtype(const Function& f) { return f.type(f.params()[0]).dtype; }

uint64_t stored_bits(const Function& f, std::span<const uint64_t> arguments) {
  std::vector<uint64_t> bits(f.size());
  for (size_t k = 0; k < arguments.size(); ++k) bits[f.params()[k + 1].id] = arguments[k];
  for (Value v : f.body().body) {
    const Node& node = f[v];
    if (node.op == Op::Store) return bits[f.operand(v, 1).id];
    if (node.op == Op::Constant) {
      bits[v.id] = static_cast<uint64_t>(node.imm);
      continue;
    }
    STRIDER_CHECK(is_pointwise(node.op) && node.type.is_scalar());
    uint64_t args[3];
    for (int k = 0; k < node.operand_count; ++k) args[k] = bits[f.operand(v, k).id];
    if (node.op == Op::Call) {
      const uint64_t* places[] = {args, args + 1, args + 2};
      constexpr int kStrides[] = {0, 0, 0};
      uint64_t* out[] = {&bits[v.id]};
      Evaluator(*f.helpers[static_cast<size_t>(node.imm)]).run(places, kStrides, out, 1);
      continue;
    }
    bits[v.id] = evaluate(node.op, f.type(f.operands(v).back()).dtype, node.type.dtype, args);
  }
  internal_error("the program stores nothing");
}

namespace {

template <class Accept>
int count_nodes(const Function& f, RegionId region, const Accept& accept) {
  int count = 0;
  for (Value v : f.region(region).body) {
    count += accept(f[v].op);
    for (int k = 0; k < f[v].region_count; ++k) count += count_nodes(f, f.region_of(v, k), accept);
  }
  return count;
}

void expect_same_answer(const Function& a, const Function& b, const std::vector<DType>& dtypes, std::span<const uint64_t> args) {
  DType dtype = stored_dtype(a);
  uint64_t left = stored_bits(a, args), right = stored_bits(b, args);
  if (same_answer(dtype, left, right)) return;
  std::string text;
  for (size_t k = 0; k < args.size(); ++k) text += " " + show_bits(dtypes[k], args[k]);
  ADD_FAILURE() << "for" << text << ": " << show_bits(dtype, left) << " became " << show_bits(dtype, right);
}

}  // namespace

int count_op(const Function& f, Op op) {
  return count_nodes(f, 0, [op](Op found) { return found == op; });
}
int count_pointwise(const Function& f) { return count_nodes(f, 0, is_pointwise); }

void expect_same_answers(const Function& a, const Function& b, const std::vector<DType>& arguments) {
  constexpr size_t kMostTried = 5000;
  std::vector<std::vector<uint64_t>> choices;
  size_t total = 1;
  for (DType dtype : arguments) total *= choices.emplace_back(special_bits(dtype)).size();
  std::mt19937_64 random(1);
  std::vector<uint64_t> args(arguments.size());
  for (size_t i = 0; i < std::min(total, kMostTried) && !::testing::Test::HasFailure(); ++i) {
    size_t rest = total <= kMostTried ? i : random() % total;
    for (size_t k = 0; k < args.size(); ++k, rest /= choices[k - 1].size()) args[k] = choices[k][rest % choices[k].size()];
    expect_same_answer(a, b, arguments, args);
  }
  for (int i = 0; i < 1000 && !::testing::Test::HasFailure(); ++i) {
    for (size_t k = 0; k < args.size(); ++k) args[k] = random_bits(arguments[k], random);
    expect_same_answer(a, b, arguments, args);
  }
}

}  // namespace strider::support
