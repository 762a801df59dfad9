// SPDX-License-Identifier: Apache-2.0
// What the first call of an operator costs: tracing, planning, every pass, LLVM, loading, and the launch itself.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>

#include "backend/backend.h"
#include "ops/builtins.h"
#include "pass/pipeline.h"
#include "call/compile.h"
#include "call/generate.h"
#include "suites/suites.h"

#include <strider/device.h>
#include <strider/pointwise.h>
#include <strider/stats.h>

namespace strider::bench {
namespace {

namespace fs = std::filesystem;

using testing::Aim;
using testing::Row;
using testing::Runner;

using Step = Value (*)(const Value& x, double c);

constexpr Step kArithmetic[] = {
    [](const Value& x, double c) { return x + c; },           [](const Value& x, double c) { return x * c; },
    [](const Value& x, double c) { return maximum(x, c); },   [](const Value& x, double c) { return c - x; },
    [](const Value& x, double c) { return minimum(x, c); },   [](const Value& x, double) { return abs(x); },
    [](const Value& x, double) { return sqrt(x); },
};
constexpr Step kFunctions[] = {
    [](const Value& x, double) { return exp(x); },
    [](const Value& x, double) { return tanh(x); },
    [](const Value& x, double) { return erf(x); },
    [](const Value& x, double) { return log(x); },
};

/// `count` operations in a row, of which every eighth is a function if `functions`. Each seed gives another program.
Value chain(Value x, int count, bool functions, int seed) {
  for (int k = 0; k < count; ++k) {
    bool is_function = functions && k % 8 == 7;
    size_t number = static_cast<size_t>(seed + k);
    Step step = is_function ? kFunctions[number / 8 % std::size(kFunctions)] : kArithmetic[number % std::size(kArithmetic)];
    x = step(x, 1.0 + 1e-3 * (seed * 100 + k));
  }
  return x;
}

struct Size {
  const char* name;
  int count;
  bool functions;
};
constexpr Size kSizes[] = {
    {"1 op", 1, false}, {"8 ops", 8, false}, {"64 ops", 64, false}, {"64 ops, 8 of them exp, tanh, erf, log", 64, true}};

auto fresh_operator(const Size& size, int seed) {
  return pointwise("fresh", [=](const Value& v) { return chain(v, size.count, size.functions, seed); });
}

/// Adds samples of the clock and of the processors to a row.
class Stopwatch {
 public:
  explicit Stopwatch(Row& row) : row_(row) {}
  ~Stopwatch() {
    row_.times.samples.push_back(std::chrono::duration<double>(Clock::now() - start_).count());
    row_.processor.samples.push_back(processor_seconds() - worked_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

  Row& row_;
  double worked_ = processor_seconds();
  Clock::time_point start_ = Clock::now();
};

/// Compiled code goes to an empty folder, and comes from there.
class EmptyCache {
 public:
  EmptyCache() : folder_(fs::temp_directory_path() / fmt::format("strider-bench-{}", ::getpid())) {
    for (auto& [name, value] : variables_) {
      const char* before = std::getenv(name);
      if (before) value = before;
    }
    ::setenv("STRIDER_CACHE", "1", 1);
    ::setenv("STRIDER_CACHE_DIR", folder_.c_str(), 1);
  }
  ~EmptyCache() {
    for (const auto& [name, value] : variables_) value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  EmptyCache(const EmptyCache&) = delete;

 private:
  fs::path folder_;
  std::pair<const char*, std::optional<std::string>> variables_[2] = {{"STRIDER_CACHE", {}}, {"STRIDER_CACHE_DIR", {}}};
};

void first_call(Runner& r, const Tensor& x, const Size& size, int seed, Row& row) {
  auto op = fresh_operator(size, seed);
  {
    Stopwatch watch(row);
    Tensor y = op(x);
    r.device().synchronize();
  }
  finish_compiles();
}

/// From the first call until fast code is in use.
void until_fast(const Tensor& x, const Size& size, int seed, Row& row) {
  auto op = fresh_operator(size, seed);
  Stopwatch watch(row);
  Tensor y = op(x);
  finish_compiles();
}

ir::Function tile_kernel(const detail::OperatorDecl& op, const Tensor& x, const Target& target) {
  planner::ArgumentType argument{planner::Source::Tensor, x.dtype()};
  planner::Operand operands[] = {{planner::Role::Output, x.dtype(), nullptr, &x.shape(), &x.strides()},
                                 {planner::Role::Input, x.dtype(), x.data(), &x.shape(), &x.strides()}};
  return generate(op, type_operator(op, {&argument, 1}), planner::plan(operands, target).key);
}

/// The same step by step, as call/compile.cpp and call/tiers.cpp take them.
constexpr const char* kSteps[] = {"  of that: tracing and the tile kernel", "  passes, to lane form", "  code", "  loading"};
void steps(Runner& r, const Tensor& x, const Size& size, int seed, std::span<Row> rows) {
  Device& device = r.device();
  const Target target = device.target().in_tiers ? quick_target(device.target()) : device.target();
  auto timed = [&](size_t step, const auto& f) {
    Stopwatch watch(rows[step]);
    return f();
  };
  ir::Function tile = timed(0, [&] { return tile_kernel(fresh_operator(size, seed).untyped().declaration(), x, target); });
  ir::Function lanes = timed(1, [&] { return pass::lower(pass::prepare(tile, target), target); });
  Binary binary = timed(2, [&] { return compiler_for(target).compile(lanes, target); });
  timed(3, [&] { return device.load(binary); });
}

/// The kernels by hand, from tracing to what can be launched; no cache helps.
void compile_worked_kernels(Runner& r, int samples) {
  ::setenv("STRIDER_CACHE", "0", 1);
  for (const ops::Builtin& builtin : ops::builtins()) {
    if (builtin.kind != "kernel") continue;
    r.progress().show(builtin.name);
    Row row{.name = fmt::format("kernel {}", builtin.name), .aim = {Aim::Milliseconds, 40}};
    for (int k = 0; k < samples; ++k) {
      Stopwatch watch(row);
      compile(builtin.tile(r.device().target(), "1024"), r.device());
    }
    r.add(row);
  }
}

}  // namespace

void run_compile(Runner& r) {
  const int samples = r.is_quick() ? 5 : 21;
  r.progress().expect(static_cast<int>(std::size(kSizes) + 1));
  r.use_threads(r.threads().back());
  Tensor x = full({1 << 16}, 0.5, {f32, r.device_name()});
  int seed = 1;
  bool is_first = stats().compiles == 0;
  EmptyCache cache;
  Row first{.name = "1 op, the first of the process"};
  first_call(r, x, kSizes[0], seed++, first);
  if (is_first) r.add(first);
  for (const Size& size : kSizes) {
    r.progress().show(size.name);
    Row cold{.name = fmt::format("{}, cold disk", size.name), .aim = {Aim::Milliseconds, 30}};
    Row warm{.name = fmt::format("{}, warm disk", size.name), .aim = {Aim::Milliseconds, 3}};
    for (int k = 0; k < samples; ++k) first_call(r, x, size, seed++, cold);
    int64_t loaded = stats().disk_hits;
    for (int k = 1; k <= samples; ++k) first_call(r, x, size, seed - k, warm);  // new operators of the same maths
    r.add(cold);
    if (stats().disk_hits - loaded >= samples) r.add(warm);
    else r.leave_out(warm.name, "the disk cache does not give back what was put there");
  }
  r.progress().show("steps");
  std::vector<Row> parts;
  for (const char* step : kSteps) parts.push_back({.name = step});
  const Size& longest = kSizes[std::size(kSizes) - 1];
  for (int k = 0; k < samples; ++k) steps(r, x, longest, seed++, parts);
  if (r.device().target().in_tiers) {
    parts.push_back({.name = "  until fast code is in use"});
    for (int k = 0; k < samples; ++k) until_fast(x, longest, seed++, parts.back());
  }
  for (const Row& row : parts) r.add(row);
  compile_worked_kernels(r, samples);
}

}  // namespace strider::bench
