// SPDX-License-Identifier: Apache-2.0
// The kernels of the proof suite: programs written to break careless lowerings, with their arguments and, where the answer
// can be written down independently, a reference in plain C++.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <strider/kernel.h>

#include "backend/backend.h"
#include "front/trace/kernel.h"
#include "ir/function.h"

namespace strider::lowering {

namespace tl = strider::tl;

/// Wide enough for every element of every dtype.
using Real = long double;

enum class Fill : uint8_t {
  Mixed,    // random, special values mixed in
  Plain,    // random and moderate: sums and exponentials of it are finite
  Formula,  // value(i)
  Poison,   // an output: bytes that show where nothing was written
};

/// One argument of a kernel.
struct Argument {
  enum Kind : uint8_t { Buffer, Alias, Number };
  Kind kind = Buffer;
  DType dtype = DType::F32;
  Fill fill = Fill::Mixed;
  int64_t count = 0;             // of a buffer
  std::function<Real(int64_t)> value = {};
  int align = 64;                // bytes; a smaller one is really misaligned
  bool no_alias = true;          // what the program is told
  int of = 0;                    // the argument whose memory an alias enters,
  int64_t offset = 0;            // at this element
  uint64_t bits = 0;             // of a number
  bool divisible_by_16 = false;  // what the program is told about a number

  Argument aligned(int bytes) const {
    Argument a = *this;
    a.align = bytes;
    return a;
  }
  Argument may_alias() const {
    Argument a = *this;
    a.no_alias = false;
    return a;
  }
};

/// Memory of the buffers before (in) and after (set) a run, for references.
class Reference {
 public:
  Reference(std::vector<std::vector<Real>>& before, std::vector<std::vector<Real>>& after) : before_(before), after_(after) {}
  Real in(int argument, int64_t i) const { return before_[static_cast<size_t>(argument)].at(static_cast<size_t>(i)); }
  void set(int argument, int64_t i, Real value) { after_[static_cast<size_t>(argument)].at(static_cast<size_t>(i)) = value; }

 private:
  std::vector<std::vector<Real>>& before_;
  std::vector<std::vector<Real>>& after_;
};

struct Kernel {
  std::string name;
  ir::Function program;
  Grid grid{1, 1, 1};
  std::vector<Argument> arguments;
  std::function<void(Reference&)> reference = {};
  double tolerance = 0;     // of the reference: absolute below 1, relative above
  double atomic_slack = 0;  // floats added by atomics: engines may differ by so much
};

// --- arguments

template <class T>
Argument mixed(int64_t count) {
  return {.dtype = dtype_of<T>, .fill = Fill::Mixed, .count = count};
}
template <class T>
Argument plain(int64_t count) {
  return {.dtype = dtype_of<T>, .fill = Fill::Plain, .count = count};
}
template <class T>
Argument output(int64_t count) {
  return {.dtype = dtype_of<T>, .fill = Fill::Poison, .count = count};
}
template <class T>
Argument formula(int64_t count, std::function<Real(int64_t)> value) {
  return {.dtype = dtype_of<T>, .fill = Fill::Formula, .count = count, .value = std::move(value)};
}
template <class T>
Argument zeroed(int64_t count) {
  return formula<T>(count, [](int64_t) { return 0; });
}
/// A pointer into the buffer of argument `of`; that argument must be may_alias() too.
template <class T>
Argument alias(int of, int64_t offset) {
  return {.kind = Argument::Alias, .dtype = dtype_of<T>, .align = static_cast<int>(sizeof(T)), .no_alias = false, .of = of, .offset = offset};
}
Argument number_bits(DType dtype, double value, bool divisible_by_16);
template <class T>
Argument number(T value, bool divisible_by_16 = false) {
  if constexpr (std::is_class_v<T>) return number_bits(dtype_of<T>, value.to_float(), divisible_by_16);  // 16-bit floats
  else return number_bits(dtype_of<T>, static_cast<double>(value), divisible_by_16);
}

// --- programs

ir::Function trace(const detail::KernelDecl& declaration, const std::vector<Argument>& arguments);

/// A kernel from a lambda of the tile language; its sizes are captured.
template <class F>
Kernel kernel(std::string name, Grid grid, std::vector<Argument> arguments, F body, std::function<void(Reference&)> reference = {},
              double tolerance = 0) {
  auto signature = strider::detail::signature<F>();
  strider::detail::KernelDecl declaration{name, signature.declare(), [body, signature](std::span<const Value> values) {
                                            signature.call(body, values);
                                          }};
  ir::Function program = trace(declaration, arguments);
  return {std::move(name), std::move(program), grid, std::move(arguments), std::move(reference), tolerance};
}

using Kernels = std::vector<Kernel>;
Kernels memory_kernels();     // order of loads and stores
Kernels reduction_kernels();
Kernels scan_kernels();
Kernels fold_kernels();       // products, extremes, truth values; running ones
Kernels whole_kernels();      // sort, histogram, dot; what moves elements
Kernels shape_kernels();      // broadcasts, transposes, reshapes
Kernels mask_kernels();
Kernels control_kernels();    // loops, branches, carried values
Kernels dtype_kernels();
Kernels op_kernels();         // what pass/decompose writes in other ops
Kernels gather_kernels();     // computed indices, atomics
Kernels effect_kernels();     // atomics of every kind, random numbers, hints
Kernels review_kernels();     // what a review of the passes found

/// All of them, names unique.
const Kernels& kernels();

}  // namespace strider::lowering
