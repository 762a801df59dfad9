// SPDX-License-Identifier: Apache-2.0
// The second half of the pipeline: what depends on the target.
#include <algorithm>

#include "base/error.h"
#include "ir/verify.h"
#include "pass/barriers.h"
#include "pass/hints.h"
#include "pass/index_map.h"
#include "pass/lanes/lanes.h"
#include "pass/lanes/layout.h"
#include "pass/offsets.h"
#include "pass/pipeline.h"
#include "pass/reread.h"
#include "pass/schedule.h"
#include "pass/scratch.h"
#include "pass/simplify.h"
#include "pass/split.h"
#include "pass/stage.h"

namespace strider::pass {

using namespace ir;

namespace {

constexpr int kMostLanes = 64;
constexpr int kMostVectorBytes = 128;  // of the widest type, when the vector is chosen for the narrowest
constexpr int kScatteredLanes = 8;     // where elements lie apart and go one by one
constexpr int kVectorsPerThread = 4;   // of the largest tile
constexpr int64_t kUsualThreads = 128;
constexpr int64_t kLongProgram = 120;  // operations on tiles, in both copies of a split body

bool is_tile(const Type& t) { return !t.is_void && t.shape.rank() > 0; }

/// True if the elements of an access do not follow each other along its last axis, as far as is known. Loads of every second
/// element do: lanes/memory.cpp.
bool is_scattered(const Function& f, Value pointer, bool reads) {
  int last = f.type(pointer).shape.rank() - 1;
  if (f.type(pointer).shape[last] == 1 || is_large(f, pointer)) return false;
  auto step = step_along(f, pointer, last);
  return !step || std::abs(*step) > (reads ? 2 : 1);
}

/// Lanes of a vector: as many as fill one access of the narrowest type in memory, without making the widest type too wide.
int choose_lanes(const Function& f, const Target& target) {
  int narrowest = 8, widest = 1;
  bool any = false, staged = false, scattered = false;
  for (uint32_t id = 0; id < f.size(); ++id) {
    const Node& n = f[Value{id}];
    if (is_tile(n.type) && is_float(n.type.dtype) && !n.type.is_pointer()) widest = std::max(widest, size_of(n.type.dtype));
    staged |= (n.flags & kStaged) != 0;
    if (!has(n.op, Reads | Writes) || !is_tile(f.type(f.operand(Value{id}, 0)))) continue;
    int bytes = size_of(f.type(f.operand(Value{id}, 0)).dtype);
    scattered |= is_scattered(f, f.operand(Value{id}, 0), has(n.op, Reads));
    narrowest = std::min(narrowest, bytes);
    widest = std::max(widest, bytes);
    any = true;
  }
  if (!any) narrowest = 4;
  // A transpose in registers takes as many of them as a vector has lanes: there one machine vector is enough.
  int bytes = target.vector_bytes * (staged ? 1 : target.interleave);
  int most = scattered ? kScatteredLanes : kMostLanes;
  return std::max(1, std::min({bytes / narrowest, kMostVectorBytes / widest, most}));
}

/// Threads of a program: a few vectors of the largest tile for each, within the target's limits. Long programs get more
/// threads with fewer vectors: their latency is hidden by arithmetic, and each vector is one more copy to compile.
int choose_threads(const Function& f, const Target& target, int lanes) {
  int64_t largest = 1, operations = 0;
  for (uint32_t id = 0; id < f.size(); ++id) {
    const Node& n = f[Value{id}];
    if (!is_tile(n.type)) continue;
    largest = std::max(largest, n.type.elements());
    operations += is_pointwise(n.op);
  }
  int64_t vectors = round_up_to_power(largest) / lanes;
  int64_t usual = operations < kLongProgram ? kUsualThreads : 2 * kUsualThreads;
  int64_t wanted = std::max(std::min(vectors, usual), vectors / kVectorsPerThread);
  return static_cast<int>(std::clamp<int64_t>(wanted, target.warp, target.max_threads));
}

void check_threads(int threads, const Target& target) {
  bool is_power = threads > 0 && (threads & (threads - 1)) == 0;
  if (!is_power || threads > target.max_threads)
    user_error("a program can not have {} threads on {}: expected a power of two up to {}", threads, target.name, target.max_threads);
}

}  // namespace

Function lower(const Function& prepared, const Target& target, int threads, const Watch& watch) {
  if (target.tile_form) return prepared;
  auto show = [&](std::string_view stage, const Function& f) {
    if (watch) watch(stage, f);
  };
  Function tile = simplify(take_offsets_out(drop_hints(prepared)));
  if (!target.quick) tile = simplify(split(tile));
  show("split", tile);
  tile = stage(tile);
  if (target.rereads) tile = reread(tile);
  tile = simplify(tile);
  show("staged", tile);
  Function scheduled = schedule(tile);
  verify(scheduled, Form::Scheduled);
  show("scheduled", scheduled);

  int lanes = choose_lanes(tile, target);
  if (threads == 0) threads = choose_threads(tile, target, lanes);
  check_threads(threads, target);
  Function program = simplify(lower_to_lanes(scheduled, target, threads, lanes));
  show("phases", program);
  assign_scratch(program, target);
  program = insert_barriers(program);
  verify(program, Form::Lanes);
  show("lanes", program);
  return program;
}

}  // namespace strider::pass
