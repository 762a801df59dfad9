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
#include "planner/describe.h"
#include "testing/operand_text.h"
#include "testing/table.h"

namespace strider::tool {
namespace {

constexpr const char* kAbout =
    "No device is needed, and no tensor: operands are words.\n"
    "  strider show                                         list the built-ins\n"
    "  strider show add                                     its tile kernel, for contiguous matrices\n"
    "  strider show add --operands 'f32(1,128)' 'f32(64,128)' --stage plan\n"
    "  strider show add_scaled --operands 'f32(64,128)' 'f16(128,64):t' 0.5\n"
    "  strider show mul --operands 'f32(512,512)[::2, ::2]' 'f32()' --out 'f32(256,256):t' --stage lanes\n"
    "  strider show softmax --block 4096 --target cuda:sm_90 --stage ptx\n\n"
    "Operands, one for each argument of the operator:\n"
    "  f32(64,128)              a contiguous tensor; f32() has one element and no axes\n"
    "  f32(64,128):t            a view of it: :t :transpose(0,1) :permute(1,0) :flip(0) :expand(8,64,128) :squeeze(0)\n"
    "                           :unsqueeze(0) :reshape(-1)\n"
    "  f32(64,128)[::2, 3:, -1] NumPy's subscripts; views follow each other from left to right\n"
    "  f32(64,128):strides(1,64)  memory that lies so\n"
    "  0.5   3   true           a number\n"
    "Without --operands all are f32 matrices of 4096 by 4096 that lie as --layout says.\n\n"
    "Stages, in order:\n"
    "  plan       of an operator: what the planner made of the operands; its key selects the code\n"
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
  std::vector<std::string> operands, outputs;
  std::optional<int64_t> block;
};

bool is_operator(const ops::Builtin& b) { return b.kind == "operator"; }

void list() {
  testing::Table table("lll");
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
std::vector<std::string> late_stages(const Target& target) {
  return target.assembly.empty() ? std::vector<std::string>() : std::vector<std::string>{"llvm", target.assembly};
}

/// One stage of a program on its way through the pipeline.
class StageSearch {
 public:
  StageSearch(const Target& target, const std::string& wanted, std::vector<std::string> earlier = {})
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

// --- operands in words

/// Arguments that point to tensors at made-up addresses, far from each other.
class MadeUp {
 public:
  MadeUp(const std::vector<std::string>& operands, const std::vector<std::string>& outputs) {
    views_.reserve(operands.size() + outputs.size());
    for (const std::string& text : operands) {
      OperandText operand(text);
      if (operand.is_number()) arguments_.push_back(operand.number());
      else arguments_.emplace_back(view(operand));
    }
    for (const std::string& text : outputs) {
      OperandText operand(text);
      if (operand.is_number()) user_error("--out {}: expected a tensor, found a number", text);
      arguments_.emplace_back(out(view(operand)));
    }
  }
  std::span<const Argument> arguments() const { return arguments_; }

 private:
  const TensorView& view(const OperandText& operand) {
    static_assert(sizeof(void*) == 8);
    auto* address = reinterpret_cast<void*>(static_cast<uintptr_t>(views_.size() + 1) << 45);
    return views_.emplace_back(operand.in(address, device_named("cpu")));
  }

  std::vector<TensorView> views_;
  std::vector<Argument> arguments_;
};

Inspection inspected(const ops::Builtin& builtin, const Request& r, const Target& target) {
  if (r.operands.empty()) return builtin.inspect(target, variant(builtin, r));
  if (!r.layout.empty()) user_error("--layout says how operands lie, and --operands too: give one of them");
  return inspect(*builtin.op, MadeUp(r.operands, r.outputs).arguments(), target);
}

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

std::string stage_text(const ops::Builtin& builtin, const Request& r, const Target& target) {
  if (!is_operator(builtin)) {
    if (!r.operands.empty() || !r.outputs.empty()) user_error("{} is a kernel: only operators take --operands", builtin.name);
    return StageSearch(target, r.stage).find(builtin.tile(target, variant(builtin, r)));
  }
  Inspection i = inspected(builtin, r, target);
  return r.stage == "plan" ? plan_text(i) : StageSearch(target, r.stage, {"plan"}).find(i.tile());
}

void show(const Request& r) {
  std::string text = stage_text(ops::builtin_named(r.name), r, target_named(r.target));
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
  command->add_option("--operands", request->operands, "Of an operator: its operands in words, see below");
  command->add_option("--out", request->outputs, "Of an operator: where it writes to, in words; a new tensor if not given");
  command->add_option("--layout", request->layout, "Of an operator, instead of --operands: how its f32 matrices lie in memory");
  command->add_option("--block", request->block, "Of a kernel: the elements of a tile");
  command->callback([request] { request->name.empty() ? list() : show(*request); });
}

}  // namespace strider::tool
