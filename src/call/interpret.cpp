// SPDX-License-Identifier: Apache-2.0
#include "call/interpret.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/ranges.h>

#include "base/deep_stack.h"
#include "base/error.h"
#include "base/out_of_memory.h"
#include "base/scopes.h"
#include "base/settings.h"
#include "front/trace/trace.h"
#include "pass/pipeline.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

namespace strider {
namespace {

struct LintName {
  std::string_view name;
  bool Interpretation::*lint;
};
constexpr LintName kLints[] = {
    {"masked", &Interpretation::masked_lanes},
    {"overflow", &Interpretation::overflow},
    {"elementwise", &Interpretation::elementwise},
};

void switch_on(std::string_view name, Interpretation* how) {
  for (const LintName& l : kLints)
    if (l.name == name) return void(how->*l.lint = true);
  user_error("STRIDER_LINTS names the lint {}, expected masked, overflow or elementwise, with commas between", name);
}

}  // namespace

inline namespace v0 {

struct Interpreted::Entry : ScopeEntry {
  explicit Entry(const Interpretation& h) : how(h) {}
  Interpretation how;
};

static constinit thread_local ScopeStack<Interpreted::Entry> scopes;

Interpreted::Interpreted(const Interpretation& how) : entry_(out_of_memory_is_an_error([&] { return scopes.begin(new Entry(how)); })) {}
Interpreted::~Interpreted() { scopes.end(entry_); }

std::string_view name_of(FaultKind kind) {
  constexpr std::string_view kNames[] = {"out of bounds",     "race",   "uninitialised", "divergent barrier",
                                         "misuse", "masked lane", "overflow", "elementwise"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace v0

namespace {

int64_t steps_from(const char* millions) {
  constexpr int64_t kMillion = 1'000'000;
  if (!millions || !*millions) return Interpretation().most_steps;
  int64_t count = 0;
  const char* last = millions + std::strlen(millions);
  auto [end, error] = std::from_chars(millions, last, count);
  if (error != std::errc() || end != last || count < 0 || count > INT64_MAX / kMillion)
    user_error("STRIDER_STEPS is {}, expected a number of millions of statements, 0 for no limit", millions);
  return count * kMillion;
}

}  // namespace

std::optional<Interpretation> interpretation_from(const char* backend, const char* lints, const char* steps) {
  const std::string_view name = backend ? backend : "";
  const bool is_native = name.empty() || name == "native";
  const std::vector<std::string_view> known = interpreters();
  if (!is_native && std::ranges::find(known, name) == known.end())
    user_error("STRIDER_BACKEND is {}, expected {} or native", name, fmt::join(known, ", "));
  Interpretation how;
  how.most_steps = steps_from(steps);
  for (std::string_view rest = lints ? lints : ""; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    switch_on(rest.substr(0, comma), &how);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (is_native) return std::nullopt;
  return how;
}

const Interpretation* interpretation() {
  if (const Interpreted::Entry* scope = scopes.innermost()) return &scope->how;
  static const std::optional<Interpretation> settings =
      interpretation_from(setting("STRIDER_BACKEND"), setting("STRIDER_LINTS"), setting("STRIDER_STEPS"));
  return settings ? &*settings : nullptr;
}

std::unique_ptr<ir::Function> prepare_to_interpret(const ir::Function& tile, const Interpretation& how) {
  return on_deep_stack([&] {
    return std::make_unique<ir::Function>(how.overflow ? pass::prepare_as_written(tile) : pass::prepare(tile, interpreter_target()));
  });
}

TensorArgument tensor_argument(size_t param, const void* data, DType dtype, const Dims& shape, const Dims& strides) {
  const Extent e = extent(shape, strides);
  const char* first = static_cast<const char*>(data);
  return {param, first, first + e.low * size_of(dtype), e.elements() * size_of(dtype), shape, strides};
}

void check_interpretable(const Device& device) {
  if (!is_host(device)) user_error("its tensors are on {}: the interpreter runs on tensors of the CPU", device.name());
}

void InterpretedLaunch::launch(const Grid& grid, std::span<const uint64_t> args, StreamHandle) {
  std::vector<Fault> faults = interpret(what_, program_, grid, args, tensors_, how_);
  const Interpretation* now = interpretation();  // a prepared call may outlive the list that it was prepared with
  if (now && now->faults) {
    now->faults->insert(now->faults->end(), std::make_move_iterator(faults.begin()), std::make_move_iterator(faults.end()));
  } else if (!faults.empty()) {
    std::string text;
    for (const Fault& f : faults) text += (text.empty() ? "" : "\n") + f.text;
    throw Error(ErrorKind::User, text, true);
  }
}

}  // namespace strider
