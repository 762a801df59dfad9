// SPDX-License-Identifier: Apache-2.0
// What both interpreters are told and what they tell: options, faults, and the bounded list that collects them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "ir/function.h"

namespace strider::interp {

/// Memory that a pointer argument may reach. It belongs to the argument of its name; an argument without one may reach
/// the first memory that holds its address. Argument and memory need not begin together (a view into a tensor).
struct Memory {
  const char* name;
  char* base;
  int64_t bytes;
};

struct InterpOptions {
  std::vector<Memory> memories{};  // empty: global accesses are not checked against bounds
  bool check_races = true;
  bool check_uninitialised = true;  // reads of shared and local bytes that nobody wrote (lane form)
  int warp = 32;                    // threads that can exchange values (lane form)
  int64_t max_reports = 16;
};

enum class ReportKind : uint8_t {
  OutOfBounds,       // the access did not happen: a load gave 0, a store was dropped
  Race,              // two programs, threads or lanes touched one byte, and the order matters
  Uninitialised,     // scratch was read before it was written
  DivergentBarrier,  // barrier, phase or exchange without all its threads
  Misuse,            // misaligned block, store through a read-only argument, loop step below 1, false argument facts
};

/// A fault, as one line: kernel, source line, what happened, and which program, thread and lane did it.
/// Of faults of one kind at one statement only the first is told, with a count of the others.
struct Report {
  ReportKind kind;
  std::string text;
};

/// The texts of all reports, a line each.
std::string to_string(const std::vector<Report>& reports);

/// Where inside a program something happens; -1: not known or all of them.
struct Actor {
  int64_t thread = -1;
  int64_t lane = -1;
};

/// Collects the faults of one launch.
class Reports {
 public:
  Reports(const ir::Function& f, const Grid& grid, int64_t limit) : function_(f), grid_(grid), limit_(limit) {}

  void set_program(int64_t linear) { program_ = linear; }
  /// "program (3, 0, 1)"
  std::string program_text(int64_t linear) const;
  /// Counts a fault; `describe` writes its text and is called only if it will be told.
  template <class Describe>
  void add(ReportKind kind, ir::Value statement, Actor actor, Describe&& describe) {
    if (is_new(kind, statement)) tell(kind, statement, actor, describe());
  }
  /// A fault of the arguments, before any program runs.
  void add_argument(const std::string& text);
  std::vector<Report> take();

 private:
  struct Entry {
    ReportKind kind;
    ir::Value statement;
    std::string text;
    int64_t repeats = 0;
  };
  bool is_new(ReportKind kind, ir::Value statement);
  void tell(ReportKind kind, ir::Value statement, Actor actor, const std::string& what);
  std::string actor_text(ir::Value statement, Actor actor) const;

  const ir::Function& function_;
  Grid grid_;
  int64_t limit_;
  int64_t program_ = 0;
  std::vector<Entry> entries_;
};

/// "`%7 = load %x : f32` (norm.cpp:12)", the source line left out where it is not known.
std::string statement_text(const ir::Function& f, ir::Value statement);
/// The name that ir::print gives a value.
std::string value_name(const ir::Function& f, ir::Value v);
/// What a memory statement moves in a lane, and the shape of its lanes.
ir::Type accessed_type(const ir::Function& f, ir::Value statement);

}  // namespace strider::interp
