// SPDX-License-Identifier: Apache-2.0
// What benchmarks are made of: cases, the runner that compares each with a baseline, and rows of results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "testing/timing.h"

#include <strider/tensor.h>

namespace strider::timing {

/// Something to time. `bytes` is what one call must read and write at least; 0: not counted.
struct Case {
  std::string name;
  int64_t bytes = 0;
  Call call = {};
};

struct Row {
  std::string name;
  Times times = {};
  int64_t bytes = 0;
  std::string baseline_name = {};  // empty: compared with nothing
  Times baseline = {};
  double ratio = 0;                // of the baseline's speed: above 1 is faster than it
  Times processor = {};            // what all threads worked, where that says more than the clock; else no samples
};

/// Tells what is being measured, on a terminal only.
class Progress {
 public:
  ~Progress() { clear(); }
  void show(std::string_view what);
  void clear();

 private:
  size_t shown_ = 0;
};

/// Times the cases of one suite on one device.
class Runner {
 public:
  Runner(std::string device, bool quick, Progress& progress);

  const std::string& device() const { return device_name_; }
  Device& device_object() const { return device_; }
  bool is_gpu() const;
  bool is_quick() const { return quick_; }
  /// Elements of a large flat tensor, and the side of a square matrix of as many: 2^24 and 4096 on a CPU, 2^26 and 8192 on a GPU.
  int64_t elements() const { return is_gpu() ? int64_t{1} << 26 : int64_t{1} << 24; }
  int64_t side() const { return is_gpu() ? 8192 : 4096; }

  /// Memory that successive calls go round, so that no call finds in a cache what the last one left there.
  static constexpr int64_t kSets = 3;
  std::vector<Tensor> inputs(const Dims& shape) const;   // random f32
  std::vector<Tensor> outputs(const Dims& shape) const;

  /// Strider's identity kernel on f32 that reads bytes / 2 and writes as many.
  Case copy_of(int64_t bytes) const;

  void compare(const Case& c, const Case& baseline);
  void compare_with_copy(const Case& c) { compare(c, copy_of(c.bytes)); }
  void add(Row row) { rows_.push_back(std::move(row)); }
  Progress& progress() { return progress_; }
  std::vector<Row> take_rows() { return std::move(rows_); }

 private:
  std::string device_name_;
  Device& device_;
  bool quick_;
  Progress& progress_;
  std::vector<Row> rows_;
};

/// The tensor of a set that a call uses.
inline const Tensor& of_call(const std::vector<Tensor>& sets, int64_t call) {
  return sets[static_cast<size_t>(call) % sets.size()];
}

}  // namespace strider::timing
