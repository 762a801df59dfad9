// SPDX-License-Identifier: Apache-2.0
#include "front/trace/kernel.h"

#include <algorithm>

#include "front/lang/program.h"
#include "front/trace/trace.h"

namespace strider {
namespace front {

using detail::KernelDecl;
using detail::ParamDecl;
using detail::ParamKind;

namespace {

ir::ParamInfo info_of(const KernelDecl& kernel, size_t param, const ArgumentFact& fact) {
  ir::ParamInfo info{.name = name_of(kernel, param)};
  if (kernel.params[param].kind == ParamKind::Pointer) {
    info.divisible = int64_t{1} << fact.log2_align;
    info.no_alias = fact.no_alias;
  } else if (fact.divisible_by_16) {
    info.divisible = 16;
  }
  return info;
}

Value bind(Trace& trace, const KernelDecl& kernel, size_t param, const ArgumentFact& fact) {
  switch (kernel.params[param].kind) {
    case ParamKind::Constant: return Value(fact.constant);
    case ParamKind::Pointer: return trace.wrap(trace.b.param(ir::Type::pointer(fact.dtype), info_of(kernel, param, fact)));
    case ParamKind::Scalar: return trace.wrap(trace.b.param(ir::Type::scalar(fact.dtype), info_of(kernel, param, fact)));
  }
  internal_error("no kind of parameter {}", static_cast<int>(kernel.params[param].kind));
}

/// By parameter of the program: large memory that nothing else reaches.
std::vector<bool> streaming_params(const KernelDecl& kernel, std::span<const ArgumentFact> facts) {
  std::vector<bool> streams;
  for (size_t k = 0; k < facts.size(); ++k)
    if (kernel.params[k].kind != ParamKind::Constant) streams.push_back(facts[k].streams && facts[k].no_alias);
  return streams;
}

std::string constant_names(const KernelDecl& kernel) {
  std::string text;
  for (size_t k = 0; k < kernel.params.size(); ++k)
    if (kernel.params[k].kind == ParamKind::Constant) text += (text.empty() ? "" : ", ") + name_of(kernel, k);
  return text.empty() ? "none" : text;
}

}  // namespace

std::string name_of(const KernelDecl& kernel, size_t param) {
  const std::string& name = kernel.params[param].name;
  if (!name.empty()) return name;
  std::string free = fmt::format("arg{}", param);
  auto is_taken = [&](const ParamDecl& p) { return p.name == free; };
  while (std::any_of(kernel.params.begin(), kernel.params.end(), is_taken)) free += '_';
  return free;
}

size_t constant_named(const KernelDecl& kernel, std::string_view name) {
  size_t only = 0, count = 0;
  for (size_t k = 0; k < kernel.params.size(); ++k) {
    if (kernel.params[k].kind != ParamKind::Constant) continue;
    if (kernel.params[k].name == name) return k;
    only = k;
    ++count;
  }
  if (count == 1 && kernel.params[only].name.empty()) return only;
  user_error("there is no constant {}; its constants: {}", name, constant_names(kernel));
}

namespace {

/// A program that is given, with what is known of these arguments.
ir::Function with_facts(const KernelDecl& kernel, std::span<const ArgumentFact> facts) {
  ir::Function f = *kernel.program;
  for (size_t k = 0; k < facts.size(); ++k) f.param_info(static_cast<int>(k)) = info_of(kernel, k, facts[k]);
  return f;
}

}  // namespace

ir::Function trace_kernel(const KernelDecl& kernel, std::span<const ArgumentFact> facts) {
  return trace_with_effects(kernel, facts).program;
}

TracedKernel trace_with_effects(const KernelDecl& kernel, std::span<const ArgumentFact> facts, const TapRequest& request) {
  STRIDER_CHECK(facts.size() == kernel.params.size());
  TracedKernel traced;
  if (kernel.program) {
    traced.program = with_facts(kernel, facts);
  } else {
    Trace trace("kernel", kernel.name);
    trace.request = request;
    std::vector<Value> values;
    for (size_t k = 0; k < facts.size(); ++k) values.push_back(bind(trace, kernel, k, facts[k]));
    Trace::run_body([&] { kernel.body(values); });
    traced = {trace.finish(), std::move(trace.effects)};
  }
  mark_read_only(traced.program);
  mark_streaming(traced.program, streaming_params(kernel, facts));
  return traced;
}

std::vector<ArgumentFact> facts_for(const KernelDecl& kernel, std::span<const Constant> constants, const FactOptions& options) {
  std::vector<ArgumentFact> facts(kernel.params.size());
  std::vector<bool> bound(facts.size());
  for (const Constant& c : constants) {
    try {
      size_t k = constant_named(kernel, c.name);
      facts[k].constant = c.value;
      bound[k] = true;
    } catch (const Error& e) {
      user_error("kernel {}: {}", kernel.name, e.what());
    }
  }
  for (size_t k = 0; k < facts.size(); ++k) {
    const ParamDecl& p = kernel.params[k];
    if (p.kind == ParamKind::Constant && !bound[k])
      user_error("kernel {}: the constant {} has no value", kernel.name, name_of(kernel, k));
    if (p.kind == ParamKind::Constant) continue;
    facts[k].dtype = p.any_dtype ? options.any_dtype : p.dtype;
    facts[k].divisible_by_16 = options.divisible_by_16 && p.kind == ParamKind::Scalar && is_int(p.dtype);
    if (p.kind != ParamKind::Pointer) continue;
    facts[k].log2_align = static_cast<uint8_t>(options.log2_align);
    facts[k].no_alias = options.no_alias;
  }
  return facts;
}

ir::Function trace_kernel(const Kernel& kernel, std::initializer_list<Constant> constants, const FactOptions& options) {
  const KernelDecl& decl = kernel.declaration();
  return trace_kernel(decl, facts_for(decl, std::span(constants.begin(), constants.size()), options));
}

}  // namespace front

int64_t LaunchConstants::operator[](std::string_view name) const { return by_param_[front::constant_named(kernel_, name)]; }

}  // namespace strider
