// SPDX-License-Identifier: Apache-2.0
// A launch of a kernel: arguments -> facts -> table -> launch.
#include <strider/kernel.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "front/trace/kernel.h"
#include "ir/promote.h"
#include "planner/plan.h"
#include "call/cache.h"
#include "call/compile.h"
#include "call/effects.h"
#include "call/stages.h"
#include "call/interpret.h"
#include "call/launch_stream.h"
#include "call/naming.h"
#include "tensor/number.h"
#include "call/prepared.h"
#include "tensor/shape.h"
#include "call/stats.h"

#include <strider/tensor.h>

namespace strider {
inline namespace v0 {

using detail::KernelDecl;
using detail::ParamDecl;
using detail::ParamKind;
using front::ArgumentFact;

namespace {

constexpr size_t kMaxParams = 64;

/// The bytes between the first and the last element of a pointer's tensor.
struct Range {
  uintptr_t begin = 0, end = 0;
  int64_t bytes() const { return static_cast<int64_t>(end - begin); }
};
Range range_of(const TensorView& v) {
  Extent e = extent(v.shape(), v.strides());
  auto first = reinterpret_cast<uintptr_t>(v.data());
  return {first + static_cast<uintptr_t>(e.low * size_of(v.dtype())),
          first + static_cast<uintptr_t>((e.high + 1) * size_of(v.dtype()))};
}

/// The arguments of one launch, sorted out: facts for the specialisation, slots for the launch.
class Binding {
 public:
  Binding(const KernelDecl& kernel, std::span<const Argument> arguments) : kernel_(kernel) {
    if (kernel.params.size() > kMaxParams) user_error("{} parameters, at most {} are possible", kernel.params.size(), kMaxParams);
    std::fill_n(views_, kernel.params.size(), nullptr);
    std::fill_n(given_, kernel.params.size(), nullptr);
    if (!arguments.empty() && arguments.back().kind() == Argument::Constants) {
      for (const Constant& c : arguments.back().constants()) bind_constant(front::constant_named(kernel, c.name), c.value);
      arguments = arguments.first(arguments.size() - 1);
    }
    place(arguments);
    for (size_t k = 0; k < kernel.params.size(); ++k)
      if (!(bound_ >> k & 1)) bind(k, *given_[k]);
    find_aliases();
    if (!device_) device_ = &device_named("cpu");
  }

  Device& device() const { return *device_; }
  std::span<const ArgumentFact> facts() const { return {facts_, kernel_.params.size()}; }
  std::span<const uint64_t> slots() const { return {slots_, count_}; }

  /// The tensors, by the program's parameters.
  std::vector<TensorArgument> tensors() const {
    std::vector<TensorArgument> all;
    size_t slot = 0;
    for (size_t k = 0; k < kernel_.params.size(); ++k) {
      if (const TensorView* v = views_[k]) all.push_back(tensor_argument(slot, v->data(), v->dtype(), v->shape(), v->strides()));
      slot += kernel_.params[k].kind != ParamKind::Constant;
    }
    return all;
  }

  std::vector<detail::PreparedNumber> numbers() const {
    std::vector<detail::PreparedNumber> all;
    size_t slot = 0;
    for (size_t k = 0; k < kernel_.params.size(); ++k) {
      const ParamDecl& p = kernel_.params[k];
      auto kind = is_float(p.dtype) ? Argument::Float : is_int(p.dtype) ? Argument::Int : Argument::Bool;
      if (p.kind == ParamKind::Scalar)
        all.push_back({k, name(k), kind, p.dtype, p.dtype, facts_[k].divisible_by_16 != 0, slot});
      slot += p.kind != ParamKind::Constant;
    }
    return all;
  }

  LaunchConstants constants(int64_t* values) const {
    for (size_t k = 0; k < kernel_.params.size(); ++k) values[k] = facts_[k].constant;
    return {kernel_, {values, kernel_.params.size()}};
  }

 private:
  std::string name(size_t param) const { return front::name_of(kernel_, param); }

  /// By name, and the others in order; every parameter that is no bound constant gets one.
  void place(std::span<const Argument> arguments) {
    for (const Argument& a : arguments)
      if (!a.name().empty()) give(parameter_named(a.name()), a);
    size_t next = 0;
    for (const Argument& a : arguments) {
      if (!a.name().empty()) continue;
      while (next < kernel_.params.size() && (bound_ >> next & 1 || given_[next])) ++next;
      if (next == kernel_.params.size()) wrong_count(arguments.size());
      given_[next] = &a;
    }
    for (size_t k = 0; k < kernel_.params.size(); ++k) {
      if (bound_ >> k & 1 || given_[k]) continue;
      if (kernel_.params[k].kind != ParamKind::Constant) wrong_count(arguments.size());
      user_error("the constant {} has no value: end the arguments with {{{{\"{}\", value}}}}", name(k), name(k));
    }
  }

  void give(size_t param, const Argument& a) {
    if (given_[param] || bound_ >> param & 1) user_error("argument {} is given twice", name(param));
    given_[param] = &a;
  }

  size_t parameter_named(std::string_view wanted) const {
    for (size_t k = 0; k < kernel_.params.size(); ++k)
      if (name(k) == wanted) return k;
    user_error("there is no argument {}; its arguments: {} (.names in the kernel's options names them)", wanted,
               names([](size_t) { return true; }));
  }

  template <class Wanted>
  std::string names(Wanted&& wanted) const {
    std::string text;
    for (size_t k = 0; k < kernel_.params.size(); ++k)
      if (wanted(k)) text += (text.empty() ? "" : ", ") + name(k);
    return text;
  }

  [[noreturn]] void wrong_count(size_t found) const {
    size_t expected = kernel_.params.size() - static_cast<size_t>(std::popcount(bound_));
    user_error("{} arguments given, expected {} ({})", found, expected, names([&](size_t k) { return !(bound_ >> k & 1); }));
  }

  void bind_constant(size_t param, int64_t value) {
    if (bound_ >> param & 1) user_error("the constant {} is given twice", name(param));
    bound_ |= uint64_t{1} << param;
    facts_[param].constant = value;
  }

  void bind(size_t param, const Argument& a) {
    switch (kernel_.params[param].kind) {
      case ParamKind::Constant:
        if (a.kind() != Argument::Int) user_error("argument {} is {}, expected a constant integer", name(param), kind_text(a));
        return bind_constant(param, a.as_int());
      case ParamKind::Pointer: return bind_pointer(param, a);
      case ParamKind::Scalar: return bind_number(param, a);
    }
  }

  static std::string pointer_hint(const Argument& a, DType wanted) {
    if (a.kind() == Argument::Output) return ": a kernel takes it without st::out()";
    if (a.kind() != Argument::Tensor) return "";
    return fmt::format(": convert it with .to(st::{}), or let the kernel take tl::Ptr<>", ir::constant_of(wanted));
  }

  static std::string kind_text(const Argument& a) {
    switch (a.kind()) {
      case Argument::Tensor: return fmt::format("a tensor of {}", name_of(a.view().dtype()));
      case Argument::Bool: return "a bool";
      case Argument::Int:
      case Argument::Unsigned: return "an integer";
      case Argument::Float: return "a float";
      case Argument::Output: return "an output";
      default: return "neither a tensor nor a number";
    }
  }

  void bind_pointer(size_t param, const Argument& a) {
    const ParamDecl& p = kernel_.params[param];
    if (a.kind() != Argument::Tensor || (!p.any_dtype && a.view().dtype() != p.dtype))
      user_error("argument {} is {}, expected a tensor{}{}", name(param), kind_text(a),
                 p.any_dtype ? "" : fmt::format(" of {}", name_of(p.dtype)), pointer_hint(a, p.dtype));
    const TensorView& v = a.view();
    if (!device_) device_ = &v.device_object();
    if (device_ != &v.device_object())
      user_error("argument {} is on {}, others are on {}", name(param), v.device(), device_->name());
    constexpr int kMostAlign = 6;
    auto address = reinterpret_cast<uint64_t>(v.data());
    int align = std::min(std::countr_zero(address), kMostAlign);
    facts_[param].dtype = v.dtype();
    facts_[param].log2_align =
        static_cast<uint8_t>(align < 4 ? std::countr_zero(static_cast<unsigned>(size_of(v.dtype()))) : align);
    ranges_[param] = range_of(v);
    facts_[param].streams = device_->target().streams(ranges_[param].bytes());
    views_[param] = &v;
    slots_[count_++] = address;
  }

  void bind_number(size_t param, const Argument& a) {
    DType wanted = kernel_.params[param].dtype;
    bool is_kind =
        a.is_number() && (is_float(wanted) || (a.kind() != Argument::Float && (is_int(wanted) || a.kind() == Argument::Bool)));
    if (!is_kind) user_error("argument {} is {}, expected {}", name(param), kind_text(a), name_of(wanted));
    if (!fits(a, wanted)) user_error("argument {} is {}, which does not fit {}", name(param), text_of(a), name_of(wanted));
    facts_[param].dtype = wanted;
    facts_[param].divisible_by_16 = is_int(wanted) && a.as_int() % 16 == 0;
    slots_[count_++] = bits_of(a, wanted);
  }

  /// Which pointers reach memory that no other one does.
  void find_aliases() {
    for (size_t k = 0; k < kernel_.params.size(); ++k) {
      if (kernel_.params[k].kind != ParamKind::Pointer) continue;
      facts_[k].no_alias = 1;
      for (size_t j = 0; j < kernel_.params.size(); ++j)
        if (j != k && kernel_.params[j].kind == ParamKind::Pointer && ranges_[k].begin < ranges_[j].end &&
            ranges_[j].begin < ranges_[k].end)
          facts_[k].no_alias = 0;
    }
  }

  const KernelDecl& kernel_;
  Device* device_ = nullptr;
  uint64_t bound_ = 0;  // bit k: parameter k is a constant that has its value
  size_t count_ = 0;
  ArgumentFact facts_[kMaxParams];
  const TensorView* views_[kMaxParams];  // of pointers; null for others
  const Argument* given_[kMaxParams];
  Range ranges_[kMaxParams];
  uint64_t slots_[kMaxParams];
};

Grid checked_grid(const Dims& size, const Target& target) {
  if (size.rank() < 1 || size.rank() > 3) user_error("the grid has {} numbers, expected 1 to 3", size.rank());
  Grid grid{1, 1, 1};
  for (int k = 0; k < size.rank(); ++k) {
    const int64_t most = target.grid_limit[static_cast<size_t>(k)];
    if (size[k] < 1 || size[k] > most) user_error("the grid has size {} along axis {}, expected 1 to {}", size[k], k, most);
    grid[static_cast<size_t>(k)] = size[k];
  }
  return grid;
}

}  // namespace

namespace {

/// What a specialisation is known by.
struct Specialisation {
  const Device* device;
  uint64_t variant;  // bit 0: it is interpreted as it is written; above: which taps it has
  unsigned char facts[kMaxParams * sizeof(ArgumentFact)];  // only what is used is written
  size_t size;

  Specialisation(const Binding& binding, bool written, uint64_t taps)
      : device(&binding.device()), variant(taps << 1 | written), size(binding.facts().size_bytes()) {
    std::memcpy(facts, binding.facts().data(), size);
  }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), 16 + size}; }
};
static_assert(offsetof(Specialisation, facts) == 16);

}  // namespace

