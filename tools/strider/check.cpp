// SPDX-License-Identifier: Apache-2.0
// `strider check`: whether built-in operators and kernels can be trusted, and whether they are fast.
#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "commands.h"
#include <strider/testing/worked.h>
#include "ops/builtins.h"

#include <strider/testing.h>

namespace strider::tool {
namespace {

constexpr const char* kAbout = "Check operators and kernels: types, boundaries, correctness, speed";
constexpr const char* kMore =
    "The steps in order; a later one means nothing while an earlier one fails:\n"
    "  1 types        which dtypes are taken and what the results are; the others are refused\n"
    "                 by errors that say so\n"
    "  2 boundaries   special values (INT_MIN, NaN, infinities, both zeros, subnormals, ...);\n"
    "                 sizes 0, 1 and around the block; tensors lie between guard bytes, and\n"
    "                 what lies outside of them is poison\n"
    "  3 correctness  all dtypes and layouts against the function in double; the worst ULP\n"
    "  4 speed        beside a copy of as many bytes; what is short of --speed is looked into:\n"
    "                 the block, the size of the data, the order of accesses, the maths\n"
    "\n"
    "  strider check gelu                    an operator\n"
    "  strider check softmax l1_norm         worked kernels (strider/kernels/)\n"
    "  strider check --all --quick --speed 0 everything, without timing\n"
    "  strider check add --dtype f16 i32     these dtypes alone\n"
    "  strider check abs --json              for programs to read\n"
    "\n"
    "In the report ! marks what failed, - what a reader should know. The exit status is 1 if\n"
    "anything failed. One's own operators and kernels: docs/testing.md.";

struct Request {
  std::vector<std::string> names, dtypes;
  std::string device = "cpu";
  double speed = 0.9;
  int64_t elements = 1 << 24;
  uint64_t seed = 0;
  bool quick = false, all = false, json = false, operators = false, kernels = false;
};

testing::CheckOptions options_of(const Request& r) {
  testing::CheckOptions o{.device = r.device, .speed = r.speed, .elements = r.elements, .quick = r.quick, .seed = r.seed};
  for (const std::string& name : r.dtypes) {
    auto dtype = dtype_named(name);
    if (!dtype) user_error("--dtype {}: there is no such dtype", name);
    o.dtypes.push_back(*dtype);
  }
  return o;
}

const testing::worked::Worked* worked_named(std::string_view name) {
  auto found = std::find_if(std::begin(testing::worked::kAll), std::end(testing::worked::kAll), [&](const auto& w) { return w.name == name; });
  return found == std::end(testing::worked::kAll) ? nullptr : found;
}

testing::CheckReport check_kernel(const testing::worked::Worked& w, const testing::CheckOptions& options) {
  testing::KernelCheck how{.prepare = {}, .by_rows = w.by_rows, .in_f32 = w.in_f32};
  how.prepare = [&w](const testing::KernelSize& size, const TensorOptions& tensors) {
    testing::worked::Call call = w.prepare({size.rows, size.columns, size.block}, tensors);
    return testing::KernelCall{call.inputs, call.out, call.launch, call.expected, call.bytes};
  };
  return testing::check(w.name, how, options);
}

const ops::Builtin* operator_named(std::string_view name) {
  for (const ops::Builtin& b : ops::builtins())
    if (b.op && b.name == name) return &b;
  return nullptr;
}

/// Operators and kernels of that name: some have both.
std::vector<testing::CheckReport> check_named(const std::string& name, const Request& r) {
  std::vector<testing::CheckReport> reports;
  testing::CheckOptions options = options_of(r);
  if (const ops::Builtin* b = operator_named(name); b && !r.kernels) reports.push_back(testing::check(*b->op, options));
  if (const testing::worked::Worked* w = worked_named(name); w && !r.operators) reports.push_back(check_kernel(*w, options));
  if (reports.empty()) user_error("there is no operator or kernel {}; strider check lists them", name);
  return reports;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const ops::Builtin& b : ops::builtins())
    if (b.op) names.push_back(b.name);
  for (const testing::worked::Worked& w : testing::worked::kAll)
    if (!operator_named(w.name)) names.emplace_back(w.name);
  return names;
}

void list() {
  std::vector<std::string> operators, kernels;
  for (const ops::Builtin& b : ops::builtins())
    if (b.op) operators.push_back(b.name);
  for (const testing::worked::Worked& w : testing::worked::kAll) kernels.emplace_back(w.name);
  fmt::print(
      "operators: {}\n\nkernels: {}\n\nstrider check NAME... checks some, --all checks all; strider check --help says more\n",
      fmt::join(operators, ", "), fmt::join(kernels, ", "));
}

void run(const Request& r) {
  std::vector<std::string> names = r.all ? all_names() : r.names;
  if (names.empty()) return list();
  int failed = 0, count = 0;
  std::string json;
  for (const std::string& name : names) {
    for (const testing::CheckReport& report : check_named(name, r)) {
      failed += !report.passed();
      ++count;
      if (r.json) json += (json.empty() ? "[\n" : ",\n") + report.json();
      else fmt::print("{}\n", report.text());
      std::fflush(stdout);
    }
  }
  if (r.json) fmt::print("{}]\n", json);
  else if (count > 1) fmt::print("{} of {} passed\n", count - failed, count);
  if (failed > 0) throw Failed();
}

}  // namespace

void add_check(CLI::App& app) {
  auto r = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand("check", kAbout);
  command->footer(kMore);
  command->add_option("NAME", r->names, "Built-in operators and kernels; without any, they are listed");
  command->add_flag("--all", r->all, "All of them");
  command->add_flag("--operators", r->operators, "Of a name that an operator and a kernel have: the operator alone");
  command->add_flag("--kernels", r->kernels, "The kernel alone");
  command->add_option("--dtype", r->dtypes, "These dtypes alone");
  command->add_option("--device", r->device, "cpu, cuda or cuda:1")->capture_default_str();
  command->add_option("--speed", r->speed, "The least part of a copy's speed; 0 leaves step 4 out")->capture_default_str();
  command->add_option("--elements", r->elements, "Of the tensors of step 4")->capture_default_str();
  command->add_option("--seed", r->seed, "Of the random elements")->capture_default_str();
  command->add_flag("--quick", r->quick, "Fewer sizes and layouts, and smaller tensors in step 4");
  command->add_flag("--json", r->json, "A list of reports as JSON");
  command->callback([r] { run(*r); });
}

}  // namespace strider::tool
