// SPDX-License-Identifier: Apache-2.0
// What a compiler, a planner and a launch must know about a processor: plain data, hashable, the same on a machine without the
// device. Rows of processors lie with their back ends (backend/*/targets.cpp); backend.h finds them by name.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <strider/dtype.h>

#include "ir/op.h"

namespace strider::ir {
class Function;
}

namespace strider {

enum class TargetKind : uint8_t { Cpu, Gpu, Interpreter };

/// What a compiler gives for it: machine code, text that the device's driver assembles, or the program's own text.
enum class Output : uint8_t { Object, Assembly, Source };

/// Programs along each axis.
using Grid = std::array<int64_t, 3>;

struct BlockShape {
  int32_t m, n;
  bool operator==(const BlockShape&) const = default;
};

/// By what the planner chooses blocks; times are in elements of whole tiles. Figures of one processor of the kind, measured.
struct CostModel {
  std::vector<BlockShape> rows, tiles;  // of the two layouts; of shapes that cost the same the first is taken
  int32_t flat_elements = 0;            // of a block along one axis
  int32_t flat_bytes = 0;               // instead of it, where it is not 0: those of the narrowest operand
  int64_t weighed_from = std::numeric_limits<int64_t>::max();  // elements from which the cheapest shape is taken, not the first that fits
  double masked = 0;                    // of a masked lane
  double program = 0;                   // of the start of a program's row
  double row = 0, broken_row = 0;       // of a row of a tile, and of one that goes on in another program
  int32_t whole_m = 1, whole_n = 1;     // masks reach so far
  int64_t fold_elements = 0;            // that one program of a long sum takes
  bool operator==(const CostModel&) const = default;
};

/// An op on operands of a dtype for which a processor has no code.
struct MissingOp {
  ir::Op op;
  DType dtype;
  bool operator==(const MissingOp&) const = default;
};

struct Target {
  std::string name;      // "cpu", "cuda:sm_90"
  std::string back_end;  // the row of backend/registry.cpp that serves it: "cpu", "cuda", "interp"
  TargetKind kind = TargetKind::Cpu;
  Output output = Output::Object;
  std::string assembly = "asm";             // the stage of text that the assembler reads; "" where there is none
  std::string triple, processor, features;  // LLVM's words
  int level = 0;                            // of the processor among those of its triple: each runs code for itself and all below

  // What it can say.
  std::vector<MissingOp> missing;  // all other ops have code for all dtypes
  bool tile_form = false;          // its compiler takes tile form; else lane form
  int vector_bytes = 32;           // of one explicit vector
  int interleave = 1;              // machine vectors that one explicit vector spans, to hide the latency of arithmetic
  int unroll_slots = 8;            // nests of up to so many vectors a thread are written out; longer ones are loops
  int aligned_bytes = 0;           // to which an access must be aligned to be wide; 0: any address will do
  bool masked_blocks = true;       // masked vector accesses exist; else they become branches
  bool deinterleaves = true;       // two blocks and a shuffle load every second element sooner than one by one
  bool streaming_stores = true;

  // Threads, memory and limits.
  int max_threads = 1;             // of a program; 1: one thread runs the whole program
  int warp = 1;                    // threads that can exchange values directly
  int64_t scratch_limit = 16 << 20;  // bytes that one program may use; more than a cache holds is slow, but runs
  int64_t cache_bytes = 16 << 20;  // of the last cache, a program's share; larger outputs are not read again soon
  bool local_in_scratch = true;    // long private arrays live in scratch (never on a CPU's stack)
  bool rereads = true;             // a row that a whole tile uses is read again sooner than kept in scratch
  Grid grid_limit = {INT32_MAX, INT32_MAX, INT32_MAX};
  int64_t argument_limit = INT32_MAX;  // parameters of a kernel
  int64_t argument_bytes = INT32_MAX;  // all of them

  CostModel costs;
  bool in_tiers = false;  // loading code is slow: operators first run as quick code (call/tiers)
  bool quick = false;     // code should compile soon rather than run fast

  bool operator==(const Target&) const = default;

  /// Whether a processor of this target runs code for `other`.
  bool runs(const Target& other) const;
  /// Whether there is code for `op` on operands of `dtype`, and to results of it where the op converts or reads memory.
  bool spells(ir::Op op, DType dtype) const;
  /// Takes all ops on a dtype away: loads, stores and conversions too.
  void lose(DType dtype);
  /// Takes one op on a dtype away.
  void lose(ir::Op op, DType dtype) { missing.push_back({op, dtype}); }
  /// Whether an output of so many bytes is written past the caches.
  bool streams(int64_t bytes) const { return streaming_stores && bytes >= cache_bytes; }
  /// The bytes of an explicit vector with its interleaving.
  int wide_bytes() const { return vector_bytes * interleave; }
};

/// What processors of a kind have in common, without names and words of LLVM: where a back end's rows begin.
Target usual_target(TargetKind kind);

/// The same processor, for code that compiles soon: single lanes, nothing written out twice.
Target quick_target(const Target& target);

/// Throws an unsupported error that names the op, the dtype and the target if `f` has an op that the target does not spell.
void check_spelled(const ir::Function& f, const Target& target);

}  // namespace strider
