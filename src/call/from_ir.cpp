// SPDX-License-Identifier: Apache-2.0
#include "call/from_ir.h"

#include <memory>

#include "base/error.h"
#include "front/trace/scalar.h"
#include "ir/parse.h"
#include "ir/scalar.h"
#include "ir/verify.h"

namespace strider {

Operator operator_of(ir::Function program, Schema schema) {
  ir::check_scalar("operator " + program.name, program);
  auto kept = std::make_shared<const ir::Function>(std::move(program));
  size_t arguments = kept->params().size(), outputs = kept->operands(kept->body().body.back()).size();
  if (schema.names.empty())
    for (size_t k = 0; k < arguments; ++k) schema.names.push_back(kept->param_info(static_cast<int>(k)).name);
  auto body = [kept](std::span<const Value> values) { return front::run_program(*kept, values); };
  return Operator({kept->name, std::move(schema), arguments, outputs, body});
}

namespace {

void check_tile_form(const ir::Function& program) {
  try {
    ir::verify(program, ir::Form::Tile);
  } catch (const Error& error) {
    user_error("kernel {}: it is no tile program: {}", program.name, error.what());
  }
  if (!program.body().body.empty() && program[program.body().body.back()].op == ir::Op::Yield)
    user_error("kernel {}: it yields values as the maths of an operator do; a kernel stores them", program.name);
}

}  // namespace

Kernel kernel_of(ir::Function program) {
  check_tile_form(program);
  detail::KernelDecl decl{program.name, {}, {}};
  for (size_t k = 0; k < program.params().size(); ++k) {
    const ir::Type& type = program.type(program.params()[k]);
    auto kind = type.is_pointer() ? detail::ParamKind::Pointer : detail::ParamKind::Scalar;
    decl.params.push_back({kind, type.dtype, false, program.param_info(static_cast<int>(k)).name});
  }
  decl.program = std::make_shared<const ir::Function>(std::move(program));
  return Kernel(std::move(decl));
}

inline namespace v0 {

Kernel kernel_from_ir(std::string_view text) { return kernel_of(ir::parse(text)); }

Operator operator_from_ir(std::string_view text, const Schema& schema) { return operator_of(ir::parse(text), schema); }

}  // namespace v0
}  // namespace strider
