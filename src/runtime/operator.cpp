// SPDX-License-Identifier: Apache-2.0
// A call of an operator: arguments -> operands -> plan -> table -> launch.
#include <cstring>

#include "base/error.h"
#include "front/trace/scalar.h"
#include "ir/print.h"
#include "pointwise/instantiate.h"
#include "runtime/cache.h"
#include "runtime/compile.h"
#include "runtime/generate.h"
#include "runtime/naming.h"
#include "runtime/number.h"
#include "runtime/stats.h"
#include "runtime/storage.h"
#include "runtime/tiers.h"

#include <strider/pointwise.h>

namespace strider {
inline namespace v0 {
namespace detail {

using planner::ArgumentType;
using planner::Key;
using planner::kMaxOperands;
using planner::Plan;
using planner::Role;

namespace {

/// The plan's key with the device that the code is for.
struct CodeKey {
  CodeKey(const Device& d, const Key& k) : device(&d) { std::memcpy(static_cast<void*>(&key), &k, k.bytes()); }
  const Device* device;
  Key key;
  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), offsetof(CodeKey, key) + key.bytes()}; }
};
static_assert(offsetof(CodeKey, key) == sizeof(Device*));

DType number_dtype(const Argument& a) {
  switch (a.kind()) {
    case Argument::Bool: return DType::Bool;
    case Argument::Int: return DType::I64;
    case Argument::Unsigned: return DType::U64;
    default: return DType::F64;
  }
}

/// The arguments of one call, sorted out.
class Call {
 public:
  Call(const OperatorDecl& op, std::span<const Argument> arguments) : op_(op), arguments_(arguments) {
    size_t given = 0;
    while (given < arguments.size() && arguments[arguments.size() - 1 - given].kind() == Argument::Output) ++given;
    check_counts(arguments.size() - given, given);
    for (size_t k = 0; k < op.arguments; ++k) add_input(k);
    if (!device_) user_error("none of the arguments is a tensor");
    for (size_t k = 0; k < given; ++k) add_output(k, arguments[op.arguments + k].view());
    has_outputs_ = given > 0;
  }

  Device& device() const { return *device_; }
  bool has_outputs() const { return has_outputs_; }
  const uint64_t* scalars() const { return scalars_; }
  std::string_view type_key() const { return bytes_of(types_, op_.arguments); }

  std::vector<ArgumentType> types() const {
    std::vector<ArgumentType> result;
    for (size_t k = 0; k < op_.arguments; ++k) result.push_back({operand(k).role == Role::Input, operand(k).dtype});
    return result;
  }

  /// Makes the outputs that were not given.
  std::vector<Tensor> allocate(const Typing& typing) {
    std::span inputs(operands_ + op_.outputs, op_.arguments);
    Dims shape = planner::broadcast_shape(inputs);
    Dims strides = planner::output_strides(inputs, shape);
    std::vector<Tensor> results;
    results.reserve(op_.outputs);
    for (size_t k = 0; k < op_.outputs; ++k) {
      results.push_back(empty_on(*device_, shape, strides, typing.outputs[k]));
      add_output(k, results.back());
    }
    return results;
  }

  /// Operands for dtypes and layout alone, where no output exists.
  void imagine_outputs(const Typing& typing, Dims& shape, Dims& strides) {
    std::span inputs(operands_ + op_.outputs, op_.arguments);
    shape = planner::broadcast_shape(inputs);
    strides = planner::output_strides(inputs, shape);
    for (size_t k = 0; k < op_.outputs; ++k) {
      auto far_apart = reinterpret_cast<const void*>((k + 1) << 52);
      operands_[k] = {Role::Output, typing.outputs[k], far_apart, &shape, &strides};
    }
  }

  void check_numbers(const Typing& typing) const {
    for (size_t k = 0; k < op_.arguments; ++k)
      if (operand(k).role == Role::Scalar && !fits(arguments_[k], typing.compute[k]))
        user_error("argument {} is {}, which does not fit {}", front::name_of(op_, k), text_of(arguments_[k]),
                   name_of(typing.compute[k]));
  }

  Plan plan() const { return planner::plan({operands_, op_.outputs + op_.arguments}, device_->target()); }

 private:
  const planner::Operand& operand(size_t argument) const { return operands_[op_.outputs + argument]; }

  void check_counts(size_t inputs, size_t outputs) const {
    if (inputs != op_.arguments) user_error("{} arguments given, expected {}", inputs, op_.arguments);
    if (outputs != 0 && outputs != op_.outputs) user_error("{} outputs given, expected {} or none", outputs, op_.outputs);
    if (inputs + op_.outputs > kMaxOperands)
      user_error("{} operands, at most {} are possible", inputs + op_.outputs, kMaxOperands);
  }

