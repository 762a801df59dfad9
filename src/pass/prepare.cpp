// SPDX-License-Identifier: Apache-2.0
#include "pass/contract.h"
#include "pass/decompose.h"
#include "pass/pipeline.h"
#include "pass/respell.h"
#include "pass/simplify.h"

#include <algorithm>

namespace strider::pass {

ir::Function prepare(const ir::Function& tile, const Target& target, const Watch& watch) {
  struct Step {
    std::string_view stage;
    ir::Function (*run)(const ir::Function&);
  };
  static constexpr Step kSteps[] = {
      {"simplified", simplify},
      {"contracted", contract},
      {"decomposed", decompose},
      {"prepared", simplify},
  };
  auto show = [&](std::string_view stage, const ir::Function& f) {
    if (watch) watch(stage, f);
  };
  show("tile", tile);
  ir::Function program = tile;
  for (const Step& step : kSteps) {
    program = step.run(program);
    if (step.run == decompose) {
      program = respell(program, target);
      for (auto& helper : program.helpers) helper = std::make_shared<const ir::Function>(respell(*helper, target));
    }
    show(step.stage, program);
  }
  check_spelled(program, target);
  for (const auto& helper : program.helpers) check_spelled(*helper, target);
  return program;
}

namespace {

/// The program with the integer operations that can overflow marked as the user's.
ir::Function marked(ir::Function f) {
  using ir::Op;
  static constexpr Op kOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Neg, Op::Abs, Op::Shl, Op::Fma, Op::Cast};
  for (uint32_t id = 0; id < f.size(); ++id) {
    const ir::Value v{id};
    const ir::Node& node = f[v];
    if (std::ranges::find(kOps, node.op) == std::end(kOps) || node.type.is_pointer() || !is_int(node.type.dtype)) continue;
    if (node.flags & (ir::kNoWrap | ir::kMayWrap) || f.type(f.operand(v, 0)).dtype == DType::Bool) continue;
    f.set_flags(v, node.flags | ir::kAsWritten);
  }
  return f;
}

}  // namespace

ir::Function prepare_as_written(const ir::Function& tile) { return decompose(contract(marked(tile))); }

}  // namespace strider::pass
