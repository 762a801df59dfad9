// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda.h"

#include <fmt/format.h>

#include <strider/dlpack.h>

namespace strider {
namespace {

struct Model {
  int capability;
  int ptx;  // the version of the PTX language: the oldest that has all we say
  int scratch_kib;
};
constexpr Model kModels[] = {
    {70, 63, 96}, {75, 64, 64}, {80, 70, 163}, {86, 71, 99}, {87, 74, 163}, {89, 78, 99}, {90, 78, 227},
};

Target target_of(const Model& model) {
  Target t = usual_target(TargetKind::Gpu);
  t.back_end = kCudaBackEnd.name;
  t.triple = "nvptx64-nvidia-cuda";
  t.processor = fmt::format("sm_{}", model.capability);
  t.name = fmt::format("{}:{}", t.back_end, t.processor);
  t.features = fmt::format("+ptx{}", model.ptx);
  t.level = model.capability;
  t.output = Output::Assembly;
  t.assembly = "ptx";
  t.scratch_limit = int64_t{model.scratch_kib} << 10;
  t.grid_limit = {0x7fffffff, 0xffff, 0xffff};
  t.argument_limit = kMostCudaArguments;
  t.argument_bytes = 4096;
  t.in_tiers = true;
  return t;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (int k = 0; k < cuda_device_count(); ++k) names.push_back(fmt::format("{}:{}", kCudaBackEnd.name, k));
  return names;
}

}  // namespace

std::vector<Target> cuda_targets() {
  std::vector<Target> all;
  for (const Model& model : kModels) all.push_back(target_of(model));
  return all;
}

constinit const BackEnd kCudaBackEnd = {
    .name = "cuda",
    .targets = cuda_targets,
    .compiler = cuda_compiler,
    .devices = device_names,
    .open = open_cuda_device,
    .dlpack = dlpack::kDLCUDA,
    .dlpack_host = dlpack::kDLCUDAHost,
};

}  // namespace strider
