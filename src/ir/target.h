// SPDX-License-Identifier: Apache-2.0
// What a compiler must know about a processor: plain data, hashable, the same on a machine without the device.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strider {

enum class Isa : uint8_t { X86, Nvptx };  // which table of spellings the LLVM emitter uses

struct Target {
  std::string name;      // "cpu", "cuda:sm_90"
  std::string back_end;  // the folder that serves it: "cpu", "cuda", "interp"
  Isa isa = Isa::X86;
  std::string triple, processor, features;  // LLVM's words

  int vector_bytes = 32;         // of one explicit vector
  int interleave = 1;            // machine vectors that one explicit vector spans, to hide the latency of arithmetic
  int max_threads = 1;           // of a program; 1: one thread runs the whole program
  int warp = 1;                  // threads that can exchange values directly
  int64_t scratch_limit = 16 << 20;  // bytes that one program may use; more than a cache holds is slow, but runs
  int unroll_slots = 8;          // nests of up to so many vectors a thread are written out; longer ones are loops
  bool local_in_scratch = true;  // long private arrays live in scratch (never on a CPU's stack)
  bool masked_blocks = true;     // masked vector accesses exist; else they become branches
  bool deinterleaves = true;     // two blocks and a shuffle load every second element sooner than one by one
  bool streaming_stores = true;
  bool in_tiers = false;         // loading code is slow: operators first run as quick code (call/tiers)
  bool quick = false;            // code should compile soon rather than run fast

  bool operator==(const Target&) const = default;
};

/// The target of this machine's processor.
Target host_target();
/// The same processor, for code that compiles soon: single lanes, nothing written out twice.
Target quick_target(const Target& target);
/// The target called `name`: "cpu", "cpu:<llvm processor>", "cuda:sm_80". Throws a user error that lists the known names.
Target target_named(std::string_view name);
std::vector<std::string> known_targets();
/// Whether this machine's processor can run code for `target`.
bool host_runs(const Target& target);

}  // namespace strider
