// SPDX-License-Identifier: Apache-2.0
// A call of an operator: arguments -> operands -> plan -> table -> launch.
#include <cstring>

#include "base/error.h"
#include "planner/instantiate.h"
#include "planner/schema.h"
#include "call/cache.h"
#include "call/compile.h"
#include "call/generate.h"
#include "call/inspect.h"
#include "call/interpret.h"
#include "call/launch_stream.h"
#include "call/naming.h"
#include "tensor/number.h"
#include "call/prepared.h"
#include "call/stages.h"
#include "call/stats.h"
#include "tensor/storage.h"
#include "call/tiers.h"

#include <strider/pointwise.h>

namespace strider {
inline namespace v0 {

using detail::OperatorDecl;
using detail::PreparedNumber;
using detail::PreparedParts;
using detail::Values;
using planner::ArgumentType;
using planner::Key;
using planner::kMaxOperands;
using planner::Plan;
using planner::Role;
using planner::Source;
using planner::Typing;

namespace {

/// The plan's key with the device that the code is for (or how it is interpreted), and the typing of its maths.
struct CodeKey {
  CodeKey(const void* d, const Typing& t, const Key& k) : device(d), typing(&t) {
    std::memcpy(static_cast<void*>(&key), &k, k.bytes());
  }
  const void* device;
  const Typing* typing;
  Key key;
  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), offsetof(CodeKey, key) + key.bytes()}; }
};
static_assert(offsetof(CodeKey, key) == 2 * sizeof(void*));

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
  Call(const OperatorDecl& op, std::span<const Argument> arguments) : op_(op) {
    size_t given = 0;
    while (given < arguments.size() && arguments[arguments.size() - 1 - given].kind() == Argument::Output) ++given;
    check_counts(arguments.size() - given, given, !arguments.empty() && arguments.back().kind() == Argument::Tensor);
    place(arguments.first(arguments.size() - given));
    for (size_t k = 0; k < op.arguments; ++k) add_input(k);
    if (!device_) user_error("none of the arguments is a tensor");
    for (size_t k = 0; k < given; ++k) add_output(k, arguments[arguments.size() - given + k].view());
    has_outputs_ = given > 0;
  }

  Device& device() const { return *device_; }
  bool has_outputs() const { return has_outputs_; }
  const uint64_t* scalars() const { return scalars_; }
  std::string_view type_key() const { return bytes_of(types_, op_.arguments); }

  std::vector<ArgumentType> types() const {
    std::vector<ArgumentType> result;
    for (size_t k = 0; k < op_.arguments; ++k) result.push_back({source(k), operand(k).dtype});
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
      results.push_back(empty_on(*device_, shape, strides, typing.results[k]));
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
      operands_[k] = {Role::Output, typing.results[k], far_apart, &shape, &strides};
    }
  }

  /// Numbers become what the kernel takes.
  void pass_numbers(const Typing& typing) {
    for (size_t k = 0; k < op_.arguments; ++k) {
      if (operand(k).role != Role::Scalar) continue;
      const planner::ArgumentTyping& t = typing.arguments[k];
      if (!fits(*inputs_[k], t.rounded))
        user_error("argument {} is {}, which does not fit {}", op_.schema.name_of(k), text_of(*inputs_[k]), name_of(t.rounded));
      if (t.is_natural) check_natural(*inputs_[k], op_.schema.name_of(k));
      operands_[op_.outputs + k].dtype = t.passed;
      scalars_[op_.outputs + k] = passed_bits(*inputs_[k], t.rounded, t.passed);
    }
  }

  /// The numbers that a prepared call can set again, and where they stand among the kernel's arguments.
  std::vector<PreparedNumber> numbers(const Typing& typing, const Plan& plan) const {
    std::vector<PreparedNumber> all;
    for (size_t k = 0; k < op_.arguments; ++k) {
      const planner::ArgumentTyping& t = typing.arguments[k];
      if (operand(k).role != Role::Scalar) continue;
      all.push_back({k, op_.schema.name_of(k), inputs_[k]->kind(), t.rounded, t.passed});
      all.back().is_natural = t.is_natural;
      if (!plan.empty) all.back().slot = planner::slot_of_scalar(plan.key, static_cast<int>(op_.outputs + k));
    }
    return all;
  }

  /// A user error if a given output cannot hold the result.
  void check_outputs(const Typing& typing) const {
    for (size_t k = 0; k < op_.outputs; ++k)
      if (!planner::can_write(typing.results[k], operands_[k].dtype))
        output_is_lower(k, operands_[k].dtype, typing.results[k]);
  }

  /// The tensors behind the kernel's pointers.
  std::vector<TensorArgument> tensors(const Plan& plan) const {
    std::vector<TensorArgument> all;
    size_t slot = 0;
    planner::for_each_parameter(plan.key, [&](const planner::Parameter& p) {
      const planner::Operand& o = operands_[p.operand];
      if (p.kind == planner::Parameter::Pointer) all.push_back(tensor_argument(slot, o.data, o.dtype, *o.shape, *o.strides));
      ++slot;
    });
    return all;
  }

  Plan plan() const { return plan(device_->target()); }
  Plan plan(const Target& target) const { return planner::plan({operands_, op_.outputs + op_.arguments}, target); }

 private:
  const planner::Operand& operand(size_t argument) const { return operands_[op_.outputs + argument]; }

  Source source(size_t argument) const {
    const planner::Operand& o = operand(argument);
    return o.role == Role::Scalar ? Source::Number : o.shape->rank() == 0 ? Source::ZeroDim : Source::Tensor;
  }

  void check_counts(size_t inputs, size_t outputs, bool ends_in_tensor) const {
    if (inputs > op_.arguments || (inputs < op_.arguments && op_.schema.defaults.empty()))
      user_error("{} arguments given, expected {}{}", inputs, op_.arguments,
                 inputs > op_.arguments && ends_in_tensor ? "; a tensor to write to is given as st::out(tensor)" : "");
    if (outputs != 0 && outputs != op_.outputs) user_error("{} outputs given, expected {} or none", outputs, op_.outputs);
  }

  /// By place, then by name; what is left has its default.
  void place(std::span<const Argument> arguments) {
    for (size_t k = 0; k < op_.arguments; ++k) inputs_[k] = nullptr;
    for (size_t k = 0; k < arguments.size(); ++k) {
      bool by_name = !arguments[k].name().empty();
      if (!by_name && k > 0 && !arguments[k - 1].name().empty()) user_error("argument {} follows one that is given by name", k);
      size_t index = by_name ? planner::index_of(op_.schema, arguments[k].name()) : k;
      if (inputs_[index]) user_error("argument {} is given twice", op_.schema.name_of(index));
      inputs_[index] = &arguments[k];
    }
    for (size_t k = 0; k < op_.arguments; ++k)
      if (!inputs_[k]) inputs_[k] = &planner::default_of(op_.schema, k);
  }

  void add_input(size_t k) {
    const Argument& a = *inputs_[k];
    size_t index = op_.outputs + k;
    bool only_number = k < op_.schema.is_tensor.size() && !op_.schema.is_tensor[k];
    if (a.is_number()) {
      operands_[index] = {Role::Scalar, number_dtype(a), nullptr, nullptr, nullptr};
    } else if (a.kind() != Argument::Tensor || only_number) {
      user_error("argument {} is {}, expected {}", op_.schema.name_of(k),
                 a.kind() == Argument::Tensor ? "a tensor" : "an output", only_number ? "a number" : "a tensor or a number");
    } else {
      use_device(a.view());
      operands_[index] = {Role::Input, a.view().dtype(), a.view().data(), &a.view().shape(), &a.view().strides()};
    }
    types_[k] = static_cast<uint8_t>(static_cast<int>(operands_[index].dtype) | static_cast<int>(source(k)) << 6);
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
  const Argument* inputs_[kMaxOperands];  // by argument
  Device* device_ = nullptr;
  bool has_outputs_ = false;
  planner::Operand operands_[kMaxOperands];
  uint64_t scalars_[kMaxOperands];  // by operand
  uint8_t types_[kMaxOperands];     // by argument
};