struct Kernel::Impl {
  explicit Impl(KernelDecl d) : decl(std::move(d)) {}

  KernelDecl decl;
  std::string what = "kernel " + decl.name;
  Cache<Executable> kernels{what};            // by specialisation
  Cache<front::TracedKernel> programs{what};  // the same, to interpret

  std::vector<std::vector<std::string>> requests;  // sets of taps that launches asked for

  /// What stands for a set of taps in the key: 0 for none.
  uint64_t number_of(const front::TapRequest& request) {
    if (!request.any) return 0;
    std::unique_lock lock = lock_of_tables();
    auto known = std::find(requests.begin(), requests.end(), request.names);
    if (known == requests.end()) known = requests.insert(known, request.names);
    return static_cast<uint64_t>(known - requests.begin()) + 1;
  }

  std::unique_ptr<Executable> make(const Binding& binding, const front::TapRequest& request) const {
    front::TracedKernel traced = front::trace_with_effects(decl, binding.facts(), request);
    auto code = compile(traced.program, binding.device());
    if (traced.effects.hidden.empty() && !request.any) return code;
    auto launch = [code = std::shared_ptr(std::move(code))](const Grid& grid, std::span<const uint64_t> slots,
                                                            std::span<const Tensor>, StreamHandle stream) {
      code->launch(grid, slots, stream);
    };
    return std::make_unique<EffectsExecutable>(decl.name, std::move(traced.effects), binding.device(), launch);
  }

