// SPDX-License-Identifier: Apache-2.0
#include "ops/builtins.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "base/error.h"
#include "front/trace/kernel.h"
#include "call/generate.h"
#include "tensor/shape.h"

#include <strider/ops.h>
#include <strider/kernels/abs.h>
#include <strider/kernels/clip.h>
#include <strider/kernels/dropout.h>
#include <strider/kernels/gelu.h>
#include <strider/kernels/huber.h>
#include <strider/kernels/l1_norm.h>
#include <strider/kernels/layer_norm.h>
#include <strider/kernels/softmax.h>
#include <strider/kernels/vector_add.h>

namespace strider::inline v0::ops {
namespace {

using planner::Role;

constexpr std::string_view kLayouts[] = {"flat", "rows", "strided", "transposed"};
constexpr std::string_view kBlocks[] = {"1024", "256", "4096", "8192"};

bool is_number(const detail::OperatorDecl& op, size_t argument) {
  return argument < op.schema.is_tensor.size() && !op.schema.is_tensor[argument];
}

/// Operands in a layout at made-up addresses that do not overlap: matrices, and numbers where the schema wants them. `where`
/// takes a bool first.
class Example {
 public:
  static constexpr int64_t kSize = 4096;

  Example(const detail::OperatorDecl& op, DType dtype, std::string_view layout) {
    for (size_t k = 0; k < op.outputs + op.arguments; ++k) {
      bool is_output = k < op.outputs, is_last = k + 1 == op.outputs + op.arguments;
      bool is_condition = op.name == "where" && k == op.outputs;
      bool is_row = layout == "rows" && is_last && op.arguments > 1;
      shapes_.push_back(is_row ? Dims{1, kSize} : Dims{kSize, kSize});
      strides_.push_back(strides(layout, is_output, is_last));
      operands_.push_back({is_output ? Role::Output : Role::Input, is_condition ? DType::Bool : dtype,
                           reinterpret_cast<const void*>((k + 1) << 32), nullptr, nullptr});
      if (!is_output && is_number(op, k - op.outputs)) operands_.back() = {Role::Scalar, DType::F64, nullptr, nullptr, nullptr};
      if (!is_output)
        types_.push_back({operands_[k].role == Role::Scalar ? planner::Source::Number : planner::Source::Tensor, operands_[k].dtype});
    }
    for (size_t k = 0; k < operands_.size(); ++k) {
      if (operands_[k].role == Role::Scalar) continue;
      operands_[k].shape = &shapes_[k];
      operands_[k].strides = &strides_[k];
    }
  }

  std::span<const planner::Operand> operands() const { return operands_; }
  std::span<const planner::ArgumentType> types() const { return types_; }

 private:
  static Dims strides(std::string_view layout, bool is_output, bool is_last) {
    if (layout == "strided" && !is_output) return {2 * kSize, 2};
    if (layout == "rows" && is_last) return {2 * kSize, 1};
    if (layout == "transposed" && is_last) return {1, kSize};
    return {kSize, 1};
  }

  std::vector<Dims> shapes_, strides_;
  std::vector<planner::Operand> operands_;
  std::vector<planner::ArgumentType> types_;  // by argument
};

/// Whether the maths take values of a dtype.
bool takes(const detail::OperatorDecl& op, DType dtype) {
  std::vector<planner::ArgumentType> types(op.arguments, {planner::Source::Tensor, dtype});
  if (op.name == "where") types[0].dtype = DType::Bool;
  for (size_t k = 0; k < op.arguments; ++k)
    if (is_number(op, k)) types[k] = {planner::Source::Number, DType::F64};
  try {
    type_operator(op, types);
    return true;
  } catch (const Error&) {
    return false;
  }
}

Inspection example_of(const Operator& op, const Target& target, std::string_view layout) {
  const detail::OperatorDecl& decl = op.declaration();
  Example example(decl, takes(decl, DType::F32) ? DType::F32 : DType::I32, layout);
  planner::Typing typing = type_operator(decl, example.types());
  std::vector<planner::Operand> operands(example.operands().begin(), example.operands().end());
  for (size_t k = 0; k < decl.outputs; ++k) operands[k].dtype = typing.results[k];
  for (size_t k = 0; k < decl.arguments; ++k)
    if (operands[decl.outputs + k].role == Role::Scalar) operands[decl.outputs + k].dtype = typing.arguments[k].passed;
  return {op, std::move(typing), planner::plan(operands, target)};
}

template <class Op>
Builtin operator_builtin(const Op&) {
  const Operator& op = Op::get().untyped();
  auto inspect = [&op](const Target& t, std::string_view layout) { return example_of(op, t, layout); };
  auto tile = [inspect](const Target& t, std::string_view layout) { return inspect(t, layout).tile(); };
  return {op.declaration().name, "operator", tile, &op, nullptr, inspect};
}

Builtin kernel_builtin(const Kernel& kernel) {
  auto tile = [&kernel](const Target&, std::string_view block) {
    return front::trace_kernel(kernel, {{"BLOCK", std::stoll(std::string(block))}});
  };
  return {kernel.declaration().name, "kernel", tile, nullptr, &kernel};
}

std::vector<Builtin> make_builtins() {
  std::vector<Builtin> list;
#define STRIDER_OPERATOR(id, ...) list.push_back(operator_builtin(id));
#include <strider/operators.def>
  for (const Kernel* k : {&kernels::vector_add(), &kernels::abs(), &kernels::identity(), &kernels::clip(), &kernels::square_sum(),
                          &kernels::clip_by_norm(), &kernels::huber(), &kernels::gelu(), &kernels::l1_norm(), &kernels::l1_norm_parts(),
                          &kernels::sum_parts(), &kernels::softmax(), &kernels::layer_norm(), &kernels::dropout()})
    list.push_back(kernel_builtin(*k));
  return list;
}

std::span<const std::string_view> variant_list(const Builtin& builtin) {
  return builtin.kind == "operator" ? std::span<const std::string_view>(kLayouts) : kBlocks;
}

}  // namespace

std::span<const Builtin> builtins() {
  static const auto& list = *new std::vector<Builtin>(make_builtins());
  return list;
}

const Builtin& builtin_named(std::string_view name) { return builtin_named(name, ""); }

const Builtin& builtin_named(std::string_view name, std::string_view kind) {
  std::vector<std::string> names;
  for (const Builtin& b : builtins()) {
    if (!kind.empty() && b.kind != kind) continue;
    if (b.name == name) return b;
    names.push_back(b.name);
  }
  user_error("there is no {} {}; there are {}", kind.empty() ? "builtin" : kind, name, fmt::join(names, ", "));
}

std::vector<std::string> variants(const Builtin& builtin) {
  auto list = variant_list(builtin);
  return {list.begin(), list.end()};
}

}  // namespace strider::v0::ops
