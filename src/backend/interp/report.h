// SPDX-License-Identifier: Apache-2.0
// What both interpreters are told and what they tell: options, faults, and the bounded list that collects them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <strider/interpret.h>

#include "backend/backend.h"
#include "ir/function.h"

namespace strider::interp {

/// Memory that a pointer argument may reach. It belongs to the parameter of its number, or without one to that of its name; an
/// argument that has neither may reach the first memory that holds its address. Argument and memory need not begin together (a view into a tensor).
struct Memory {
  const char* name;
  char* base;
  int64_t bytes;
  int64_t elements = -1;  // of the tensor, which may have gaps; -1: not known
  int64_t param = -1;     // of the program; -1: the name decides
};

struct InterpOptions {
  std::vector<Memory> memories{};  // empty: global accesses are not checked against bounds
  bool check_races = true;
  bool check_uninitialised = true;  // reads of shared and local bytes that nobody wrote (lane form)
  int warp = 32;                    // threads that can exchange values (lane form)
  int64_t max_reports = 16;
  std::string_view what = "kernel";           // what the function is, in words
  Interpretation lints{};                     // tile form: which of them are on
  std::span<const TensorArgument> tensors{};  // for the lint of elementwise kernels
};

using ReportKind = FaultKind;
using Report = Fault;

/// The texts of all reports, a line each.
std::string to_string(const std::vector<Report>& reports);

/// Where inside a program something happens; -1: not known or all of them.
struct Actor {
  int64_t thread = -1;
  int64_t lane = -1;
};

/// What was found, in words, and the memory that is meant.
struct Found {
  Found(std::string words) : what(std::move(words)) {}
  std::string what;
  std::string argument = {};
  int64_t element = 0;
  ir::Shape tile = {};  // of the lane's index; without axes: that of the statement
};

/// Collects the faults of one launch.
class Reports {
 public:
  Reports(const ir::Function& f, const Grid& grid, const InterpOptions& options)
      : function_(f), grid_(grid), what_(options.what), limit_(options.max_reports) {}

  void set_program(int64_t linear) { program_ = linear; }
  /// "program (3, 0, 1)"
  std::string program_text(int64_t linear) const;
  /// Counts a fault; `describe` gives a text or a Found, and is called only if it will be told.
  template <class Describe>
  void add(ReportKind kind, ir::Value statement, Actor actor, Describe&& describe) {
    if (is_new(kind, statement)) tell(kind, statement, actor, describe());
  }
  /// A fault of the arguments, before any program runs.
  void add_argument(const std::string& text);
  std::vector<Report> take();

 private:
  struct Entry {
    ir::Value statement;
    Report report;
  };
  bool is_new(ReportKind kind, ir::Value statement);
  void tell(ReportKind kind, ir::Value statement, Actor actor, const Found& found);
  std::string actor_text(const Report& report) const;

  const ir::Function& function_;
  Grid grid_;
  std::string_view what_;
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
