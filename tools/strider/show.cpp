// SPDX-License-Identifier: Apache-2.0
// `strider show`: what becomes of a built-in operator or kernel, stage by stage, for any target.
#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "backend/backend.h"
#include "base/error.h"
#include "commands.h"
#include "call/stages.h"
#include "ops/builtins.h"
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
    "  scalar     of an operator: its maths, for the operands' dtypes\n"
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

std::string stage_text(const ops::Builtin& builtin, const Request& r, const Target& target) {
  if (!is_operator(builtin)) {
    if (!r.operands.empty() || !r.outputs.empty()) user_error("{} is a kernel: only operators take --operands", builtin.name);
    return stage_of(builtin.tile(target, variant(builtin, r)), r.stage, target);
  }
  return stage_of(inspected(builtin, r, target), r.stage, target);
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
