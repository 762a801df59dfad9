// SPDX-License-Identifier: Apache-2.0
// The one place that knows every back end.
#include <charconv>
#include <map>
#include <mutex>

#include <fmt/ranges.h>

#include "backend/backend.h"
#include "backend/cpu/cpu.h"
#include "backend/cuda/cuda.h"
#include "base/error.h"

namespace strider {
namespace {

struct BackEnd {
  std::string_view name;
  Compiler& (*compiler)();
  int (*count)();  // of devices that can be opened
  bool numbered;   // devices are called "cuda:0", not "cpu"
  std::unique_ptr<Device> (*open)(int ordinal);
};

const BackEnd kBackEnds[] = {
    {"cpu", cpu_compiler, [] { return 1; }, false, open_cpu_device},
    {"cuda", cuda_compiler, cuda_device_count, true, open_cuda_device},
};

std::string device_name(const BackEnd& b, int ordinal) {
  return b.numbered ? fmt::format("{}:{}", b.name, ordinal) : std::string(b.name);
}

[[noreturn]] void no_such_device(std::string_view name) {
  user_error("there is no device {}; there are {}", name, fmt::join(available_devices(), ", "));
}

/// "cuda:1" is number 1 of "cuda", "cuda" number 0.
const BackEnd& parse(std::string_view name, int* ordinal) {
  std::string_view family = name.substr(0, name.find(':'));
  std::string_view number = family.size() < name.size() ? name.substr(family.size() + 1) : "0";
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), *ordinal);
  if (error != std::errc() || end != number.data() + number.size() || *ordinal < 0) no_such_device(name);
  for (const BackEnd& b : kBackEnds)
    if (b.name == family) return b;
  no_such_device(name);
}

}  // namespace

Compiler& compiler_for(const Target& target) {
  for (const BackEnd& b : kBackEnds)
    if (b.name == target.back_end) return b.compiler();
  unsupported_error("no back end serves target {}", target.name);
}

Device& device_named(std::string_view name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& open = *new std::map<std::string, std::unique_ptr<Device>>;  // to the end of the process
  int ordinal = 0;
  const BackEnd& b = parse(name, &ordinal);
  std::lock_guard lock(mutex);
  std::unique_ptr<Device>& device = open[fmt::format("{}:{}", b.name, ordinal)];
  if (!device) device = b.open(ordinal);
  return *device;
}

std::vector<std::string> available_devices() {
  std::vector<std::string> names;
  for (const BackEnd& b : kBackEnds)
    for (int k = 0; k < b.count(); ++k) names.push_back(device_name(b, k));
  return names;
}

}  // namespace strider