/// The kernel's arguments; usual numbers of them lie in place.
class Slots {
 public:
  Slots(const Plan& plan, const Call& call) {
    const size_t most = planner::most_parameters(plan.key);
    if (most > kFew) more_.resize(most);
    uint64_t* slots = most > kFew ? more_.data() : few_;
    used_ = {slots, planner::write_arguments(plan, call.scalars(), slots)};
  }
  Slots(const Slots&) = delete;
  std::span<const uint64_t> used() const { return used_; }

 private:
  static constexpr size_t kFew = 128;
  uint64_t few_[kFew];
  std::vector<uint64_t> more_;
  std::span<const uint64_t> used_;
};

}  // namespace

namespace {
void check_count(std::string_view what, size_t count, size_t most) {
  if (count < 1 || count > most) user_error("it has {} {}, expected 1 to {}", count, what, most);
}
}  // namespace

struct Operator::Impl {
  OperatorDecl decl;
  std::string what = "operator " + decl.name;
  Cache<const Typing*> typings{what};  // by the arguments' types
  Cache<Executable> kernels{what};     // by device, typing and key
  Cache<ir::Function> programs{what};  // to interpret, by typing, key and whether it runs as written

  explicit Impl(OperatorDecl d) : decl(std::move(d)) {
    naming("operator", decl.name, [&] {
      check_count("arguments", decl.arguments, detail::kMostArguments);
      check_count("outputs", decl.outputs, detail::kMostOutputs);
      if (!decl.body) user_error("its body is a null pointer, expected a function");
      planner::check_schema(decl.schema, decl.arguments, decl.outputs);
    });
  }

