// SPDX-License-Identifier: Apache-2.0
// check(): can an operator or a kernel be trusted, and is it fast? Four steps in this order, since a later one means nothing
// while an earlier one fails:
//
//   1 types         which dtypes are taken, what the results are; the others are refused by errors that say so
//   2 boundaries    special values; sizes 0, 1 and around the block; nothing outside of a tensor is written or used
//   3 correctness   all dtypes and layouts against a reference, with the tolerances of assert_close, and the worst ULP
//   4 speed         beside a copy of as many bytes; when it is short of that: the block, the size of the data, the order of
//                   accesses or the maths
//
//   st::testing::CheckReport r = st::testing::check(gelu);   // the reference: the same function in double
//   std::cout << r.text();
//   return r.passed() ? 0 : 1;
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <strider/export.h>
#include <strider/kernel.h>
#include <strider/pointwise.h>

namespace strider {
inline namespace v0 {
namespace testing {

/// Noted: something a reader should know, but no fault. Skipped: not looked at, because of a step before or an option.
enum class Verdict : uint8_t { Passed, Noted, Skipped, Failed };

struct CheckLine {
  Verdict verdict;
  std::string text;
};

struct CheckStep {
  std::string name;  // "types", "boundaries", "correctness", "speed"
  Verdict verdict = Verdict::Passed;
  std::vector<CheckLine> lines = {};
};

struct CheckReport {
  std::string subject;              // "operator gelu"
  std::string device;
  std::vector<CheckStep> steps = {};  // always four

  /// No step failed.
  STRIDER_API bool passed() const;
  STRIDER_API std::string text() const;
  /// {subject, device, passed, steps: [{name, verdict, lines: [{verdict, text}]}]}
  STRIDER_API std::string json() const;
};

struct CheckOptions {
  std::string_view device = "cpu";
  std::vector<DType> dtypes = {};        // to try; left out: all
  std::vector<DType> must_accept = {};   // step 1 fails if one of these is refused
  std::optional<double> rtol = {}, atol = {};  // left out: those of assert_close
  double speed = 0.9;                    // step 4: the least part of the speed of a copy; 0 leaves the step out
  int64_t elements = 1 << 24;            // of its tensors
  bool quick = false;                    // fewer values, sizes and layouts; 2^22 elements
  uint64_t seed = 0;
  /// Of an operator with one output: the expected result for one element of each argument. Left out: the operator's own function
  /// in double (integers exactly); where that differs from the function in its own dtype, either is right.
  std::function<double(std::span<const double>)> reference = {};
};

/// What a call of a kernel works on. Kernels over vectors take rows * columns elements.
struct KernelSize {
  int64_t rows = 1, columns = 0, block = 1024;
  int64_t elements() const { return rows * columns; }
  /// Blocks that cover all elements.
  int64_t programs() const { return (elements() + block - 1) / block; }
};

/// A kernel with its tensors, ready to be launched again and again.
struct KernelCall {
  std::vector<Tensor> inputs = {};
  Tensor out = empty({});
  std::function<void()> launch = {};                   // sets `out`, whatever was in it
  std::function<std::vector<double>()> expected = {};  // the same for what `inputs` hold then, by plain C++ in double
  int64_t bytes = 0;                                   // that must be read and written
};

/// How a kernel is called.
struct KernelCheck {
  /// Tensors of a dtype on a device, from factories such as st::randn; the check writes other elements into the inputs.
  std::function<KernelCall(const KernelSize& size, const TensorOptions& options)> prepare = {};
  bool by_rows = false;                                     // a program holds a row: the block is at least as long
  /// Whether the maths run in f32 whatever the tensors are: wider and integer results are then no better than that.
  bool in_f32 = false;
  int64_t block = 1024;                                     // as it is used
  std::vector<int64_t> blocks = {256, 512, 1024, 2048, 4096, 8192, 16384};  // to try when it is slow
};

/// Throws only what has nothing to do with the operator: unknown devices, and options without a meaning.
STRIDER_API CheckReport check(const Operator& op, const CheckOptions& options = {});
template <class F>
CheckReport check(const Pointwise<F>& op, const CheckOptions& options = {}) {
  return check(op.untyped(), options);
}
/// Operators of the library: `check(st::ops::gelu)`.
template <class Op>
  requires requires { Op::get().untyped(); }
CheckReport check(const Op&, const CheckOptions& options = {}) {
  return check(Op::get().untyped(), options);
}
STRIDER_API CheckReport check(std::string_view kernel, const KernelCheck& how, const CheckOptions& options = {});
inline CheckReport check(const Kernel& kernel, const KernelCheck& how, const CheckOptions& options = {}) {
  return check(kernel.declaration().name, how, options);
}

}  // namespace testing
}  // namespace v0
}  // namespace strider
