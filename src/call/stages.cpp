// SPDX-License-Identifier: Apache-2.0
#include "call/stages.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "backend/backend.h"
#include "base/error.h"
#include "ir/print.h"
#include "pass/pipeline.h"
#include "planner/describe.h"

namespace strider {
namespace {

/// The back end's own stages, after those of the pipeline.
std::vector<std::string> late_stages(const Target& target) {
  return target.assembly.empty() ? std::vector<std::string>() : std::vector<std::string>{"llvm", target.assembly};
}

/// One stage of a program on its way through the pipeline.
class StageSearch {
 public:
  StageSearch(const Target& target, std::string_view wanted, std::vector<std::string> earlier = {})
      : target_(target), wanted_(wanted), names_(std::move(earlier)) {}

  std::string find(const ir::Function& tile) {
    auto watch = [this](std::string_view stage, const ir::Function& f) {
      names_.emplace_back(stage);
      if (stage == wanted_) text_ = ir::print(f);
    };
    ir::Function prepared = pass::prepare(tile, target_, watch);
    if (!text_.empty()) return text_;
    ir::Function lanes = lower(prepared, watch);
    if (!text_.empty()) return text_;
    std::vector<std::string> late = late_stages(target_);
    if (std::find(late.begin(), late.end(), wanted_) != late.end()) return compiler_for(target_).text(lanes, target_, wanted_);
    names_.insert(names_.end(), late.begin(), late.end());
    user_error("target {} has no stage {}; it has {}; another target may have it", target_.name, wanted_,
               fmt::join(names_, ", "));
  }

 private:
  /// A stage that was reached can be shown even if a later one fails.
  ir::Function lower(const ir::Function& prepared, const pass::Watch& watch) {
    try {
      return pass::lower(prepared, target_, 0, watch);
    } catch (const Error&) {
      if (text_.empty()) throw;
      return prepared;
    }
  }

  const Target& target_;
  std::string_view wanted_;
  std::vector<std::string> names_;
  std::string text_;
};

std::string dtypes_text(const Inspection& i) {
  const detail::OperatorDecl& op = i.op.declaration();
  std::vector<std::string> arguments;
  for (size_t k = 0; k < op.arguments; ++k) {
    const planner::ArgumentTyping& t = i.typing.arguments[k];
    std::string from = t.passed == t.computed ? "" : fmt::format("{} as ", name_of(t.passed));
    arguments.push_back(fmt::format("{} {}{}", op.schema.name_of(k), from, name_of(t.computed)));
  }
  std::vector<std::string_view> results;
  for (DType dtype : i.typing.results) results.push_back(name_of(dtype));
  return fmt::format("dtypes    {} -> {}\n", fmt::join(arguments, ", "), fmt::join(results, ", "));
}

std::string plan_text(const Inspection& i) {
  const detail::OperatorDecl& op = i.op.declaration();
  std::vector<std::string> names;
  for (size_t k = 0; k < op.outputs; ++k) names.push_back(fmt::format("output {}", k));
  for (size_t k = 0; k < op.arguments; ++k) names.push_back(op.schema.name_of(k));
  return dtypes_text(i) + planner::describe(i.plan, names);
}

}  // namespace

Target target_of(const Stage& stage, const Device& device) {
  return stage.target.empty() ? device.target() : target_named(stage.target);
}

std::string stage_of(const ir::Function& tile, std::string_view stage, const Target& target, std::vector<std::string> earlier) {
  return StageSearch(target, stage, std::move(earlier)).find(tile);
}

std::string stage_of(const Inspection& inspection, std::string_view stage, const Target& target) {
  if (stage == "plan") return plan_text(inspection);
  if (stage == "scalar") return ir::print(inspection.scalar());
  return stage_of(inspection.tile(), stage, target, {"plan", "scalar"});
}

}  // namespace strider