  const Typing& typing(const Call& call) {
    if (const Typing** known = typings.find(call.type_key())) return **known;
    return *typings.find_or_make(call.type_key(), [&] {
      return std::make_unique<const Typing*>(&distinct(type_operator(decl, call.types())));
    });
  }

  Executable& kernel(const Typing& typing, const Plan& plan, Device& device) {
    CodeKey key(&device, typing, plan.key);
    if (Executable* known = kernels.find(key.bytes())) {
      counters().memory_hits.add();
      return *known;
    }
    return kernels.find_or_make(key.bytes(), [&] { return compile_in_tiers(generate(decl, typing, plan.key), device); });
  }

  std::shared_ptr<Executable> interpreted(const Call& call, const Typing& typing, const Plan& plan, const Interpretation& how) {
    check_interpretable(call.device());
    static const char kSimplified = 0, kAsWritten = 0;
    CodeKey key(how.overflow ? &kAsWritten : &kSimplified, typing, plan.key);
    const ir::Function& program =
        programs.find_or_make(key.bytes(), [&] { return prepare_to_interpret(generate(decl, typing, plan.key), how); });
    return std::make_shared<InterpretedLaunch>("operator", program, call.tensors(plan), how);
  }

 private:
  /// The one copy of a typing: argument types that lead to the same maths share their kernels.
  const Typing& distinct(Typing typing) {
    std::unique_lock lock = lock_of_tables();
    for (const auto& t : distinct_)
      if (*t == typing) return *t;
    distinct_.push_back(std::make_unique<Typing>(std::move(typing)));
    return *distinct_.back();
  }

  std::vector<std::unique_ptr<Typing>> distinct_;
};

Operator::Operator(OperatorDecl declaration) : impl_(std::make_shared<Impl>(std::move(declaration))) {}

Operator::Impl& Operator::impl() const {
  if (!impl_) user_error("the operator is empty: nothing was assigned to it");
  return *impl_;
}

Values Operator::apply(std::span<const Value> arguments) const { return apply_to_values(declaration(), arguments); }

const OperatorDecl& Operator::declaration() const { return impl().decl; }

size_t Operator::argument_named(std::string_view wanted) const {
  return entering("operator", name(), [&] { return planner::index_of(declaration().schema, wanted); });
}

