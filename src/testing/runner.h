// SPDX-License-Identifier: Apache-2.0
// Times work on one device, each piece alternately with Strider's identity kernel moving as many bytes, with another form of
// the same and with another library where there are such, and leaves rows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testing/memory.h"
#include "testing/row.h"

namespace strider::inline v0::testing {

/// Another library that can do the same, by the names of its functions.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string_view name() const = 0;
  virtual void use_threads(int threads) = 0;
  /// `function` on these operands, into `result`, or, if that is null, into memory that it allocates.
  virtual std::function<void()> call(std::string_view function, std::span<const Argument> operands, const TensorView* result) = 0;
};

/// Tells what is being measured and how far things are, on a terminal only.
class Progress {
 public:
  ~Progress() { clear(); }
  void expect(int steps) { expected_ += steps; }
  void show(std::string_view what);
  void clear();

 private:
  int step_ = 0, expected_ = 0;
  size_t shown_ = 0;
};

/// Something to time. Calls get the number of the call: successive ones should use other memory.
struct Work {
  std::string name = {}, dtype = {};
  int64_t elements = 0, bytes = 0;
  bool streaming = false;         // its stores bypass the caches
  bool beside_copy = true;
  Call call = {};
  Call peer = {};                 // may be empty
  std::string reference_name = {};
  Call reference = {};            // may be empty
  Aim aim = {};
};

struct Choices {
  std::string device = "cpu";
  bool quick = false;
  std::vector<int64_t> sizes = {};  // elements of a large tensor; empty: 2^24 and 2^27, the first alone if quick, 2^26 on a GPU
  std::vector<int> threads = {};   // empty: one and all; on a GPU none counts
  std::vector<DType> dtypes = {};  // of the cases that work with any; empty: f32
};

class Runner {
 public:
  Runner(Choices choices, Progress& progress, Peer* peer = nullptr);

  Device& device() const { return device_; }
  const std::string& device_name() const { return choices_.device; }
  bool is_gpu() const;
  bool is_quick() const { return choices_.quick; }
  const std::vector<int64_t>& sizes() const { return choices_.sizes; }
  const std::vector<int>& threads() const { return choices_.threads; }
  const std::vector<DType>& dtypes() const { return choices_.dtypes; }
  /// Whether only these are wanted: cases of other dtypes do not run.
  bool dtypes_given() const { return dtypes_given_; }
  Peer* peer() const { return peer_; }
  Memory& memory() { return memory_; }
  Progress& progress() { return progress_; }

  /// How many sets of `bytes` successive calls should go round, so that none finds in a cache what the last one left there.
  static int sets_for(int64_t bytes);

  void begin_suite(std::string_view name) { suite_ = name; }
  /// From now on calls use so many threads, the peer's too.
  void use_threads(int threads);
  void time(const Work& work);
  void add(Row row);
  /// Says at the end why a case is not there.
  void leave_out(std::string_view name, std::string_view reason);

  std::vector<Row> take_rows() { return std::move(rows_); }
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  Options options() const;
  Call identity(int64_t bytes, bool streaming);
  double memcpy_gbps(int64_t bytes);

  bool dtypes_given_;
  Choices choices_;
  Device& device_;
  Progress& progress_;
  Peer* peer_;
  Memory memory_;
  std::string suite_;
  int current_threads_ = 0;
  std::map<std::pair<int64_t, int>, double> memcpy_;  // by bytes and threads
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
};

}  // namespace strider::v0::testing
