// SPDX-License-Identifier: Apache-2.0
#include "ir/evaluate.h"

#include <algorithm>

#include "base/error.h"
#include "ir/semantics.h"

namespace strider::ir {

Evaluator::Evaluator(const Function& f) : f_(f), values_(f.size() * kChunk) {
  for (Value v : f.body().body)
    if (f.is_constant(v)) std::fill_n(slots(v), kChunk, static_cast<uint64_t>(f[v].imm));
  STRIDER_CHECK(!f.body().body.empty() && f[f.body().body.back()].op == Op::Yield);
}

void Evaluator::run_chunk(const uint64_t* const* args, const int* strides, size_t count) {
  constexpr int kOnes[] = {1, 1, 1};
  for (size_t k = 0; k < f_.params().size(); ++k)
    for (size_t i = 0; i < count; ++i) slots(f_.params()[k])[i] = args[k][i * static_cast<size_t>(strides[k])];
  for (Value v : f_.body().body) {
    const Node& node = f_[v];
    if (node.op == Op::Constant || node.op == Op::Yield) continue;
    const uint64_t* operands[3];
    for (int k = 0; k < node.operand_count; ++k) operands[k] = slots(f_.operand(v, k));
    evaluate_lanes(node.op, f_.type(f_.operands(v).back()).dtype, node.type.dtype, operands, kOnes, slots(v), count);
  }
}

void Evaluator::run(const uint64_t* const* args, const int* strides, uint64_t* const* out, size_t count) {
  std::vector<const uint64_t*> from(args, args + f_.params().size());
  const Value yield = f_.body().body.back();
  for (size_t done = 0; done < count; done += kChunk) {
    size_t lanes = std::min(kChunk, count - done);
    run_chunk(from.data(), strides, lanes);
    for (int k = 0; k < f_[yield].operand_count; ++k)
      if (out[k]) std::copy_n(slots(f_.operand(yield, k)), lanes, out[k] + done);
    for (size_t k = 0; k < from.size(); ++k) from[k] += lanes * static_cast<size_t>(strides[k]);
  }
}

}  // namespace strider::ir
