// SPDX-License-Identifier: Apache-2.0
#include "pass/contract.h"
#include "pass/decompose.h"
#include "pass/pipeline.h"
#include "pass/simplify.h"

namespace strider::pass {

ir::Function prepare(const ir::Function& tile, const Watch& watch) {
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
    show(step.stage, program);
  }
  return program;
}

}  // namespace strider::pass
