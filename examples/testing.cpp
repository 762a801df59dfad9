// SPDX-License-Identifier: Apache-2.0
// The kit to test and time kernels, as docs/testing.md shows it: every line of code there stands here.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include <strider/strider.h>
#include <strider/testing.h>

namespace st = strider;
namespace tl = strider::tl;
namespace testing = strider::testing;

namespace {

const st::Kernel& l1_norm() {
  static const auto kernel = st::kernel("l1_norm", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Const<"BLOCK"> block) {
    auto i = tl::program_id(0).to(st::i64) * block + tl::arange(0, block);
    tl::atomic_add(out, tl::sum(tl::abs(tl::load(x + i, i < n, 0.0f))));
  }, {{"x", "out", "n"}});
  return kernel;
}

// Short, so that the example ends soon.
const testing::BenchOptions kBrief{.warm_up = 1, .repeat = 5, .flush_cache = false};

void time_a_call() {
  st::Tensor a = st::randn({1 << 20}), b = st::randn({1 << 20}), c = st::empty({1 << 20});
  testing::BenchResult t = testing::do_bench([&] { st::ops::add(a, b, st::out(c)); }, {.warm_up = 5, .repeat = 20});
  std::printf("add: %s, %.1f GB/s\n", t.text().c_str(), t.gigabytes_per_second(3 * 4 << 20));
}

void time_a_sum() {
  st::Tensor x = st::randn({1 << 20}), sum = st::zeros({1});
  auto t = testing::do_bench([&] { l1_norm()[1 << 10](x, sum, 1 << 20, {{"BLOCK", 1024}}); },
                             {.repeat = 20, .flush_cache = false, .quantiles = {0.5, 0.2, 0.8}, .reset_to_zero = {sum}});
  std::printf("l1_norm: median %.4f ms, from %.4f to %.4f\n", t.quantiles[0], t.quantiles[1], t.quantiles[2]);
}

void special_inputs() {
  for (const testing::SpecialValue& v : testing::special_values(st::i8))
    if (v.name == "min") std::printf("the least i8 is %s, bits %#llx\n", v.name.c_str(), static_cast<unsigned long long>(v.bits));
  st::Tensor x = testing::random_with_special({1000, 37}, {st::f16}, 7);
  std::printf("%lld elements, some of them NaN\n", static_cast<long long>(x.elements()));
}

void compare_results() {
  st::Tensor x = st::randn({64, 64}, {st::f16}), y = st::ops::exp(x), reference = st::ops::exp(x.to(st::f64));
  testing::assert_close(y, reference, {.dtype = st::f16});
  testing::CloseReport report = testing::compare(y, reference, {.max_ulp = 0, .equal_nan = true, .dtype = st::f16});
  std::cout << report.text() << "\n";
}

void report_over_sizes() {
  auto report = testing::perf_report(
      {.name = "vector add",
       .x_values = {1 << 10, 1 << 14, 1 << 18},
       .lines = {"out", "new memory"},
       .y_label = "GB/s",
       .x_log = true},
      [](const testing::Point& p) {
        st::Tensor a = st::randn({p["n"]}), b = st::randn({p["n"]}), c = st::empty({p["n"]});
        auto run = [&] { p.line() == "out" ? st::ops::add(a, b, st::out(c)) : static_cast<void>(st::ops::add(a, b)); };
        return testing::Measured::rate(testing::do_bench(run, kBrief), 12 * p["n"]);
      });
  std::cout << report.text() << report.csv();
}

void tune() {
  auto tuned = testing::autotune(l1_norm(), {.configs = {{{"BLOCK", 256}}, {{"BLOCK", 1024}}, {{"BLOCK", 4096}}},
                                             .key = {"n"},
                                             .reset_to_zero = {"out"},
                                             .warm_up = 1,
                                             .repeat = 5});
  int64_t n = 100'000;
  st::Tensor x = st::full({n}, -1.0f), out = st::zeros({1});
  auto grid = [=](const auto& constants) { return st::cdiv(n, constants["BLOCK"]); };
  tuned[grid](x, out, n);
  std::cout << tuned.table() << "the sum is " << out.item() << "\n";
}

bool check_an_operator() {
  auto soft_sign = st::pointwise("soft_sign", [](auto x) { return x / (1.0 + st::abs(x)); });
  testing::CheckReport report = testing::check(soft_sign, {.dtypes = {st::f32, st::f16}, .speed = 0, .quick = true});
  std::cout << report.text();
  return report.passed();
}

bool check_a_kernel() {
  testing::KernelCheck how{.block = 256};
  how.prepare = [](const testing::KernelSize& size, const st::TensorOptions& options) {
    testing::KernelCall call;
    st::Tensor x = st::randn({size.elements()}, options), out = st::empty({1}, options);
    call.inputs = {x}, call.out = out, call.bytes = 4 * size.elements();
    call.launch = [=] {
      st::ops::fill(out, 0.0, st::out(out));
      l1_norm()[size.programs()](x, out, size.elements(), {{"BLOCK", size.block}});
    };
    call.expected = [=] {
      double sum = 0;
      for (double v : x.to_doubles()) sum += std::abs(v);
      return std::vector{sum};
    };
    return call;
  };
  testing::CheckReport report = testing::check(l1_norm(), how, {.must_accept = {st::f32}, .speed = 0, .quick = true});
  std::cout << report.text();
  return report.passed();
}

}  // namespace

int main() {
  time_a_call();
  time_a_sum();
  special_inputs();
  compare_results();
  report_over_sizes();
  tune();
  return check_an_operator() && check_a_kernel() ? 0 : 1;
}
