// SPDX-License-Identifier: Apache-2.0
// What both interpreters are made of: the state of the running program, and a table that says how each op runs.
//
// Threads run in lockstep: a statement runs for all active threads of the context before the next one starts. Pure ops are
// computed for inactive threads too, whose slots nobody reads; memory, carried values and results change for active ones only.
#pragma once

#include <array>

#include "backend/interp/memory.h"
#include "backend/interp/values.h"
#include "ir/evaluate.h"

namespace strider::interp {

/// The threads that run: those t with active[t], or all `width` when active is null.
struct Context {
  uint32_t id = kProgram;
  int64_t width = 1;
  const uint8_t* active = nullptr;
  int64_t live = 1;

  bool is_active(int64_t thread) const { return !active || active[thread]; }
  bool all() const { return live == width; }
};

class Lints;
struct Machine;
using Handler = void (*)(Machine&, ir::Value);
/// By op; null where an op has no meaning in the form.
using Handlers = std::array<Handler, ir::kOpCount>;

struct Machine {
  Machine(const ir::Function& f, const Handlers& handlers, int threads, const Grid& grid, std::span<const uint64_t> args,
          const InterpOptions& options);
  ~Machine();
  std::vector<Report> run_all();
  /// A user error that names the loops if the program has run more statements than options.lints.most_steps.
  void run(ir::RegionId region);

  Slots in(ir::Value v) const {
    const Place& p = values[v];
    return {p.data, p.uniform || p.context != context.id ? 0 : 1};
  }
  /// Operand k of `v`, or one slot of `missing` where there is none.
  Slots in_or(ir::Value v, int k, const uint64_t& missing) const {
    return k < function[v].operand_count ? in(function.operand(v, k)) : Slots{&missing, 0};
  }
  uint64_t* out(ir::Value v) const { return values[v].data; }
  /// How many slots of `v` the running context has.
  int64_t count(ir::Value v) const { return values[v].uniform ? 1 : context.width * values[v].lanes; }
  std::span<const ir::Value> yields(ir::RegionId region) const { return function.operands(function.region(region).body.back()); }
  /// Copies slots of the active threads, all values at once: targets may be among the sources. Invalid targets are left out.
  void assign(std::span<const ir::Value> targets, std::span<const ir::Value> sources);
  /// The element type under which slots of `type` are computed on.
  static DType slot_dtype(const ir::Type& type) { return type.is_pointer() ? DType::U64 : type.dtype; }

  const ir::Function& function;
  const Handlers& handlers;
  const InterpOptions& options;
  Grid grid;
  std::array<int64_t, 3> program{};
  Reports reports;
  Values values;
  std::vector<uint64_t> args;  // as slots
  ProgramMemory memory;
  Context context;
  std::unique_ptr<Lints> lints;  // null: none is on
  std::vector<ir::Evaluator> helpers;  // of the function

  /// Stands in a handler of a loop.
  class InLoop {
   public:
    InLoop(Machine& m, ir::Value loop) : m_(m) { m_.loops_.push_back(loop); }
    ~InLoop() { m_.loops_.pop_back(); }
    InLoop(const InLoop&) = delete;

   private:
    Machine& m_;
  };

 private:
  void set_arguments();
  void run_program(int64_t linear);
  [[noreturn]] void stop_endless() const;
  int64_t linear_ = 0, steps_left_ = 0;  // of the program that runs
  std::vector<ir::Value> loops_;         // that run, the outermost first
  void copy_active(uint64_t* to, Slots from, int64_t lanes) const;
  std::vector<uint64_t> staged_;
};

__extension__ typedef __int128 Wide;

/// An integer or bool element as a number that no sum of elements overflows, nor a product but of large u64.
Wide wide_of_bits(DType dtype, uint64_t bits);

/// Narrows the machine's context to the threads that pass `keep`, for as long as it lives.
class Narrowed {
 public:
  explicit Narrowed(Machine& m) : m_(m), saved_(m.context), bits_(m.context.width) {}
  ~Narrowed() { m_.context = saved_; }
  Narrowed(const Narrowed&) = delete;

  /// Keeps those active threads for which `passes` holds; gives whether any is left.
  template <class Passes>
  bool keep(Passes&& passes) {
    Context& c = m_.context;
    int64_t live = 0;
    for (int64_t t = 0; t < c.width; ++t) {
      bits_[t] = c.is_active(t) && passes(t);
      live += bits_[t];
    }
    if (live != c.live) {
      c.active = bits_.data();
      c.live = live;
    }
    return live > 0;
  }

 private:
  Machine& m_;
  Context saved_;
  std::vector<uint8_t> bits_;
};

/// The ops that mean the same in both forms: leaves, pointwise ops, addresses, memory, control flow.
Handlers common_handlers();

void run_load(Machine& m, ir::Value v);
void run_store(Machine& m, ir::Value v);
void run_atomic(Machine& m, ir::Value v);
void run_if(Machine& m, ir::Value v);
void run_for(Machine& m, ir::Value v);
void run_while(Machine& m, ir::Value v);
/// Broadcast and trans.
void run_moves(Machine& m, ir::Value v);
/// The slots of `from`, laid out as operand 0 of `v`, in the order of the result.
void move_lanes(const Machine& m, ir::Value v, const uint64_t* from, uint64_t* to);
void run_gather(Machine& m, ir::Value v);
/// The lane of operand 0 that lane i of a gather takes; -1: its index is out of range.
int64_t gathered_lane(const Machine& m, ir::Value v, int64_t i);
/// For ops whose slots are filled elsewhere.
void run_nothing(Machine& m, ir::Value v);

}  // namespace strider::interp
