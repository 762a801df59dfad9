// SPDX-License-Identifier: Apache-2.0
#include "call/compile.h"

#include "base/deep_stack.h"
#include "base/error.h"
#include "pass/pipeline.h"
#include "call/stats.h"

namespace strider {

Compilation::Compilation(const ir::Function& tile, Device& device, const Target& target)
    : device_(&device), target_(target), cache_(disk_cache()) {
  if (cache_ && !cache_->refusal().empty()) cache_ = nullptr;
  if (cache_) key_ = disk_key(tile, target_, device.driver_version());
}

std::unique_ptr<Executable> Compilation::from_disk() const {
  if (!cache_) return nullptr;
  std::unique_ptr<Executable> executable;
  try {
    if (auto binary = cache_->find(key_)) executable = device_->load(*binary);
  } catch (const Error&) {
    // Code that does not load is made again.
  }
  (executable ? counters().disk_hits : counters().disk_misses).add();
  return executable;
}

std::unique_ptr<Executable> Compilation::compile(const ir::Function& prepared) const {
  return on_deep_stack([&] {
    Binary binary = compiler_for(target_).compile(pass::lower(prepared, target_), target_);
    return cache_ ? load_and_keep(binary) : device_->load(binary);
  });
}

/// What does not load is not kept, and where the device fails to finish code for the disk, it may yet load it.
std::unique_ptr<Executable> Compilation::load_and_keep(const Binary& binary) const {
  Binary finished;
  try {
    finished = device_->finished(binary);
  } catch (const Error&) {
    return device_->load(binary);
  }
  auto executable = device_->load(finished);
  cache_->store(key_, finished);
  return executable;
}

std::unique_ptr<Executable> compile(const ir::Function& tile, Device& device) {
  return on_deep_stack([&] {
    Compilation compilation(tile, device, device.target());
    if (auto known = compilation.from_disk()) return known;
    auto executable = compilation.compile(pass::prepare(tile, device.target()));
    counters().compiles.add();
    return executable;
  });
}

}  // namespace strider
