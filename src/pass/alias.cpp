// SPDX-License-Identifier: Apache-2.0
#include "pass/alias.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "pass/index_map.h"

namespace strider::pass {

using namespace ir;

bool roots_may_alias(const Function& f, Value a, Value b) {
  if (a == b) return true;
  auto alone = [&](Value root) {
    return root.valid() && f[root].op == Op::Param && f.param_info(static_cast<int>(f[root].imm)).no_alias;
  };
  bool known = a.valid() && b.valid();  // an unknown root may be the very argument that stands alone
  if (known && (alone(a) || alone(b))) return false;
  auto space = [&](Value root) { return root.valid() ? f.type(root).space : Space::Global; };
  return space(a) == space(b);
}

namespace {

/// The least width of the integers that an address is computed from, and so the distance at which lanes may meet again.
int narrowest_bits(const Function& f, Value v, int bits) {
  const Node& n = f[v];
  if (n.type.is_scalar() || n.op == Op::Constant) return bits;
  if (!n.type.is_pointer()) bits = std::min(bits, bits_of(n.type.dtype));
  for (Value o : f.operands(v)) bits = narrowest_bits(f, o, bits);
  return bits;
}

}  // namespace

bool lanes_differ(const Function& f, Value pointer) {
  const Shape& shape = f.type(pointer).shape;
  if (is_large(f, pointer)) return shape.elements() == 1;
  std::vector<std::pair<int64_t, int64_t>> axes;  // step, size
  for (int k = 0; k < shape.rank(); ++k) {
    if (shape[k] == 1) continue;
    auto step = step_along(f, pointer, k);
    if (!step || *step == 0) return false;
    axes.push_back({std::abs(*step), shape[k]});
  }
  std::sort(axes.begin(), axes.end());
  int64_t limit = int64_t{1} << (axes.empty() ? 1 : std::min(40, narrowest_bits(f, pointer, 64)));
  int64_t extent = 0;  // of the axes with smaller steps
  for (auto [step, size] : axes) {
    if (step <= extent || step >= limit) return false;
    extent += step * (size - 1);
  }
  return extent < limit;
}

}  // namespace strider::pass
