// SPDX-License-Identifier: Apache-2.0
// Suites that are lists of cases, and calls so small that only their cost shows.
#include "suites/suites.h"

#include "suites/cases.h"

namespace strider::bench {

using testing::Aim;
using testing::Runner;
using testing::Work;

void run_pointwise(Runner& r) {
  run_cases(r, pointwise_cases());
  run_curve(r, curve_case());
}

void run_layouts(Runner& r) { run_cases(r, layout_cases()); }
void run_maths(Runner& r) { run_cases(r, math_cases()); }

namespace {

void time_small(Runner& r, std::string name, int64_t elements, Aim aim, const std::function<void()>& ours,
                const std::function<void()>& theirs) {
  r.progress().show(name);
  Work work{.name = std::move(name), .dtype = "f32", .elements = elements, .beside_copy = false, .aim = aim};
  work.bytes = 3 * elements * size_of(f32);
  work.call = [ours](int64_t) { ours(); };
  if (theirs) work.peer = [theirs](int64_t) { theirs(); };
  r.time(work);
}

}  // namespace

void run_overhead(Runner& r) {
  r.progress().expect(4);
  r.use_threads(r.threads().back());
  auto filled = [&](const Dims& shape) { return full(shape, 1, {f32, r.device_name()}); };
  Tensor x = filled({8}), y = filled({8}), z = filled({8});
  Tensor a = filled({8, 8}), b = filled({8, 8}).t(), c = filled({8, 8});
  auto peer = [&](std::string_view function, const TensorView& a, const TensorView& b, const TensorView* result) {
    const Argument operands[] = {a, b};
    return r.peer() ? r.peer()->call(function, operands, result) : std::function<void()>();
  };
  time_small(r, "add of 8 elements, out=", 8, {Aim::OfPeersTime, 0.35}, [&] { ops::add(x, y, out(z)); },
             peer("add", x, y, &z));
  PreparedCall prepared = ops::add.get().prepare(x, y, out(z));
  time_small(r, "add of 8 elements, prepared", 8, {}, [&] { prepared(); }, peer("add", x, y, &z));
  time_small(r, "add of 8 elements, allocating", 8, {}, [&] { ops::add(x, y); }, peer("new_add", x, y, nullptr));
  time_small(r, "a + b.T of 8 by 8, out=", 64, {}, [&] { ops::add(a, b, out(c)); }, peer("add", a, b, &c));
}

}  // namespace strider::bench
