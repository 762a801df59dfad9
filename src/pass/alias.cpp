// SPDX-License-Identifier: Apache-2.0
#include "pass/alias.h"

#include <algorithm>

namespace strider::pass {

using namespace ir;

Value pointer_root(const Function& f, Value pointer) {
  while (true) {
    const Node& n = f[pointer];
    if (n.op == Op::PtrAdd || has(n.op, Shapes) || n.op == Op::Extract) pointer = f.operand(pointer, 0);
    else break;
  }
  if (f[pointer].op == Op::Alloc) return pointer;
  auto params = f.params();
  return std::find(params.begin(), params.end(), pointer) != params.end() ? pointer : Value{};
}

bool roots_may_alias(const Function& f, Value a, Value b) {
  if (a == b) return true;
  auto alone = [&](Value root) {
    return root.valid() && f[root].op == Op::Param && f.param_info(static_cast<int>(f[root].imm)).no_alias;
  };
  if (alone(a) || alone(b)) return false;
  auto space = [&](Value root) { return root.valid() ? f.type(root).space : Space::Global; };
  return space(a) == space(b);
}

}  // namespace strider::pass