  void add_input(size_t k) {
    const Argument& a = arguments_[k];
    size_t index = op_.outputs + k;
    bool only_number = k < op_.schema.is_tensor.size() && !op_.schema.is_tensor[k];
    if (a.is_number()) {
      operands_[index] = {Role::Scalar, number_dtype(a), nullptr, nullptr, nullptr};
      scalars_[index] = bits_of(a, number_dtype(a));
    } else if (a.kind() != Argument::Tensor || only_number) {
      user_error("argument {} is {}, expected {}", front::name_of(op_, k),
                 a.kind() == Argument::Tensor ? "a tensor" : "an output", only_number ? "a number" : "a tensor or a number");
    } else {
      use_device(a.view());
      operands_[index] = {Role::Input, a.view().dtype(), a.view().data(), &a.view().shape(), &a.view().strides()};
    }
    types_[k] = static_cast<uint8_t>(operands_[index].dtype) | (operands_[index].role == Role::Input ? 0x80 : 0);
  }

  void add_output(size_t k, const TensorView& view) {
    use_device(view);
    operands_[k] = {Role::Output, view.dtype(), view.data(), &view.shape(), &view.strides()};
  }

  void use_device(const TensorView& view) {
    if (!device_) device_ = &view.device_object();
    if (device_ != &view.device_object()) user_error("its tensors are on {} and on {}", device_->name(), view.device());
  }

  const OperatorDecl& op_;
  std::span<const Argument> arguments_;
  Device* device_ = nullptr;
  bool has_outputs_ = false;
  planner::Operand operands_[kMaxOperands];
  uint64_t scalars_[kMaxOperands];  // by operand
  uint8_t types_[kMaxOperands];     // by argument
};

}  // namespace

struct Operator::Impl {
  OperatorDecl decl;
  Cache<Typing> typings;      // by the arguments' types
  Cache<Executable> kernels;  // by device and key

  explicit Impl(OperatorDecl d) : decl(std::move(d)) {
    size_t named = decl.schema.is_tensor.size();
    if (named != 0 && named != decl.arguments)
      user_error("operator {}: is_tensor names {} arguments, the lambda takes {}", decl.name, named, decl.arguments);
  }

  const Typing& typing(const Call& call) {
    if (const Typing* known = typings.find(call.type_key())) return *known;
    return typings.find_or_make(call.type_key(), [&] { return std::make_unique<Typing>(type_operator(decl, call.types())); });
  }

  Executable& kernel(const Typing& typing, const Plan& plan, Device& device) {
    CodeKey key(device, plan.key);
    if (Executable* known = kernels.find(key.bytes())) {
      counters().memory_hits.add();
      return *known;
    }
    return kernels.find_or_make(key.bytes(), [&] { return compile_in_tiers(generate(decl, typing, plan.key), device); });
  }
};

Operator::Operator(OperatorDecl declaration) : impl_(std::make_shared<Impl>(std::move(declaration))) {}

const OperatorDecl& Operator::declaration() const { return impl_->decl; }

std::vector<Tensor> Operator::run(std::span<const Argument> arguments) const {
  return naming("operator", impl_->decl.name, [&] {
    Call call(impl_->decl, arguments);
    const Typing& typing = impl_->typing(call);
    call.check_numbers(typing);
    std::vector<Tensor> results;
    if (!call.has_outputs()) results = call.allocate(typing);
    Plan plan = call.plan();
    if (plan.empty) return results;
    Executable& kernel = impl_->kernel(typing, plan, call.device());
    uint64_t slots[planner::kMaxParameters];
    size_t count = planner::write_arguments(plan, call.scalars(), slots);
    kernel.launch({plan.programs, 1, 1}, {slots, count});
    return results;
  });
}

std::string Operator::source(std::span<const Argument> arguments) const {
  return naming("operator", impl_->decl.name, [&] {
    Call call(impl_->decl, arguments);
    const Typing& typing = impl_->typing(call);
    Dims shape, strides;
    if (!call.has_outputs()) call.imagine_outputs(typing, shape, strides);
    Plan plan = call.plan();
    if (plan.empty) user_error("the tensors have no elements: no kernel runs");
    return ir::print(generate(impl_->decl, typing, plan.key));
  });
}

}  // namespace detail
}  // namespace v0
}  // namespace strider
