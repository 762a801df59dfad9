// SPDX-License-Identifier: Apache-2.0
#include "testing/runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cstring>

#include "base/thread_pool.h"
#include "planner/instantiate.h"
#include "call/compile.h"
#include "call/generate.h"

#include <strider/ops.h>

namespace strider::inline v0::testing {

// --- progress

void Progress::show(std::string_view what) {
  ++step_;
  if (!::isatty(STDERR_FILENO)) return;
  clear();
  std::string line = fmt::format("  [{}/{}] {} ...", step_, std::max(step_, expected_), what);
  fmt::print(stderr, "{}", line);
  shown_ = line.size();
}

void Progress::clear() {
  if (shown_ > 0) fmt::print(stderr, "\r{:{}}\r", "", shown_);
  shown_ = 0;
}

// --- choices

namespace {

Choices completed(Choices c, const Device& device) {
  bool is_gpu = device.target().kind == TargetKind::Gpu;
  if (c.sizes.empty()) c.sizes = is_gpu ? std::vector{int64_t{1} << 26} : std::vector{int64_t{1} << 24, int64_t{1} << 27};
  if (c.quick) c.sizes.resize(1);
  if (is_gpu) c.threads = {0};
  else if (c.threads.empty()) c.threads = worker_count() > 1 ? std::vector{1, worker_count()} : std::vector{1};
  if (c.dtypes.empty()) c.dtypes = {f32};
  return c;
}

}  // namespace

Runner::Runner(Choices choices, Progress& progress, Peer* peer)
    : dtypes_given_(!choices.dtypes.empty()),
      choices_(completed(choices, device_named(choices.device))),
      device_(device_named(choices_.device)),
      progress_(progress),
      peer_(peer),
      memory_(device_) {}

bool Runner::is_gpu() const { return device_.target().kind == TargetKind::Gpu; }

int Runner::sets_for(int64_t bytes) {
  constexpr int64_t kBeyondCaches = 512 << 20;
  return bytes < kBeyondCaches ? 3 : 1;
}

void Runner::use_threads(int threads) {
  current_threads_ = threads;
  if (threads == 0) return;
  set_worker_count(threads);
  if (peer_) peer_->use_threads(threads);
}

Options Runner::options() const {
  if (choices_.quick) return {.seconds = 0.15, .warm_up_seconds = 0.02, .least_rounds = 3};
  return {.seconds = 1, .warm_up_seconds = 0.05, .least_rounds = 5};
}

// --- what cases are compared with

namespace {

/// The identity kernel, called as operators are; only if its stores would not be as wanted, it is made and launched by hand.
class Identity {
 public:
  Identity(Device& device, TensorView x, TensorView y, bool streaming) : x_(std::move(x)), y_(std::move(y)) {
    planner::Operand operands[] = {{planner::Role::Output, f32, y_.data(), &y_.shape(), &y_.strides()},
                                   {planner::Role::Input, f32, x_.data(), &x_.shape(), &x_.strides()}};
    planner::Plan plan = planner::plan(operands, device.target());
    if (plan.key.streaming == streaming || plan.empty || !device.target().streaming_stores) return;
    const Target& target = device.target();
    plan.key.streaming = streaming;
    plan.key.align_out = streaming ? std::bit_width(static_cast<unsigned>(target.wide_bytes())) - 1 : 0;
    const detail::OperatorDecl& op = decltype(ops::copy)::get().untyped().declaration();
    planner::ArgumentType type{planner::Source::Tensor, f32};
    executable_ = compile(generate(op, type_operator(op, {&type, 1}), plan.key), device);
    slots_.resize(planner::kMaxParameters);
    slots_.resize(planner::write_arguments(plan, nullptr, slots_.data()));
    programs_ = plan.programs;
  }

  void operator()() const {
    if (executable_) executable_->launch({programs_, 1, 1}, slots_);
    else ops::copy(x_, out(y_));
  }

 private:
  TensorView x_, y_;
  std::shared_ptr<Executable> executable_;
  std::vector<uint64_t> slots_;
  int64_t programs_ = 0;
};

// Slots of the memory that the baselines use, far from those of cases.
constexpr int kFromSlot = 1000, kToSlot = 2000;

OperandText floats(int64_t bytes) { return OperandText(fmt::format("f32({})", std::max<int64_t>(bytes / size_of(f32), 1))); }

}  // namespace

Call Runner::identity(int64_t bytes, bool streaming) {
  OperandText half = floats(bytes / 2);
  std::vector<Identity> sets;
  for (int k = 0; k < sets_for(bytes); ++k)
    sets.emplace_back(device_, memory_.operand(half, Content::Normal, kFromSlot + k),
                      memory_.operand(half, Content::None, kToSlot + k), streaming);
  return [sets = std::move(sets)](int64_t call) { sets[static_cast<size_t>(call) % sets.size()](); };
}

/// Each thread copies one part.
double Runner::memcpy_gbps(int64_t bytes) {
  if (is_gpu() || bytes < 1024) return 0;
  double& known = memcpy_[{bytes, current_threads_}];
  if (known > 0) return known;
  OperandText half = floats(bytes / 2);
  int sets = sets_for(bytes);
  std::vector<std::pair<char*, char*>> pairs;
  for (int k = 0; k < sets; ++k)
    pairs.emplace_back(static_cast<char*>(memory_.operand(half, Content::None, kToSlot + k).data()),
                       static_cast<char*>(memory_.operand(half, Content::Normal, kFromSlot + k).data()));
  int64_t total = half.bytes(), part = std::max<int64_t>(total / current_threads_, 64);
  Call call = [&](int64_t number) {
    auto [to, from] = pairs[static_cast<size_t>(number) % pairs.size()];
    parallel_for((total + part - 1) / part, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t k = begin; k < end; ++k)
        std::memcpy(to + k * part, from + k * part, static_cast<size_t>(std::min(part, total - k * part)));
    });
  };
  Options brief = options();
  brief.seconds /= 4;
  return known = gigabytes_per_second(2 * total, measure(device_, {&call, 1}, brief)[0]);
}

// --- rows

void Runner::add(Row row) {
  row.suite = suite_;
  row.threads = current_threads_;
  rows_.push_back(std::move(row));
}

void Runner::leave_out(std::string_view name, std::string_view reason) {
  std::string note = fmt::format("{} is left out: {}", name, reason);
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

void Runner::time(const Work& work) {
  std::vector<Call> calls{work.call};
  std::vector<Times Row::*> places{&Row::times};
  auto beside = [&](const Call& call, Times Row::*place) {
    if (!call) return;
    calls.push_back(call);
    places.push_back(place);
  };
  if (work.beside_copy) beside(identity(work.bytes, work.streaming), &Row::copy);
  beside(work.reference, &Row::reference);
  beside(work.peer, &Row::peer);
  std::vector<Times> times = measure(device_, calls, options());

  Row row{.name = work.name, .dtype = work.dtype, .elements = work.elements, .bytes = work.bytes, .aim = work.aim};
  if (work.reference) row.reference_name = work.reference_name;
  for (size_t k = 0; k < times.size(); ++k) row.*places[k] = times[k];
  if (work.beside_copy) row.memcpy_gbps = memcpy_gbps(work.bytes);
  add(std::move(row));
}

}  // namespace strider::v0::testing
