// SPDX-License-Identifier: Apache-2.0
// Kernels with prints, assertions and taps: memory for what they write, and what becomes of it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <strider/tensor.h>

#include "backend/backend.h"
#include "front/lang/effects.h"

namespace strider {

class EffectsExecutable final : public Executable {
 public:
  /// Runs the kernel's code: `slots` end with the hidden arguments, which are `hidden`.
  using Launch =
      std::function<void(const Grid& grid, std::span<const uint64_t> slots, std::span<const Tensor> hidden, StreamHandle stream)>;
  EffectsExecutable(std::string kernel, front::Effects effects, Device& device, Launch launch)
      : kernel_(std::move(kernel)), effects_(std::move(effects)), device_(device), launch_(std::move(launch)) {}

  /// Launches, waits, prints what was printed, and throws a user error if an assertion failed.
  void launch(const Grid& grid, std::span<const uint64_t> args, StreamHandle stream) override {
    launch_and_tap(grid, 1, args, stream);
  }

  /// The same; gives the taps by name. The grid has `axes` numbers, the others are 1.
  std::vector<std::pair<std::string, Tensor>> launch_and_tap(const Grid& grid, int axes, std::span<const uint64_t> args,
                                                             StreamHandle stream = nullptr);

  /// A user error if the kernel lacks a tap of these names.
  void check_taps(const std::vector<std::string>& names) const;

 private:
  std::string read_records(const Grid& grid, const Tensor& records, StreamHandle stream) const;
  std::string failures(const Grid& grid, const std::vector<int64_t>& words) const;
  std::string prints(const Grid& grid, const std::vector<int64_t>& words) const;
  std::string print_line(const Grid& grid, const front::Record& record, const int64_t* words) const;

  std::string kernel_;
  front::Effects effects_;
  Device& device_;
  Launch launch_;
};

}  // namespace strider
