// SPDX-License-Identifier: Apache-2.0
// What is too large for a processor is told when the kernel is lowered to it, and what fits lowers.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "backend/backend.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "lowering/kernels.h"
#include "lowering/runner.h"
#include "lowering/shapes.h"
#include "ops/builtins.h"
#include "pass/pipeline.h"
#include "support/errors.h"

#include <strider/strider.h>

namespace strider::lowering {
namespace {

template <class T>
ir::Function product_of(int64_t n) {
  auto body = [n](tl::Ptr<T> a, tl::Ptr<T> b, tl::Ptr<T> c) {
    auto i = row_major({n, n});
    tl::store(c + i, tl::dot(tl::load(a + i), tl::load(b + i)).to(dtype_of<T>));
  };
  return pass::prepare(kernel("product", {1, 1, 1}, {plain<T>(n * n), plain<T>(n * n), output<T>(n * n)}, body).program, host_target());
}

TEST(Limits, ProductsOf128FitTheScratchOfProcessorsThatHaveIt) {
  for (const char* target : {"cpu", "cpu:x86-64", "cuda:sm_80", "cuda:sm_90"})
    EXPECT_GT(pass::lower(product_of<float>(128), target_named(target)).size(), 0u) << target;
  for (const char* target : {"cpu", "cuda:sm_70", "cuda:sm_80", "cuda:sm_90"}) {
    EXPECT_GT(pass::lower(product_of<Half>(128), target_named(target)).size(), 0u) << target;
    EXPECT_GT(pass::lower(product_of<int8_t>(128), target_named(target)).size(), 0u) << target;
  }
  EXPECT_GT(pass::lower(product_of<double>(128), target_named("cpu")).size(), 0u);
}

TEST(Limits, WhatNeedsMoreScratchIsRefused) {
  std::string text = support::error_of(ErrorKind::Unsupported, [] { pass::lower(product_of<double>(128), target_named("cuda:sm_90")); });
  EXPECT_NE(text.find("bytes of scratch a program, cuda:sm_90 has"), std::string::npos) << text;
  EXPECT_NE(text.find("use smaller tiles"), std::string::npos) << text;
}

// --- length

/// On a thread whose stack holds no recursion from operation to operation.
void on_small_stack(std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  auto run = [](void* w) -> void* { return (*static_cast<std::function<void()>*>(w))(), nullptr; };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

constexpr int kLong = 10'000;

/// A chain of float arithmetic, of integers, of addresses and of masks.
Kernel long_kernel() {
  auto body = [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i32 n) {
    auto i = tl::program_id(0) * 64 + tl::arange(0, 64);
    auto p = x + i;
    auto mask = i < n;
    auto k = i;
    Value v = tl::load(p, mask);
    for (int step = 0; step < kLong; ++step) v = v * 0.5f + v;
    for (int step = 0; step < kLong / 10; ++step) k = tl::minimum(k, k + n), mask = mask & (k < n + step), p = p + n;
    tl::store(out + i, v + tl::load(p - n * (kLong / 10), mask) + k.to(f32), mask);
  };
  return kernel("long", {2, 1, 1}, {plain<float>(128), output<float>(128), number(0)}, body);
}

TEST(Limits, NothingRecursesFromOperationToOperation) {
  Kernel k = long_kernel();
  on_small_stack([&] {
    ir::Function prepared = pass::prepare(k.program, host_target());
    EXPECT_GT(prepared.size(), size_t{kLong});
    std::string text = ir::print(prepared);
    EXPECT_EQ(ir::print(ir::parse(text)), text);
    for (const char* target : {"cpu", "cuda:sm_90"}) {
      ir::Function lanes = pass::lower(prepared, target_named(target));
      ir::verify(lanes, ir::Form::Lanes);
      EXPECT_GT(ir::print(lanes).size(), size_t{kLong});
    }
    EXPECT_EQ(interp::to_string(run_tiles(k, prepared).reports), "");
  });
}

TEST(Limits, ProgramsThatAreTooLongAreRefused) {
  auto longer = pointwise("longer", [](auto x) {
    auto y = x;
    for (int k = 0; k < 400'000; ++k) y = y * x;
    return y;
  });
  std::string text = support::error_of(ErrorKind::User, [&] { longer(zeros({4})); });
  EXPECT_NE(text.find("operator longer"), std::string::npos) << text;
  EXPECT_NE(text.find("the program is too long: it has more than 65536 operations"), std::string::npos) << text;
  text = support::error_of(ErrorKind::User, [] {
    kernel("rounds", {1, 1, 1}, {output<float>(64)},
           [](tl::Ptr<float> out) { tl::store(out + tl::arange(0, 64), tl::rand(1, tl::arange(0, 64), 1'000'000)); });
  });
  EXPECT_NE(text.find("more than 65536 operations"), std::string::npos) << text;
}

/// Each value is used twice by the next: an analysis without memory would take 2^200 steps.
TEST(Limits, SharedOperandsAreLookedAtOnce) {
  auto body = [](tl::Ptr<int32_t> x, tl::Ptr<int32_t> out, tl::i32 n) {
    auto i = tl::program_id(0) * 64 + tl::arange(0, 64);
    auto k = tl::load(x + i);
    for (int step = 0; step < 200; ++step) k = tl::maximum(k, k % (step + 2));
    tl::store(out + i, k % (n + 1) % 5);
  };
  Kernel k = kernel("shared", {2, 1, 1}, {plain<int32_t>(128), output<int32_t>(128), number(7)}, body);
  for (const char* target : {"cpu", "cuda:sm_90"}) EXPECT_GT(pass::lower(pass::prepare(k.program, target_named(target)), target_named(target)).size(), 0u);
}

TEST(Limits, NoBuiltInIsSoLongThatItsFunctionsAreCalled) {
  for (const ops::Builtin& b : ops::builtins())
    for (const std::string& variant : ops::variants(b))
      EXPECT_TRUE(pass::prepare(b.tile(host_target(), variant), host_target()).helpers.empty()) << b.name << " " << variant;
}

TEST(Limits, AThousandFunctionsCompile) {
  auto body = [](tl::Ptr<float> x, tl::Ptr<float> out) {
    auto i = tl::arange(0, 64);
    Value v = tl::load(x + i);
    for (int step = 0; step < 500; ++step) v = pow(tl::sin(v) + 2.0f, v);
    tl::store(out + i, v);
  };
  ir::Function prepared = pass::prepare(kernel("thousand", {1, 1, 1}, {plain<float>(64), output<float>(64)}, body).program, host_target());
  EXPECT_LT(prepared.size(), 4000u);
  EXPECT_EQ(prepared.helpers.size(), 2u);
  for (const char* name : {"cpu", "cuda:sm_90"}) {
    Target target = target_named(name);
    EXPECT_FALSE(compiler_for(target).compile(pass::lower(prepared, target), target).code.empty());
  }
}

}  // namespace
}  // namespace strider::lowering
