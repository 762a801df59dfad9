// SPDX-License-Identifier: Apache-2.0
// Tile form -> something that a device can launch, by way of the disk cache.
#pragma once

#include <memory>
#include <optional>

#include "backend/backend.h"
#include "base/kit.h"
#include "call/disk_cache.h"

namespace strider {

/// What the disk cache has, or else what the compiler gives, which is put there. Counts both.
STRIDER_KIT std::unique_ptr<Executable> compile(const ir::Function& tile, Device& device);

/// One kernel on its way to code for one target that the device runs.
class Compilation {
 public:
  /// `tile` decides where the code lies on disk. Reads settings: may throw a user error.
  Compilation(const ir::Function& tile, Device& device, const Target& target);

  /// The code from the disk cache, loaded, or null. Counts a hit or a miss, where there is a cache.
  std::unique_ptr<Executable> from_disk() const;
  /// Compiles what pass::prepare gave for the tile kernel, puts it on disk and loads it. Counts nothing.
  std::unique_ptr<Executable> compile(const ir::Function& prepared) const;

 private:
  std::unique_ptr<Executable> load_and_keep(const Binary& binary) const;

  Device* device_;
  Target target_;
  std::shared_ptr<DiskCache> cache_;  // null: there is none
  DiskKey key_{};
};

}  // namespace strider
