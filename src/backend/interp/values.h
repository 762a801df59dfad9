// SPDX-License-Identifier: Apache-2.0
// Where the slots of every value lie: one flat array, laid out once for a launch.
//
// A value holds one 64-bit slot for each thread and lane, thread-major; a uniform one holds a single slot that all threads
// and lanes share (constants, arguments, splats). A fold's combine function runs as one thread for each pair that a level
// combines, in a context of its own; what it uses from outside is uniform to it.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "ir/function.h"

namespace strider::interp {

/// The node id of the reduce or scan whose combine function runs, or this: the program itself.
inline constexpr uint32_t kProgram = UINT32_MAX;

struct Place {
  uint64_t* data = nullptr;
  int64_t lanes = 1;
  uint32_t context = kProgram;
  bool uniform = false;
};

/// The slots of a value as an operand: at(i) is slot i, the same for all i when step is 0.
struct Slots {
  const uint64_t* data;
  int step;
  uint64_t at(int64_t i) const { return data[i * step]; }
};

class Values {
 public:
  /// Lays out `f` for `threads` threads and fills in the leaves that are the same in every program.
  Values(const ir::Function& f, int threads);

  const Place& operator[](ir::Value v) const { return places_[v.id]; }
  /// Lets a combine function's parameter read slots that lie elsewhere.
  void point(ir::Value param, uint64_t* data) { places_[param.id].data = data; }
  void set_splat(ir::Value v, uint64_t bits) { *places_[v.id].data = bits; }
  /// The results of a region op that occur in the program, by index; invalid where one is unused.
  std::span<const ir::Value> results(ir::Value owner) const { return results_[owner.id]; }
  /// The array that slots lie in, but those that values were pointed to.
  std::span<const uint64_t> slots() const { return {slots_.get(), total_}; }
  /// Bytes that one thread's local allocations take.
  int64_t local_bytes() const { return local_bytes_; }

 private:
  struct Context {
    uint32_t id;
    int64_t width;
  };
  struct Free {
    void operator()(uint64_t* p) const { std::free(p); }
  };
  static constexpr size_t kNowhere = SIZE_MAX;

  void place_region(ir::RegionId id, Context context);
  void place(ir::Value v, Context context);
  void place_loop(ir::Value v, Context context);
  void place_fold(ir::Value v, Context context);
  void place_fresh(ir::Value v, Context context, bool uniform = false);
  void place_like(ir::Value v, ir::Value other);
  bool is_view(ir::Value v, Context context) const;
  bool is_uniform(ir::Value v) const;
  void note_result(ir::Value v);
  void allocate();
  void fill(ir::Value v);
  void fill_lanes(ir::Value v, uint64_t (*lane)(const ir::Function&, ir::Value, int64_t));
  uint64_t allocation_start(ir::Value v);

  const ir::Function& f_;
  int threads_;
  std::vector<Place> places_;
  std::vector<size_t> offsets_;  // into slots_; values that are views of others share them
  std::vector<std::vector<ir::Value>> results_;
  size_t total_ = 0;
  int64_t local_bytes_ = 0;
  std::unique_ptr<uint64_t[], Free> slots_;
};

}  // namespace strider::interp
