// SPDX-License-Identifier: Apache-2.0
// The interpreter as a detective: launches that run statement by statement with every access checked, and say what is wrong.
//
//   l1[grid].interpreted()(x, out, n, {{"BLOCK", 1024}});       // an Error that tells every fault
//   add.interpreted({.overflow = true})(a, b);                  // operators too; a lint switched on
//
//   std::vector<st::Fault> faults;                              // collected instead of thrown
//   l1[grid].interpreted({.faults = &faults})(x, out, n, {{"BLOCK", 1024}});
//
//   st::Interpreted here({.masked_lanes = true});               // all launches of this thread, as long as `here` lives
//
// STRIDER_BACKEND=interp in the environment interprets all launches of a program (docs/settings.md). Tensors are those of the
// CPU, results are those of compiled code, bit for bit. A faulty access does not touch memory: a load gives 0, a store is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <strider/export.h>

namespace strider {
inline namespace v0 {

enum class FaultKind : uint8_t {
  OutOfBounds,       // an access before the first or after the last element of the argument's tensor
  Race,              // two programs, threads or lanes touched one element, one of them writing, not all by atomics
  Uninitialised,     // scratch was read before it was written (lane form)
  DivergentBarrier,  // barrier, phase or exchange without all its threads (lane form)
  Misuse,            // a store through a read-only argument, a loop step below 1, a broken promise about an argument
  MaskedLane,        // lint: a lane that a load without `other` masked off is stored, reduced or decides something
  Overflow,          // lint: the exact result of an integer operation is not in its dtype
  Elementwise,       // lint: an element is computed from an element with another index
};
STRIDER_API std::string_view name_of(FaultKind kind);

/// One fault. Of faults of one kind at one statement only the first is told, with a count of the others.
struct Fault {
  FaultKind kind = FaultKind::OutOfBounds;
  std::string kernel;                 // the kernel's or the operator's name
  std::string file;                   // where the user wrote the statement; "" and 0 where that is not known
  int line = 0;
  std::string statement;              // as the IR has it: "%4 = load %3 : i16[2, 3]"
  std::array<int64_t, 3> program{};   // along the axes of the grid
  int64_t thread = -1;                // in lane form; -1: none
  std::vector<int64_t> lane;          // index in the statement's tile; empty: a scalar, or all of it
  std::string argument;               // the parameter whose memory is meant; "" for none
  int64_t element = 0;                // from where the argument points, in elements of its dtype
  int64_t repeats = 0;                // further faults of the kind at the statement
  std::string text;                   // all of this in one line
};

/// How a launch is interpreted. Faults are an Error that tells all of them, unless `faults` collects them.
struct Interpretation {
  /// Faults are added here, and the launch ends as if there were none. For a prepared call, that of the scope in which it runs counts.
  std::vector<Fault>* faults = nullptr;
  /// Lint: report a lane that a load without `other` masked off where its value reaches a store, an atomic, a reduction, an address
  /// or a condition. `where` with a clean condition cleans it.
  bool masked_lanes = false;
  /// Lint: report integer + - * / neg abs << fma and casts whose exact result does not fit, signed and unsigned, also in lanes that a
  /// later mask drops. The program runs as it is written, unsimplified.
  bool overflow = false;
  /// Lint for kernels that mean an elementwise function: report a load whose element has another index than the element that its lane
  /// is stored to, shapes broadcast.
  bool elementwise = false;
  int64_t most = 16;  // faults that are told
  int64_t most_steps = 100'000'000;  // statements that one program may run: then it is an Error that names its loops; 0: no limit

  bool has_lints() const { return masked_lanes || overflow || elementwise; }
};

/// Interprets all launches of kernels and operators that this thread makes while it lives; the innermost one counts. They may end
/// in any order.
class Interpreted {
 public:
  STRIDER_API explicit Interpreted(const Interpretation& how = {});
  STRIDER_API ~Interpreted();
  Interpreted(const Interpreted&) = delete;
  Interpreted& operator=(const Interpreted&) = delete;

  struct Entry;

 private:
  Entry* entry_;
};

}  // namespace v0
}  // namespace strider
