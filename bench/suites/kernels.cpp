// SPDX-License-Identifier: Apache-2.0
// The worked kernels of examples/kernels/: over block sizes, beside copy, beside a kernel that only reads, and beside libtorch.
#include <fmt/format.h>

#include "base/error.h"
#include "kernels/worked.h"
#include "ops/kernels.h"
#include "suites/suites.h"

namespace strider::bench {
namespace {

using timing::Aim;
using timing::Row;
using timing::Runner;
using timing::Work;

constexpr int64_t kBytes = 4;  // of an f32

const worked::Worked& worked_named(std::string_view name) {
  for (const worked::Worked& w : worked::kAll)
    if (w.name == name) return w;
  internal_error("there is no worked kernel {}", name);
}

/// Calls of one kernel that go round as many sets of tensors as it takes for none to stay in a cache.
class Calls {
 public:
  Calls(Runner& r, std::string_view name, const worked::Size& size) {
    const worked::Worked& w = worked_named(name);
    sets_.push_back(w.prepare(size, {f32, r.device_name()}));
    for (int k = 1; k < Runner::sets_for(sets_[0].bytes); ++k) sets_.push_back(w.prepare(size, {f32, r.device_name()}));
  }
  int64_t bytes() const { return sets_[0].bytes; }
  timing::Call call() const {
    return [sets = sets_](int64_t k) { sets[static_cast<size_t>(k) % sets.size()].launch(); };
  }
  timing::Call by_peer(Runner& r, std::string_view function) const {
    if (!r.peer()) return {};
    std::vector<std::function<void()>> calls;
    for (const worked::Call& set : sets_) {
      std::vector<Argument> operands(set.inputs.begin(), set.inputs.end());
      calls.push_back(r.peer()->call(function, operands, &set.out));
    }
    return [calls, sets = sets_](int64_t k) { calls[static_cast<size_t>(k) % calls.size()](); };
  }

 private:
  std::vector<worked::Call> sets_;
};

/// Reads everything and does as little as makes that necessary: the words of a block, as integers, are or-ed together, and
/// each program stores one word of its own.
const Kernel& read_kernel() {
  static const Kernel k = kernel("read", [](tl::Ptr<int32_t> x, tl::Ptr<int32_t> out, tl::i64 n, tl::Const<"BLOCK"> block) {
    auto program = tl::program_id(0).to(i64);
    auto i = program * block + tl::arange(0, block);
    auto all = tl::reduce(tl::load(x + i, i < n), 0, [](auto a, auto b) { return a | b; });
    tl::store(out + program, all);
  }, {{"x", "out", "n"}});
  return k;
}

timing::Call read_call(Runner& r, const worked::Size& size) {
  TensorOptions words{i32, r.device_name()};
  std::vector<Tensor> x;
  for (int k = 0; k < Runner::sets_for(size.elements() * kBytes); ++k) x.push_back(full({size.elements()}, k, words));
  Tensor parts = empty({size.programs()}, words);
  return [=](int64_t k) { read_kernel()[size.programs()](x[static_cast<size_t>(k) % x.size()], parts, size.elements(), {{"BLOCK", size.block}}); };
}

void time(Runner& r, Work work) {
  r.progress().show(work.name);
  work.dtype = "f32";
  r.time(work);
}

/// Vectors over block sizes: none may be far from copy, and the best one must be as fast.
void time_blocks(Runner& r, std::string_view name, int64_t n) {
  for (int64_t block : {256, 512, 1024, 2048, 4096}) {
    Calls calls(r, name, {1, n, block});
    time(r, {.name = fmt::format("{}, block {}", name, block), .elements = n, .bytes = calls.bytes(), .call = calls.call(),
             .aim = {Aim::OfCopy, block == 4096 ? 0.95 : 0.85}});
  }
}

void time_abs_beside_identity(Runner& r, int64_t n) {
  Calls abs(r, "abs", {1, n, 4096}), identity(r, "identity", {1, n, 4096});
  time(r, {.name = "abs beside identity", .elements = n, .bytes = abs.bytes(), .call = abs.call(), .reference_name = "identity",
           .reference = identity.call(), .aim = {Aim::OfReference, 0.97}});
}

void time_norms(Runner& r, int64_t n) {
  const worked::Size size{1, n, ops::sum_block(r.device())};
  for (std::string_view name : {"l1_norm", "l1_norm_two_phase"}) {
    Calls calls(r, name, size);
    time(r, {.name = std::string(name), .elements = n, .bytes = calls.bytes(), .call = calls.call(), .reference_name = "read",
             .reference = read_call(r, size), .aim = {Aim::OfReference, 0.9}});
  }
  // Many small programs: here the one number that all add to shows.
  Calls one(r, "l1_norm", {1, n, 256}), two(r, "l1_norm_two_phase", {1, n, 256});
  time(r, {.name = "l1_norm, block 256, two phases", .elements = n, .bytes = two.bytes(), .call = two.call(),
           .reference_name = "one atomic", .reference = one.call()});
}

void time_rows(Runner& r, std::string_view name, const worked::Size& size, double times_peer) {
  Calls calls(r, name, size);
  time(r, {.name = fmt::format("{} of rows, {}x{}", name, size.rows, size.columns), .elements = size.elements(), .bytes = calls.bytes(),
           .call = calls.call(), .peer = calls.by_peer(r, name), .aim = {Aim::TimesPeer, times_peer}});
}

void time_launch(Runner& r) {
  worked::Call small = worked_named("abs").prepare({1, 8, 256}, {f32, r.device_name()});
  Work work{.name = "launch of one program", .elements = 8, .bytes = small.bytes, .beside_copy = false, .aim = {Aim::Milliseconds, 0.001}};
  work.call = [small](int64_t) { small.launch(); };
  time(r, work);
}

void time_vectors(Runner& r, int64_t n) {
  for (std::string_view name : {"abs", "clip", "vector_add"}) time_blocks(r, name, n);
  time_abs_beside_identity(r, n);
  for (std::string_view name : {"huber", "gelu", "clip_by_norm"}) {
    Calls calls(r, name, {1, n, 4096});
    time(r, {.name = std::string(name), .elements = n, .bytes = calls.bytes(), .call = calls.call()});
  }
}

}  // namespace

void run_kernels(Runner& r) {
  r.progress().expect(static_cast<int>(26 * r.threads().size()));
  const int64_t n = r.sizes()[0];
  for (int threads : r.threads()) {
    r.use_threads(threads);
    time_vectors(r, n);
    time_norms(r, n);
    time_rows(r, "softmax", {4096, 4096, 4096}, 1.5);
    time_rows(r, "softmax", {65536, 64, 64}, 1.5);
    time_rows(r, "layer_norm", {8192, 1024, 1024}, 1.2);
    time_launch(r);
  }
}

}  // namespace strider::bench
