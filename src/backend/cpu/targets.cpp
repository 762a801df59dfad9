// SPDX-License-Identifier: Apache-2.0
// Processors are named by level (x86-64-v3), not by model: then code, and the last bit of every result, is the same on all
// machines of a level, and stored code fits any of them.
#include "backend/cpu/cpu.h"

#include <iterator>

#include <sys/utsname.h>

#include <fmt/format.h>

#include <strider/dlpack.h>

namespace strider {
namespace {

struct Level {
  std::string_view processor;
  int vector_bytes;
  bool masked_blocks;
};
constexpr Level kLevels[] = {
    {"x86-64",    16, false},
    {"x86-64-v2", 16, false},
    {"x86-64-v3", 32, true},
    {"x86-64-v4", 32, true},  // wider vectors slow the clock of many of these processors
};

int host_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return 3;
  if (__builtin_cpu_supports("x86-64-v3")) return 2;
  if (__builtin_cpu_supports("x86-64-v2")) return 1;
#endif
  return 0;
}

std::string host_architecture() {
#if defined(__x86_64__)
  return "x86_64";
#else
  utsname machine;
  return uname(&machine) == 0 ? machine.machine : "unknown";
#endif
}

}  // namespace

Target cpu_target(std::string_view architecture, int level) {
  Target t = usual_target(TargetKind::Cpu);
  t.name = t.back_end = kCpuBackEnd.name;
  t.triple = fmt::format("{}-unknown-linux-gnu", architecture);
  t.processor = "generic";
  if (architecture != "x86_64") return t;
  const Level& row = kLevels[level];
  t.processor = row.processor;
  t.level = level;
  t.vector_bytes = row.vector_bytes;
  t.interleave = 2;
  t.masked_blocks = row.masked_blocks;
  return t;
}

std::vector<Target> cpu_targets() {
  std::vector<Target> all{cpu_target(host_architecture(), host_level())};
  for (int level = 0; level < static_cast<int>(std::size(kLevels)); ++level) {
    Target& t = all.emplace_back(cpu_target("x86_64", level));
    t.name = fmt::format("{}:{}", kCpuBackEnd.name, t.processor);
  }
  return all;
}

constinit const BackEnd kCpuBackEnd = {
    .name = "cpu",
    .targets = cpu_targets,
    .compiler = cpu_compiler,
    .devices = [] { return std::vector<std::string>{"cpu"}; },
    .open = open_cpu_device,
    .dlpack = dlpack::kDLCPU,
};

}  // namespace strider