  Executable& kernel(const Binding& binding, const front::TapRequest& request = {}) {
    const Specialisation key(binding, false, number_of(request));
    if (Executable* known = kernels.find(key.bytes())) {
      counters().memory_hits.add();
      return *known;
    }
    return kernels.find_or_make(key.bytes(), [&] { return make(binding, request); });
  }

  std::shared_ptr<Executable> interpreted(const Binding& binding, const Interpretation& how, const front::TapRequest& request = {}) {
    check_interpretable(binding.device());
    const Specialisation key(binding, how.overflow, number_of(request));
    const front::TracedKernel& kernel = programs.find_or_make(key.bytes(), [&] {
      front::TracedKernel traced = front::trace_with_effects(decl, binding.facts(), request);
      traced.program = std::move(*prepare_to_interpret(traced.program, how));
      return std::make_unique<front::TracedKernel>(std::move(traced));
    });
    if (kernel.effects.hidden.empty() && !request.any)
      return std::make_shared<InterpretedLaunch>("kernel", kernel.program, binding.tensors(), how);
    auto launch = [&program = kernel.program, given = binding.tensors(), visible = binding.slots().size(), how](
                      const Grid& grid, std::span<const uint64_t> slots, std::span<const Tensor> hidden, StreamHandle) {
      std::vector<TensorArgument> tensors = given;
      for (size_t k = 0; k < hidden.size(); ++k)
        tensors.push_back(tensor_argument(visible + k, hidden[k].data(), hidden[k].dtype(), hidden[k].shape(), hidden[k].strides()));
      InterpretedLaunch("kernel", program, std::move(tensors), how).launch(grid, slots);
    };
    return std::make_shared<EffectsExecutable>(decl.name, kernel.effects, binding.device(), launch);
  }
};

