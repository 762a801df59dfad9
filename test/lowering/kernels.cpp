// SPDX-License-Identifier: Apache-2.0
#include "lowering/kernels.h"

#include <bit>
#include <set>

#include "base/error.h"
#include "ir/semantics.h"

namespace strider::lowering {

Argument number_bits(DType dtype, double value, bool divisible_by_16) {
  return {.kind = Argument::Number, .dtype = dtype, .bits = ir::bits_of_double(dtype, value), .divisible_by_16 = divisible_by_16};
}

ir::Function trace(const strider::detail::KernelDecl& declaration, const std::vector<Argument>& arguments) {
  STRIDER_CHECK(declaration.params.size() == arguments.size());
  std::vector<front::ArgumentFact> facts;
  for (const Argument& a : arguments) {
    front::ArgumentFact fact{.dtype = a.dtype};
    fact.log2_align = static_cast<uint8_t>(std::countr_zero(static_cast<unsigned>(a.align)));
    fact.divisible_by_16 = a.divisible_by_16;
    fact.no_alias = a.kind != Argument::Number && a.no_alias;
    facts.push_back(fact);
  }
  return front::trace_kernel(declaration, facts);
}

const Kernels& kernels() {
  static const Kernels all = [] {
    Kernels result;
    std::set<std::string> names;
    for (auto group : {memory_kernels, reduction_kernels, scan_kernels, fold_kernels, whole_kernels, shape_kernels, mask_kernels, control_kernels, dtype_kernels, op_kernels, gather_kernels, effect_kernels,
                       review_kernels})
      for (Kernel& k : group()) {
        if (!names.insert(k.name).second) internal_error("two kernels are called {}", k.name);
        result.push_back(std::move(k));
      }
    return result;
  }();
  return all;
}

}  // namespace strider::lowering
