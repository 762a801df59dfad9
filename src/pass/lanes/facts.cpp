// SPDX-License-Identifier: Apache-2.0
#include "pass/lanes/facts.h"

#include <algorithm>
#include <cstdlib>

#include "ir/fold.h"

namespace strider::pass {

using namespace ir;

namespace {
constexpr int64_t kMost = 1 << 20;  // enough for every question, small enough not to overflow
constexpr int64_t kScratchAlignment = 64;

int64_t power_in(int64_t n) {
  auto bits = static_cast<uint64_t>(n);
  return n == 0 ? kMost : static_cast<int64_t>(std::min<uint64_t>(kMost, bits & (~bits + 1)));
}

bool is_kernel_param(const Function& f, Value v) {
  auto params = f.params();
  return f[v].op == Op::Param && static_cast<size_t>(f[v].imm) < params.size() && params[f[v].imm] == v;
}
}  // namespace

void Facts::promise(Value v, int64_t number) {
  if (f_.type(v).is_pointer()) aligned_[v.id] = std::max(alignment(v), power_in(number));
  else set_divisor(v, std::max(divisor(v), power_in(number)));
}

int64_t Facts::divisor(Value v, int depth) const {
  if (auto it = known_.find(v.id); it != known_.end()) return it->second;
  return known_[v.id] = found_divisor(v, depth);  // kept, because shared operands would be walked again and again
}

int64_t Facts::found_divisor(Value v, int depth) const {
  const Node& n = f_[v];
  if (int64_t c; constant_int(f_, v, &c)) return power_in(c);
  if (is_kernel_param(f_, v)) return power_in(f_.param_info(static_cast<int>(n.imm)).divisible);
  if (depth == 0 || n.operand_count == 0 || is_float(f_.type(f_.operand(v, 0)).dtype)) return 1;
  auto of = [&](int k) { return divisor(f_.operand(v, k), depth - 1); };
  switch (n.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Or:
    case Op::Xor: return std::min(of(0), of(1));
    case Op::Mul: return std::min(kMost, of(0) * of(1));
    case Op::And: return std::max(of(0), of(1));
    case Op::Neg: return of(0);
    case Op::Cast: return n.type.dtype == DType::Bool ? 1 : of(0);
    case Op::Where: return std::min(of(1), of(2));
    case Op::Minimum:
    case Op::Maximum: return std::min(of(0), of(1));
    case Op::Shl: {
      int64_t c;
      return constant_int(f_, f_.operand(v, 1), &c) && c >= 0 && c < 20 ? std::min(kMost, of(0) << c) : 1;
    }
    default: return 1;
  }
}

int64_t Facts::alignment(Value v, int depth) const {
  if (auto it = aligned_.find(v.id); it != aligned_.end()) return it->second;
  const Node& n = f_[v];
  int64_t element = size_of(n.type.dtype);
  if (n.op == Op::Alloc) return kScratchAlignment;
  if (is_kernel_param(f_, v)) return std::max(element, power_in(f_.param_info(static_cast<int>(n.imm)).divisible));
  if (n.op != Op::PtrAdd || depth == 0) return element;
  return std::min(alignment(f_.operand(v, 0), depth - 1), std::max(element, element * divisor(f_.operand(v, 1), depth - 1)));
}

}  // namespace strider::pass
