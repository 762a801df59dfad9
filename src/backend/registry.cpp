// SPDX-License-Identifier: Apache-2.0
// The one place that knows every back end.
#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

#include <fmt/ranges.h>

#include "backend/backend.h"
#include "backend/cpu/cpu.h"
#include "backend/cuda/cuda.h"
#include "backend/interp/interp.h"
#include "base/deep_stack.h"
#include "base/error.h"

namespace strider {
namespace {

/// The host's processor first.
const BackEnd* const kBackEnds[] = {&kCpuBackEnd, &kCudaBackEnd, &kInterpBackEnd};

const BackEnd& interpreter() {
  return **std::ranges::find_if(kBackEnds, [](const BackEnd* b) { return b->interpret != nullptr; });
}

std::vector<Target> all_targets() {
  std::vector<Target> all;
  for (const BackEnd* b : kBackEnds) std::ranges::move(b->targets(), std::back_inserter(all));
  return all;
}

[[noreturn]] void no_such_device(std::string_view name) {
  user_error("there is no device {}; there are {}", name, fmt::join(available_devices(), ", "));
}

const BackEnd& family_of(std::string_view name) {
  std::string_view family = name.substr(0, name.find(':'));
  for (const BackEnd* b : kBackEnds)
    if (b->name == family) return *b;
  no_such_device(name);
}

/// "cuda:1" is number 1 of "cuda", "cuda" number 0. Devices can have other names than numbers.
int number_of(const BackEnd& b, std::string_view name) {
  if (name == b.name) return 0;
  std::string_view text = name.substr(b.name.size() + 1);
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  std::vector<std::string> known = b.devices();
  auto found = std::ranges::find(known, name);
  if (found == known.end()) no_such_device(name);
  return static_cast<int>(found - known.begin());
}

std::vector<int> known_dlpack_types() {
  std::vector<int> types;
  for (const BackEnd* b : kBackEnds)
    for (int type : {b->dlpack, b->dlpack_host})
      if (type != 0) types.push_back(type);
  return types;
}

}  // namespace

Target target_named(std::string_view name) {
  for (Target& t : all_targets())
    if (t.name == name) return t;
  user_error("there is no target {}; there are {}", name, fmt::join(known_targets(), ", "));
}

std::vector<std::string> known_targets() {
  std::vector<std::string> names;
  for (const Target& t : all_targets()) names.push_back(t.name);
  return names;
}

Target host_target() { return kBackEnds[0]->targets().front(); }

Target interpreter_target() { return interpreter().targets().front(); }

std::vector<std::string_view> interpreters() {
  std::vector<std::string_view> names;
  for (const BackEnd* b : kBackEnds)
    if (b->interpret) names.push_back(b->name);
  return names;
}

std::vector<Fault> interpret(std::string_view what, const ir::Function& program, const Grid& grid, std::span<const uint64_t> args,
                             std::span<const TensorArgument> tensors, const Interpretation& how) {
  return interpreter().interpret(what, program, grid, args, tensors, how);
}

Compiler& compiler_for(const Target& target) {
  for (const BackEnd* b : kBackEnds)
    if (b->name == target.back_end) return b->compiler();
  unsupported_error("no back end serves target {}", target.name);
}

Device& device_named(std::string_view name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& open = *new std::map<std::pair<std::string_view, int>, std::unique_ptr<Device>>;  // to the end of the process
  const BackEnd& b = family_of(name);
  const int number = number_of(b, name);
  std::lock_guard lock(mutex);
  std::unique_ptr<Device>& device = open[{b.name, number}];
  if (!device) device = on_deep_stack([&] { return b.open(number); });
  return *device;
}

Device& device_of_dlpack(const DlpackDevice& numbers) {
  for (const BackEnd* b : kBackEnds) {
    if (b->dlpack == 0) continue;
    if (b->dlpack_host == numbers.type) return device_named(kBackEnds[0]->name);
    if (b->dlpack == numbers.type) return device_named(fmt::format("{}:{}", b->name, b == kBackEnds[0] ? 0 : numbers.id));
  }
  unsupported_error("memory of DLPack's device type {} is not known; the types {} are", numbers.type, fmt::join(known_dlpack_types(), ", "));
}

DlpackDevice dlpack_of_device(const Device& device) {
  const std::string name = device.name();
  const BackEnd& b = family_of(name);
  if (b.dlpack == 0) unsupported_error("DLPack has no number for memory of {}", name);
  return {b.dlpack, number_of(b, name)};
}

std::vector<std::string> available_devices() {
  std::vector<std::string> names;
  for (const BackEnd* b : kBackEnds)
    if (!b->interpret) std::ranges::move(b->devices(), std::back_inserter(names));
  return names;
}

}  // namespace strider
