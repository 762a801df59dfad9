// SPDX-License-Identifier: Apache-2.0
// The worked kernels of include/strider/kernels/: over block sizes, beside copy, beside a kernel that only reads, and beside libtorch.
#include <fmt/format.h>

#include "base/error.h"
#include <strider/testing/worked.h>
#include "ops/kernels.h"
#include "planner/plan.h"
#include "suites/suites.h"

namespace strider::bench {
namespace {

using testing::Aim;
using testing::Row;
using testing::Runner;
using testing::Work;

constexpr int64_t kBytes = 4;  // of an f32

const testing::worked::Worked& worked_named(std::string_view name) {
  for (const testing::worked::Worked& w : testing::worked::kAll)
    if (w.name == name) return w;
  internal_error("there is no worked kernel {}", name);
}

/// Calls of one kernel that go round as many sets of tensors as it takes for none to stay in a cache.
class Calls {
 public:
  Calls(Runner& r, std::string_view name, const testing::worked::Size& size) {
    const testing::worked::Worked& w = worked_named(name);
    sets_.push_back(w.prepare(size, {f32, r.device_name()}));
    for (int k = 1; k < Runner::sets_for(sets_[0].bytes); ++k) sets_.push_back(w.prepare(size, {f32, r.device_name()}));
  }
  /// A call of these, timed beside copy with the same kind of stores.
  Work work(const Runner& r, std::string name, int64_t elements, Aim aim = {}) const {
    Work w{.name = std::move(name), .dtype = "f32", .elements = elements, .bytes = sets_[0].bytes, .call = call(), .aim = aim};
    w.streaming = r.device().target().streams(sets_[0].out.elements() * kBytes);
    return w;
  }
  testing::Call call() const {
    return [sets = sets_](int64_t k) { sets[static_cast<size_t>(k) % sets.size()].launch(); };
  }
  testing::Call by_peer(Runner& r, std::string_view function) const {
    if (!r.peer()) return {};
    std::vector<std::function<void()>> calls;
    for (const testing::worked::Call& set : sets_) {
      std::vector<Argument> operands(set.inputs.begin(), set.inputs.end());
      calls.push_back(r.peer()->call(function, operands, &set.out));
    }
    return [calls, sets = sets_](int64_t k) { calls[static_cast<size_t>(k) % calls.size()](); };
  }

 private:
  std::vector<testing::worked::Call> sets_;
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

testing::Call read_call(Runner& r, const testing::worked::Size& size) {
  TensorOptions words{i32, r.device_name()};
  std::vector<Tensor> x;
  for (int k = 0; k < Runner::sets_for(size.elements() * kBytes); ++k) x.push_back(full({size.elements()}, k, words));
  Tensor parts = empty({size.programs()}, words);
  return [=](int64_t k) { read_kernel()[size.programs()](x[static_cast<size_t>(k) % x.size()], parts, size.elements(), {{"BLOCK", size.block}}); };
}

void time(Runner& r, const Work& work) {
  r.progress().show(work.name);
  r.time(work);
}

/// Vectors over block sizes: none may be far from copy, and the best one must be as fast.
void time_blocks(Runner& r, std::string_view name, int64_t n) {
  for (int64_t block : {256, 512, 1024, 2048, 4096})
    time(r, Calls(r, name, {1, n, block}).work(r, fmt::format("{}, block {}", name, block), n, {Aim::OfCopy, block == 4096 ? 0.95 : 0.85}));
}

void time_abs_beside_identity(Runner& r, int64_t n) {
  Work work = Calls(r, "abs", {1, n, 4096}).work(r, "abs beside identity", n, {Aim::OfReference, 0.97});
  work.reference_name = "identity";
  work.reference = Calls(r, "identity", {1, n, 4096}).call();
  time(r, work);
}

void time_norms(Runner& r, int64_t n) {
  const testing::worked::Size size{1, n, ops::sum_block(r.device())};
  for (std::string_view name : {"l1_norm", "l1_norm_two_phase"}) {
    Work work = Calls(r, name, size).work(r, std::string(name), n, {Aim::OfReference, 0.9});
    work.reference_name = "read";
    work.reference = read_call(r, size);
    time(r, work);
  }
  // Many small programs: here the one number that all add to shows.
  Work work = Calls(r, "l1_norm_two_phase", {1, n, 256}).work(r, "l1_norm, block 256, two phases", n);
  work.reference_name = "one atomic";
  work.reference = Calls(r, "l1_norm", {1, n, 256}).call();
  time(r, work);
}

void time_rows(Runner& r, std::string_view name, const testing::worked::Size& size, double times_peer) {
  Calls calls(r, name, size);
  Work work = calls.work(r, fmt::format("{} of rows, {}x{}", name, size.rows, size.columns), size.elements(), {Aim::TimesPeer, times_peer});
  work.peer = calls.by_peer(r, name);
  time(r, work);
}

void time_launch(Runner& r) {
  testing::worked::Call small = worked_named("abs").prepare({1, 8, 256}, {f32, r.device_name()});
  Work work{.name = "launch of one program", .dtype = "f32", .elements = 8, .bytes = small.bytes, .beside_copy = false, .aim = {Aim::Milliseconds, 0.001}};
  work.call = [small](int64_t) { small.launch(); };
  time(r, work);
}

void time_vectors(Runner& r, int64_t n) {
  for (std::string_view name : {"abs", "clip", "vector_add"}) time_blocks(r, name, n);
  time_abs_beside_identity(r, n);
  for (std::string_view name : {"huber", "gelu", "clip_by_norm"})
    time(r, Calls(r, name, {1, n, 4096}).work(r, fmt::format("kernel {}", name), n));
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
