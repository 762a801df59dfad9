// SPDX-License-Identifier: Apache-2.0
// The memory of a launch: every access is checked against its bounds, against other actors, and for written bytes before
// it happens. A faulty access is reported and does not touch memory.
#pragma once

#include <vector>

#include "backend/interp/report.h"
#include "backend/interp/shadow.h"
#include "backend/interp/values.h"
#include "ir/function.h"

namespace strider::interp {

/// One memory statement: what its lanes touch and may reach. Global pointers are addresses; shared and local ones are byte
/// offsets into the program's scratch and the thread's arena.
struct Site {
  ir::Value statement;
  Touch touch;
  DType dtype;
  int bytes;
  ir::Space space;
  ir::Value root;           // argument or alloc of its pointers; invalid: several
  bool bounded = false;     // false: may reach anything
  uint64_t begin = 0, size = 0;
  bool read_only = false;   // reaches memory that the program promised not to write
};

class ProgramMemory {
 public:
  ProgramMemory(const ir::Function& f, const Values& values, std::span<const uint64_t> args, const InterpOptions& options,
                Reports& reports);

  /// Poisons scratch and starts the program of this linear id.
  void begin_program(int64_t linear);
  /// Orders what threads did so far before what they do next.
  void barrier();

  const Site& site(ir::Value statement) const { return sites_[site_index_[statement.id]]; }
  uint64_t load(const Site& site, Actor at, uint64_t pointer);
  void store(const Site& site, Actor at, uint64_t pointer, uint64_t bits);
  /// Gives the old value.
  uint64_t atomic(ir::AtomicKind kind, const Site& site, Actor at, uint64_t pointer, uint64_t value, uint64_t compare);

  /// Tile form: lanes of one store must not write different values to one byte. begin_lanes starts a statement whose
  /// addresses may repeat; every lane is claimed before it is stored.
  void begin_lanes() { lanes_.forget(); }
  void claim_lane(const Site& site, Actor at, uint64_t pointer, uint64_t bits);

  bool in_bounds(const Site& site, uint64_t pointer) const;
  /// "element x + 100"; bytes where an offset is no multiple of an element, and in scratch.
  std::string address_text(const Site& site, uint64_t pointer) const;
  /// `what` was found at an address.
  Found found(const Site& site, uint64_t pointer, std::string what) const;

 private:
  Site make_site(ir::Value statement) const;
  void bound_global(Site& site) const;
  void bound_scratch(Site& site) const;
  const Memory* memory_of(ir::Value param) const;
  int64_t index_of(ir::Value param) const { return function_[param].imm; }

  bool permitted(const Site& site, Actor at, uint64_t pointer);
  void note(const Site& site, Actor at, uint64_t pointer, bool repeats_value);
  void note_written(const Site& site, Actor at, uint64_t pointer);
  void check_written(const Site& site, Actor at, uint64_t pointer);
  bool holds(const Site& site, Actor at, uint64_t pointer, uint64_t bits) const;
  char* host(const Site& site, int64_t thread, uint64_t pointer) const;
  uint32_t* writers(const Site& site, int64_t thread, uint64_t pointer);

  std::string reach_text(const Site& site) const;
  void report_bounds(const Site& site, Actor at, uint64_t pointer);
  void report_program_race(const Site& site, Actor at, uint64_t pointer, const Conflict& other);
  void report_thread_race(const Site& site, Actor at, uint64_t pointer, const Conflict& other);

  const ir::Function& function_;
  const Values& values_;
  std::span<const uint64_t> args_;
  const InterpOptions& options_;
  Reports& reports_;
  std::vector<ir::Value> roots_;
  std::vector<Site> sites_;
  std::vector<uint32_t> site_index_;  // by node id

  std::vector<char> scratch_, local_;
  std::vector<uint32_t> scratch_writers_, local_writers_;  // by byte: 1 + node id of the alloc written through, 0: poison
  uint32_t program_ = 0;
  Shadow programs_, threads_, shared_threads_, lanes_;
};

}  // namespace strider::interp
