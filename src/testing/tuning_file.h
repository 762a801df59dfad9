// SPDX-License-Identifier: Apache-2.0
// Results of the autotuner in the folder of the disk cache: a JSON file for each kernel and key.
#pragma once

#include <optional>
#include <string>

#include "call/disk_cache.h"

#include <strider/testing/autotune.h>

namespace strider::inline v0::testing {

class TuningFile {
 public:
  /// `program` is all that decides how fast the configurations are: their tile programs and the device.
  TuningFile(const std::string& kernel, const std::string& key, const std::string& program);

  /// What an earlier process found among these configurations. Whatever else the file holds counts as nothing.
  std::optional<testing::TuneResult> read(const std::vector<testing::TuneConfig>& configs) const;
  void write(const testing::TuneResult& result) const;

 private:
  std::string kernel_, key_;
  DiskKey name_;
  std::shared_ptr<DiskCache> cache_;  // null: there is none
};

}  // namespace strider::v0::testing
