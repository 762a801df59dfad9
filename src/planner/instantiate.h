// SPDX-License-Identifier: Apache-2.0
// A scalar function and a plan's key -> the tile kernel: multi-index from the program id, strides spelled out, masked
// loads, the maths, masked stores.
#pragma once

#include <array>
#include <vector>

#include "base/kit.h"
#include "ir/function.h"
#include "planner/plan.h"

namespace strider::planner {

/// `scalar` takes the key's inputs and scalars in order, in the dtypes that it computes in, and yields its outputs.
ir::Function instantiate(const ir::Function& scalar, const Key& key);

/// An argument of the generated kernel.
struct Parameter {
  enum Kind : uint8_t { Pointer, Scalar, Size, TilesN, TilesM, Stride } kind;
  int operand = 0;
  int axis = 0;
};

/// Every parameter that a key's kernel has, in order; declaration and launch both go by it.
template <class F>
void for_each_parameter(const Key& key, F&& f) {
  for (int k = 0; k < key.operands; ++k)
    if (key.access[k].same_as == 0) f(Parameter{key.access[k].role == Role::Scalar ? Parameter::Scalar : Parameter::Pointer, k});
  for (int a = key.rank > 2 ? 1 : 0; a < key.rank; ++a) f(Parameter{Parameter::Size, 0, a});
  if (key.rank > 1) f(Parameter{Parameter::TilesN});
  if (key.rank > 2) f(Parameter{Parameter::TilesM});
  for (int k = 0; k < key.operands; ++k) {
    const Access& access = key.access[k];
    if (access.role == Role::Scalar || access.same_as > 0) continue;
    int unit = access.unit == Unit::None ? -1 : key.rank - (access.unit == Unit::M ? 2 : 1);
    for (int a = 0; a < key.rank; ++a)
      if (a != unit && !(access.broadcast >> a & 1)) f(Parameter{Parameter::Stride, k, a});
  }
}

/// For each operand a pointer and its strides, and for all of them the sizes and two more.
inline size_t most_parameters(const Key& key) { return size_t{key.operands} * (key.rank + 1u) + key.rank + 2u; }
inline constexpr size_t kMaxParameters = kMaxOperands * (kMaxAxes + 1) + kMaxAxes + 2;

/// Where the argument of a scalar operand stands among the kernel's arguments.
size_t slot_of_scalar(const Key& key, int operand);

/// The numbers of a launch. `scalars` holds the bits of scalar operands, by operand. Gives how many slots were written.
STRIDER_KIT size_t write_arguments(const Plan& plan, const uint64_t* scalars, uint64_t* slots);

}  // namespace strider::planner
