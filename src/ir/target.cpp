// SPDX-License-Identifier: Apache-2.0
// The table of targets. Processors are named by level (x86-64-v3), not by model: then code, and the last bit of every result,
// is the same on all machines of a level, and stored code fits any of them.
#include "ir/target.h"

#include <fmt/ranges.h>

#include "base/error.h"

namespace strider {
namespace {

// --- x86-64

struct CpuLevel {
  std::string_view processor;
  int vector_bytes;
  bool masked_blocks;
};
constexpr CpuLevel kCpuLevels[] = {
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

Target cpu_target(std::string name, const CpuLevel& level) {
  Target t;
  t.name = std::move(name);
  t.back_end = "cpu";
  t.isa = Isa::X86;
  t.triple = "x86_64-unknown-linux-gnu";
  t.processor = level.processor;
  t.vector_bytes = level.vector_bytes;
  t.interleave = 2;
  t.masked_blocks = level.masked_blocks;
  return t;
}

// --- NVIDIA GPUs

struct GpuModel {
  std::string_view processor;
  int ptx;  // the version of the PTX language: the oldest that has all we say
  int scratch_kib;
};
constexpr GpuModel kGpuModels[] = {
    {"sm_70", 63, 96}, {"sm_75", 64, 64},  {"sm_80", 70, 163}, {"sm_86", 71, 99},
    {"sm_87", 74, 163}, {"sm_89", 78, 99}, {"sm_90", 78, 227},
};

Target gpu_target(const GpuModel& model) {
  Target t;
  t.name = fmt::format("cuda:{}", model.processor);
  t.back_end = "cuda";
  t.isa = Isa::Nvptx;
  t.triple = "nvptx64-nvidia-cuda";
  t.processor = model.processor;
  t.features = fmt::format("+ptx{}", model.ptx);
  t.vector_bytes = 16;
  t.max_threads = 1024;
  t.warp = 32;
  t.scratch_limit = int64_t{model.scratch_kib} << 10;
  t.local_in_scratch = false;
  t.masked_blocks = false;
  t.in_tiers = true;
  t.streaming_stores = false;
  t.deinterleaves = false;
  return t;
}

std::vector<Target> all_targets() {
  std::vector<Target> all{host_target()};
  for (const CpuLevel& level : kCpuLevels) all.push_back(cpu_target(fmt::format("cpu:{}", level.processor), level));
  for (const GpuModel& model : kGpuModels) all.push_back(gpu_target(model));
  return all;
}

}  // namespace

Target host_target() { return cpu_target("cpu", kCpuLevels[host_level()]); }

Target quick_target(const Target& target) {
  Target t = target;
  t.quick = true;
  t.vector_bytes = 1;
  t.unroll_slots = 1;
  return t;
}

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

bool host_runs(const Target& target) {
  if (target.isa != Isa::X86) return false;
  for (int level = host_level(); level >= 0; --level)
    if (kCpuLevels[level].processor == target.processor) return true;
  return false;
}

}  // namespace strider