const Argument& Operator::default_of(size_t argument) const {
  return naming("operator", name(), [&]() -> const Argument& { return planner::default_of(declaration().schema, argument); });
}

void Operator::too_many(size_t found) const {
  naming("operator", name(), [&] { user_error("{} arguments given, expected {}", found, arguments()); });
  __builtin_unreachable();
}

void Operator::several_outputs() const {
  naming("operator", name(), [&] { user_error("it has {} outputs: all(...) gives them", outputs()); });
  __builtin_unreachable();
}

std::vector<Tensor> Operator::run(std::span<const Argument> arguments) const {
  Impl& self = impl();
  return entering("operator", self.decl.name, [&] {
    Call call(self.decl, arguments);
    const Typing& typing = self.typing(call);
    call.pass_numbers(typing);
    std::vector<Tensor> results;
    if (!call.has_outputs()) results = call.allocate(typing);
    else call.check_outputs(typing);
    Plan plan = call.plan();
    if (plan.empty) return results;
    Slots slots(plan, call);
    const Interpretation* how = interpretation();
    if (how) self.interpreted(call, typing, plan, *how)->launch({plan.programs, 1, 1}, slots.used());
    else self.kernel(typing, plan, call.device()).launch({plan.programs, 1, 1}, slots.used(), launch_stream(call.device(), arguments));
    return results;
  });
}

PreparedCall Operator::prepare(std::span<const Argument> arguments) const {
  Impl& self = impl();
  return entering("operator", self.decl.name, [&] {
    Call call(self.decl, arguments);
    const Typing& typing = self.typing(call);
    call.pass_numbers(typing);
    PreparedParts parts;
    parts.what = "operator", parts.name = self.decl.name, parts.code = impl_, parts.device = &call.device();
    if (call.has_outputs()) call.check_outputs(typing);
    parts.outputs = call.has_outputs() ? detail::owning_tensors(arguments, Argument::Output) : call.allocate(typing);
    parts.tensors = detail::owning_tensors(arguments, Argument::Tensor);
    Plan plan = call.plan();
    parts.numbers = call.numbers(typing, plan);
    if (plan.empty) return PreparedCall(std::move(parts));
    if (const Interpretation* how = interpretation()) {
      std::shared_ptr<Executable> launch = self.interpreted(call, typing, plan, *how);
      parts.executable = launch.get();
      parts.code = std::make_shared<std::pair<std::shared_ptr<Impl>, std::shared_ptr<Executable>>>(impl_, std::move(launch));
    } else {
      parts.executable = &self.kernel(typing, plan, call.device());
    }
    parts.grid = {plan.programs, 1, 1};
    Slots slots(plan, call);
    parts.slots.assign(slots.used().begin(), slots.used().end());
    return PreparedCall(std::move(parts));
  });
}

std::string Operator::show(const Stage& stage, std::span<const Argument> arguments) const {
  return entering("operator", name(), [&] {
    const Target target = target_of(stage, Call(declaration(), arguments).device());
    return stage_of(inspect(*this, arguments, target), stage.name, target);
  });
}

}  // namespace v0

Inspection inspect(const Operator& op, std::span<const Argument> arguments, const Target& target) {
  const detail::OperatorDecl& decl = op.declaration();
  return entering("operator", decl.name, [&] {
    Call call(decl, arguments);
    planner::Typing typing = type_operator(decl, call.types());
    call.pass_numbers(typing);
    Dims shape, strides;
    if (!call.has_outputs()) call.imagine_outputs(typing, shape, strides);
    return Inspection{op, std::move(typing), call.plan(target)};
  });
}

ir::Function Inspection::scalar() const { return scalar_of(op.declaration(), typing); }

ir::Function Inspection::tile() const {
  return naming("operator", op.declaration().name, [&] {
    if (plan.empty) user_error("the tensors have no elements: no kernel runs");
    return generate(op.declaration(), typing, plan.key);
  });
}

}  // namespace strider
