// SPDX-License-Identifier: Apache-2.0
// From a case's words to work that can be timed.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "backend/backend.h"
#include "base/error.h"
#include "planner/plan.h"
#include "suites/cases.h"

namespace strider::bench {
namespace {

using testing::Content;
using testing::Runner;
using testing::Work;

bool has_size(std::string_view text) {
  return text.find("{n}") != text.npos || text.find("{r") != text.npos || text.find("{h}") != text.npos;
}
bool has_dtype(std::string_view text) { return text.find("{t}") != text.npos; }

/// The words with numbers in place of names.
std::string filled(std::string_view text, DType dtype, int64_t n) {
  int64_t rows = int64_t{1} << (std::bit_width(static_cast<uint64_t>(n)) - 1) / 2, columns = n / rows;
  return fmt::format(fmt::runtime(text), fmt::arg("n", n), fmt::arg("r", rows), fmt::arg("c", columns), fmt::arg("r2", rows / 2),
                     fmt::arg("c2", columns / 2), fmt::arg("h", n >> 20), fmt::arg("t", name_of(dtype)));
}

/// A case at one size and dtype, in words that can be placed in memory.
struct Sized {
  Sized(const Case& c, DType dtype, int64_t n) : given(c), result(filled(c.result, dtype, n)) {
    for (std::string_view text : c.operands)
      if (!text.empty()) operands.emplace_back(filled(text, dtype, n));
  }
  const Case& given;
  std::vector<OperandText> operands;
  OperandText result;
};

int64_t bytes_touched(const TensorView& t) {
  int64_t n = 1;
  for (int a = 0; a < t.rank(); ++a)
    if (t.strides()[a] != 0) n *= t.shape()[a];
  return n * size_of(t.dtype());
}

/// One set of operands in memory, and the call on them.
class Bound {
 public:
  static constexpr int kSlots = 8, kResultSlot = 7;

  Bound(Runner& r, const Sized& sized, int set) : op_(&sized.given.op()) {
    views_.reserve(kSlots);
    for (const OperandText& text : sized.operands) {
      int slot = set * kSlots + static_cast<int>(views_.size());
      if (text.is_number()) arguments_.push_back(text.number());
      else arguments_.push_back(views_.emplace_back(r.memory().operand(text, sized.given.content, slot)));
    }
    views_.push_back(r.memory().operand(sized.result, Content::None, set * kSlots + kResultSlot));
  }
  Bound(const Bound&) = delete;

  void run() const {
    Argument list[kSlots];
    std::copy(arguments_.begin(), arguments_.end(), list);
    list[arguments_.size()] = out(result());
    op_->run({list, arguments_.size() + 1});
  }
  void run_allocating() const { op_->run(arguments_); }

  const TensorView& result() const { return views_.back(); }
  std::span<const Argument> arguments() const { return arguments_; }

  int64_t bytes() const {
    int64_t sum = 0;
    for (const TensorView& v : views_) sum += bytes_touched(v);
    return sum;
  }

  bool streams(const Target& target) const {
    std::vector<planner::Operand> operands{operand(planner::Role::Output, result())};
    for (const Argument& a : arguments_)
      if (!a.is_number()) operands.push_back(operand(planner::Role::Input, a.view()));
    return planner::plan(operands, target).key.streaming;
  }

 private:
  static planner::Operand operand(planner::Role role, const TensorView& t) {
    return {role, t.dtype(), t.data(), &t.shape(), &t.strides()};
  }

