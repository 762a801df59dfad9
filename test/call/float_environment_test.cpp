// SPDX-License-Identifier: Apache-2.0
// Cases K2 and K3: whatever floating-point environment the caller has set, results are those of the default one, and the caller
// finds its own again, flags and traps included.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>

#include "support/errors.h"

#include <strider/npy.h>
#include <strider/strider.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strider::test {
namespace {

namespace st = strider;

/// All that the environment says, without the flags.
class Environment {
 public:
  Environment() { std::fegetenv(&before_); }
  ~Environment() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

struct Setting {
  const char* name;
  void (*set)();
};

const Setting kSettings[] = {
    {"upward", [] { std::fesetround(FE_UPWARD); }},
    {"downward", [] { std::fesetround(FE_DOWNWARD); }},
    {"toward zero", [] { std::fesetround(FE_TOWARDZERO); }},
    {"traps", [] { ::feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT); }},
#if defined(__x86_64__)
    {"flushed", [] { _mm_setcsr(_mm_getcsr() | 0x8040); }},
    {"flushed and traps", [] { _mm_setcsr((_mm_getcsr() | 0x8040) & ~0x1f80u); }},
#endif
};

unsigned control() {
#if defined(__x86_64__)
  return _mm_getcsr();
#else
  return static_cast<unsigned>(std::fegetround());
#endif
}

/// Bits of everything that may depend on the environment; made anew, so that nothing is found in a cache.
std::vector<std::vector<uint64_t>> results() {
  std::vector<std::vector<uint64_t>> all;
  auto add = [&](const Tensor& t) { all.push_back(t.to_bits()); };
  const Tensor big = st::full({1}, 1e10), x = st::tensor<float>({1e-40f, 0.1f, 3.0f, -1e38f});
  add(big);
  add(st::full({2}, 1e-40));
  add(st::full({2}, 0.1));
  add(st::full({1}, 1e300));
  add(st::full({1}, 0.1, {st::f16, "cpu"}));
  add(st::arange(0, 1, 0.1));
  add(st::rand({8}, {}, 3));
  add(st::randn({8}, {}, 3));
  const auto tiny = st::pointwise("tiny", [](auto v) { return v * 1e-40; });
  const auto folded = st::pointwise("folded", [](auto v) { return v + st::Value(0.1) * st::Value(0.7) / st::Value(3.0); });
  const auto third = st::pointwise("third", [](auto v, auto n) { return st::exp(v) / n + st::log(v); });
  for (bool is_interpreted : {false, true}) {
    std::optional<st::Interpreted> scope;
    if (is_interpreted) scope.emplace();
    add(tiny(big));
    add(folded(x));
    add(third(x, 0.1));
    add(third(x, 0));
    add(x.to(st::f16));
  }
  auto prepared = third.prepare(x, 0.3);
  prepared();
  add(prepared.outputs()[0]);
  const double items[] = {x.to_doubles()[0], st::exp(0.1), st::cast(0.1, st::f16), double(st::all_close(x, x, 1e-40, 0))};
  for (double item : items) all.push_back({std::bit_cast<uint64_t>(item)});
  const std::string text = st::to_string(x) + support::error_of([&] { x.reshape({3}); });
  all.emplace_back(text.begin(), text.end());
  return all;
}

TEST(FloatEnvironment, OfTheCallerChangesNothing) {
  const auto expected = results();
  EXPECT_EQ(st::pointwise("tiny", [](auto v) { return v * 1e-40; })(st::full({1}, 1e10)).item(), double{1e10f * 1e-40f});
  for (const Setting& s : kSettings) {
    const Environment own;
    s.set();
    const unsigned before = control();
    const auto found = results();
    const unsigned after = control();
    std::fesetenv(FE_DFL_ENV);
    EXPECT_EQ(after, before) << s.name;
    ASSERT_EQ(found.size(), expected.size());
    for (size_t k = 0; k < found.size(); ++k) EXPECT_EQ(found[k], expected[k]) << s.name << ", result " << k;
  }
}

/// Case K3, and with an error on the way.
TEST(FloatEnvironment, TrapsStayTheCallers) {
  const Environment own;
  const auto divide = st::pointwise("divide", [](auto a, auto b) { return a / b; });
  const Tensor one = st::full({3}, 1.0), zero = st::zeros({3}), two = st::zeros({2});
  ::feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  const double interpreted = divide.interpreted()(one, zero).to_doubles()[0], compiled = divide(one, zero).to_doubles()[0];
  const std::string error = support::error_of([&] { divide(one, two); });
  const int traps = ::fegetexcept();
  std::fesetenv(FE_DFL_ENV);
  EXPECT_EQ(interpreted, std::numeric_limits<double>::infinity());
  EXPECT_EQ(compiled, std::numeric_limits<double>::infinity());
  EXPECT_NE(error, "");
  EXPECT_EQ(traps, FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
}

TEST(FloatEnvironment, FlagsStayTheCallers) {
  const Environment own;
  const auto divide = st::pointwise("divide", [](auto a, auto b) { return a / b; });
  const Tensor one = st::full({3}, 1.0), zero = st::zeros({3});
  for (int raised : {0, FE_UNDERFLOW}) {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(raised);
    divide(one, zero);
    EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), raised);
  }
}

}  // namespace
}  // namespace strider::test