Kernel::Kernel(detail::KernelDecl declaration) : impl_(std::make_shared<Impl>(std::move(declaration))) {
  const detail::KernelDecl& decl = impl_->decl;
  if (!decl.body && !decl.program) user_error("kernel {}: its body is a null pointer, expected a function", decl.name);
  for (size_t k = 0; k < decl.params.size(); ++k)
    for (size_t other = 0; other < k; ++other)
      if (!decl.params[k].name.empty() && decl.params[k].name == decl.params[other].name)
        user_error("kernel {}: two parameters are called {}", decl.name, decl.params[k].name);
}

void detail::name_params(KernelDecl& kernel, const std::vector<std::string>& names) {
  const size_t count = kernel.params.size();
  bool is_short = false;  // constants at the end need no names
  for (size_t k = names.size(); k < count && !names.empty(); ++k) is_short |= kernel.params[k].kind != ParamKind::Constant;
  if (is_short || names.size() > count)
    user_error("kernel {}: {} parameters are named, the function takes {}; names may be empty, and constants at the end need none",
               kernel.name, names.size(), count);
  for (size_t k = 0; k < names.size(); ++k)
    if (!names[k].empty()) kernel.params[k].name = names[k];
}

const detail::KernelDecl& Kernel::declaration() const { return impl_->decl; }

void Kernel::launch(const LaunchGrid& grid, std::span<const Argument> arguments, Taps* taps) const {
  entering("kernel", impl_->decl.name, grid.where(), [&] {
    Binding binding(impl_->decl, arguments);
    int64_t constants[kMaxParams];
    Dims sizes = grid.resolve(binding.constants(constants));
    Grid size = checked_grid(sizes, binding.device().target());
    const Interpretation* how = interpretation();
    if (!taps && how) return impl_->interpreted(binding, *how)->launch(size, binding.slots());
    const StreamHandle stream = launch_stream(binding.device(), arguments);
    if (!taps) return impl_->kernel(binding).launch(size, binding.slots(), stream);
    taps->values_.clear();
    const front::TapRequest request{true, taps->wanted_};
    auto interpreted = how ? impl_->interpreted(binding, *how, request) : nullptr;
    auto& executable = static_cast<EffectsExecutable&>(interpreted ? *interpreted : impl_->kernel(binding, request));
    executable.check_taps(taps->wanted_);
    taps->values_ = executable.launch_and_tap(size, sizes.rank(), binding.slots(), stream);
  });
}

PreparedCall Kernel::prepare(const LaunchGrid& grid, std::span<const Argument> arguments) const {
  return entering("kernel", impl_->decl.name, grid.where(), [&] {
    Binding binding(impl_->decl, arguments);
    int64_t constants[kMaxParams];
    Grid size = checked_grid(grid.resolve(binding.constants(constants)), binding.device().target());
    detail::PreparedParts parts;
    parts.what = "kernel", parts.name = impl_->decl.name, parts.grid = size, parts.device = &binding.device();
    parts.slots.assign(binding.slots().begin(), binding.slots().end());
    parts.numbers = binding.numbers();
    parts.tensors = detail::owning_tensors(arguments, Argument::Tensor);
    if (const Interpretation* how = interpretation()) {
      std::shared_ptr<Executable> launch = impl_->interpreted(binding, *how);
      parts.executable = launch.get();
      parts.code = std::make_shared<std::pair<std::shared_ptr<Impl>, std::shared_ptr<Executable>>>(impl_, std::move(launch));
    } else {
      parts.executable = &impl_->kernel(binding);
      parts.code = impl_;
    }
    return PreparedCall(std::move(parts));
  });
}

std::string Kernel::show(const Stage& stage, std::initializer_list<Argument> arguments) const {
  return entering("kernel", impl_->decl.name, [&] {
    Binding binding(impl_->decl, std::span(arguments.begin(), arguments.size()));
    return stage_of(front::trace_kernel(impl_->decl, binding.facts()), stage.name, target_of(stage, binding.device()));
  });
}

}  // namespace v0
}  // namespace strider