  const Operator* op_;
  std::vector<TensorView> views_;  // operands, then the result
  std::vector<Argument> arguments_;
};

using Sets = std::vector<std::shared_ptr<const Bound>>;

Sets bind(Runner& r, const Sized& sized) {
  auto first = std::make_shared<Bound>(r, sized, 0);
  Sets sets{first};
  for (int k = 1; k < Runner::sets_for(first->bytes()); ++k) sets.push_back(std::make_shared<Bound>(r, sized, k));
  return sets;
}

testing::Call call_of(const Sets& sets, void (Bound::*run)() const) {
  return [sets, run](int64_t call) { (*sets[static_cast<size_t>(call) % sets.size()].*run)(); };
}

testing::Call peer_call(Runner& r, const Case& c, const Sets& sets) {
  if (!r.peer() || c.peer.empty()) return {};
  std::vector<std::function<void()>> calls;
  for (const auto& set : sets) calls.push_back(r.peer()->call(c.peer, set->arguments(), c.allocates ? nullptr : &set->result()));
  return [calls, sets](int64_t call) { calls[static_cast<size_t>(call) % calls.size()](); };
}

}  // namespace

Work work_of(Runner& r, const Case& c, DType dtype, int64_t n) {
  Sets sets = bind(r, Sized(c, dtype, n));
  Work work{.name = std::string(c.name), .dtype = std::string(name_of(sets[0]->result().dtype())), .aim = c.aim};
  work.elements = sets[0]->result().elements();
  work.bytes = sets[0]->bytes();
  work.streaming = sets[0]->streams(r.device().target());
  work.call = call_of(sets, c.allocates ? &Bound::run_allocating : &Bound::run);
  work.peer = peer_call(r, c, sets);
  if (c.allocates) {
    work.reference_name = "out= form";
    work.reference = call_of(sets, &Bound::run);
  }
  return work;
}

namespace {

// --- agreement with the peer

/// What a result may differ by, relative where it is above 1.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::BF16: return 2e-2;
    case DType::F16: return 2e-3;
    case DType::F64: return 1e-12;
    default: return 2e-5;
  }
}

std::vector<double> left_by(const std::function<void()>& call, const TensorView& result) {
  std::memset(result.data(), 0xFF, static_cast<size_t>(result.elements() * size_of(result.dtype())));
  call();
  return result.to_doubles();
}

/// An error if the peer computes something else.
void check_agreement(Runner& r, const Case& c, DType dtype) {
  if (!r.peer() || c.peer.empty() || c.allocates) return;
  Bound set(r, Sized(c, dtype, int64_t{1} << 20), 0);
  std::vector<double> ours = left_by([&] { set.run(); }, set.result());
  std::vector<double> theirs = left_by(r.peer()->call(c.peer, set.arguments(), &set.result()), set.result());
  for (size_t i = 0; i < ours.size(); ++i)
    if (!(std::abs(ours[i] - theirs[i]) <= tolerance(set.result().dtype()) * std::max(1.0, std::abs(theirs[i]))))
      internal_error("{}: element {} is {}, {} gives {}", c.name, i, ours[i], r.peer()->name(), theirs[i]);
}

// --- one after the other

/// What is to be timed at one number of threads.
struct Step {
  const Case* given;
  DType dtype;
  int64_t n;
};

std::vector<Step> steps_of(const Runner& r, std::span<const Case> cases) {
  std::vector<Step> steps;
  for (int64_t n : r.sizes())
    for (const Case& c : cases) {
      bool any_dtype = has_dtype(c.operands[0]) || has_dtype(c.result);
      if (!has_size(c.result) && n != r.sizes()[0]) continue;
      if (!any_dtype && r.dtypes_given()) continue;
      for (DType dtype : any_dtype ? r.dtypes() : std::vector{f32}) steps.push_back({&c, dtype, n});
    }
  return steps;
}

void time(Runner& r, const Step& step) {
  r.progress().show(fmt::format("{} {}", step.given->name, name_of(step.dtype)));
  try {
    r.time(work_of(r, *step.given, step.dtype, step.n));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) throw;
    r.leave_out(fmt::format("{} of {}", step.given->name, name_of(step.dtype)), error.what());
  }
}

void run_steps(Runner& r, const std::vector<Step>& steps) {
  r.progress().expect(static_cast<int>(steps.size() * r.threads().size()));
  for (int threads : r.threads()) {
    r.use_threads(threads);
    for (const Step& step : steps) time(r, step);
  }
}

}  // namespace

void run_cases(Runner& r, std::span<const Case> cases) {
  std::vector<Step> steps = steps_of(r, cases);
  if (r.peer())
    for (const Step& step : steps)
      if (step.n == r.sizes()[0]) check_agreement(r, *step.given, step.dtype);
  run_steps(r, steps);
}

void run_curve(Runner& r, const Case& c) {
  std::vector<Step> steps;
  for (int log = 16; log <= (r.is_quick() ? 24 : 27); log += r.is_quick() ? 2 : 1)
    for (DType dtype : r.dtypes()) steps.push_back({&c, dtype, int64_t{1} << log});
  run_steps(r, steps);
}

}  // namespace strider::bench
