// SPDX-License-Identifier: Apache-2.0
// `strider show`: what becomes of a built-in operator or kernel, stage by stage, for any target.
#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "backend/backend.h"
#include "base/error.h"
#include "commands.h"
#include "ir/print.h"
#include "ops/builtins.h"
#include "pass/pipeline.h"
#include "testing/table.h"

namespace strider::tool {
namespace {

constexpr const char* kAbout =
    "No device is needed:\n"
    "  strider show                                         list the built-ins\n"
    "  strider show add                                     its tile kernel\n"
    "  strider show add --layout transposed --stage lanes   as loops over vectors, for this CPU\n"
    "  strider show softmax --block 4096 --target cuda:sm_90 --stage ptx\n\n"
    "Stages, in order:\n"
    "  tile       as a user writes it\n"
    "  simplified, contracted, decomposed: the steps to the next\n"
    "  prepared   simplified; multiply-adds contracted, functions expanded: what every engine computes\n"
    "  split      full and ragged tiles apart\n"
    "  staged     loads that go against the grain read in their own order\n"
    "  scheduled  statements grouped into loop nests\n"
    "  phases     lane form before its scratch memory and its barriers are laid out\n"
    "  lanes      loops, scalars and short vectors; threads, scratch, barriers\n"
    "  llvm       LLVM's IR after its passes\n"
    "  asm, ptx   what the processor's assembler reads: asm on a CPU, ptx on an NVIDIA GPU";

struct Request {
  std::string name, target = "cpu", stage = "tile", layout;
  std::optional<int64_t> block;
};

bool is_operator(const ops::Builtin& b) { return b.kind == "operator"; }

void list() {
  timing::Table table("lll");
  for (const ops::Builtin& b : ops::builtins())
    table.add({b.name, b.kind, fmt::format("{} {}", is_operator(b) ? "--layout" : "--block", fmt::join(ops::variants(b), "|"))});
  fmt::print("{}\nstrider show NAME [--target T] [--stage S] prints one; strider show --help says more\n", table.text());
}

/// Which variant of the built-in is asked for.
std::string variant(const ops::Builtin& b, const Request& r) {
  std::vector<std::string> known = ops::variants(b);
  if (is_operator(b)) {
    if (r.block)
      user_error("{} is an operator: the planner chooses its block; --layout can be {}", b.name, fmt::join(known, ", "));
    if (r.layout.empty()) return known[0];
    if (std::find(known.begin(), known.end(), r.layout) != known.end()) return r.layout;
    user_error("there is no layout {}; there are {}", r.layout, fmt::join(known, ", "));
  }
  if (!r.layout.empty()) user_error("{} is a kernel and has no layouts; --block can be {}", b.name, fmt::join(known, ", "));
  if (r.block && *r.block <= 0) user_error("--block is {}, expected a size above 0", *r.block);
  return r.block ? std::to_string(*r.block) : known[0];
}

/// The back end's own stages, after those of the pipeline.
std::vector<std::string> late_stages(const Target& target) { return {"llvm", target.isa == Isa::X86 ? "asm" : "ptx"}; }

/// One stage of a program on its way through the pipeline.
class StageSearch {
 public:
  StageSearch(const Target& target, const std::string& wanted) : target_(target), wanted_(wanted) {}

  std::string find(const ir::Function& tile) {
    auto watch = [this](std::string_view stage, const ir::Function& f) {
      names_.emplace_back(stage);
      if (stage == wanted_) text_ = ir::print(f);
    };
    ir::Function prepared = pass::prepare(tile, watch);
    if (!text_.empty()) return text_;
    ir::Function lanes = lower(prepared, watch);
    if (!text_.empty()) return text_;
    std::vector<std::string> late = late_stages(target_);
    if (std::find(late.begin(), late.end(), wanted_) != late.end()) return compiler_for(target_).text(lanes, target_, wanted_);
    names_.insert(names_.end(), late.begin(), late.end());
    user_error("target {} has no stage {}; it has {}", target_.name, wanted_, fmt::join(names_, ", "));
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
  const std::string& wanted_;
  std::vector<std::string> names_;
  std::string text_;
};

void show(const Request& r) {
  const ops::Builtin& builtin = ops::builtin_named(r.name);
  Target target = target_named(r.target);
  ir::Function tile = builtin.tile(target, variant(builtin, r));
  std::string text = StageSearch(target, r.stage).find(tile);
  fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
}

}  // namespace

void add_show(CLI::App& app) {
  auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand("show", "Print a built-in operator or kernel at any stage of its way to machine code");
  command->footer(kAbout);
  command->add_option("NAME", request->name, "A built-in operator or kernel");
  command->add_option("--target", request->target, "A processor, such as cpu or cuda:sm_90; strider info lists them")
      ->capture_default_str();
  command->add_option("--stage", request->stage, "How far to go, see below")->capture_default_str();
  command->add_option("--layout", request->layout, "Of an operator: how its f32 matrices lie in memory");
  command->add_option("--block", request->block, "Of a kernel: the elements of a tile");
  command->callback([request] { request->name.empty() ? list() : show(*request); });
}

}  // namespace strider::tool
