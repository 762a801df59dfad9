// SPDX-License-Identifier: Apache-2.0
// Prepared calls, and calls that allocate nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "support/allocations.h"

#include <strider/strider.h>

namespace strider::test {
namespace {

namespace st = strider;
using Doubles = std::vector<double>;

auto add_operator() {
  return st::pointwise("add", [](auto x, auto y, auto alpha) { return x + y * alpha; },
                       {.is_tensor = {true, true, false}, .names = {"x", "y", "alpha"}});
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User);
    return error.what();
  }
  return "no error";
}

TEST(Prepared, RunsAgainOnWhatTheTensorsHoldThen) {
  auto add = add_operator();
  st::Tensor a = st::arange(4), b = st::full({4}, 10), c = st::zeros({4});
  st::PreparedCall call = add.prepare(a, b, 0.5, st::out(c));
  EXPECT_EQ(c.to_doubles(), Doubles(4)) << "nothing runs before it is called";
  call();
  EXPECT_EQ(c.to_doubles(), (Doubles{5, 6, 7, 8}));
  st::ops::copy(st::full({4}, 100), st::out(b));
  call();
  EXPECT_EQ(c.to_doubles(), (Doubles{50, 51, 52, 53}));
}

TEST(Prepared, MakesOutputsThatAreNotGiven) {
  st::PreparedCall call = add_operator().prepare(st::arange(3), st::arange(3), 2);
  ASSERT_EQ(call.outputs().size(), 1u);
  call();
  EXPECT_EQ(call.outputs()[0].to_doubles(), (Doubles{0, 3, 6}));
  auto both = st::pointwise("both", [](auto x, auto y) { return std::tuple{x + y, x * y}; });
  st::PreparedCall second = both.prepare(st::arange(3), 2);
  second();
  EXPECT_EQ(second.outputs()[0].to_doubles(), (Doubles{2, 3, 4}));
  EXPECT_EQ(second.outputs()[1].to_doubles(), (Doubles{0, 2, 4}));
}

TEST(Prepared, KeepsTensorsAndCode) {
  auto make = [] {
    st::Tensor a = st::arange(1000), b = st::full({1000}, 1), c = st::zeros({1000});
    return add_operator().prepare(a, b, 1, st::out(c));
  };
  st::PreparedCall call = make();
  std::vector<st::Tensor> others;
  for (int k = 0; k < 20; ++k) others.push_back(st::full({1000}, -1));  // takes memory that would be free
  call();
  EXPECT_EQ(call.outputs()[0].to_doubles()[999], 1000);
}

TEST(Prepared, NumbersCanBeSet) {
  auto add = add_operator();
  st::Tensor a = st::arange(3), c = st::zeros({3});
  st::PreparedCall call = add.prepare(a, a, 0.5, st::out(c));
  st::reset_stats();
  call.set_number(2, 1.5);
  call();
  EXPECT_EQ(c.to_doubles(), (Doubles{0, 2.5, 5}));
  call.set_number("alpha", 2);  // an integer is a float too
  call();
  EXPECT_EQ(c.to_doubles(), (Doubles{0, 3, 6}));
  EXPECT_EQ(st::stats().compiles, 0);
  EXPECT_EQ(st::stats().memory_hits, 0) << "nothing is looked up";
}

TEST(Prepared, NumbersAmongManyArguments) {
  auto op = st::pointwise("many", [](auto a, auto x, auto b, auto y, auto c) { return a * x + b * y + c; });
  st::Tensor x = st::arange(6).reshape({2, 3}), y = st::arange(2).reshape({2, 1}), out = st::zeros({2, 3});
  st::PreparedCall call = op.prepare(1.0, x, 2.0, y, 3.0, st::out(out));
  call.set_number(4, 7.0);
  call.set_number(0, -1.0);
  call.set_number(2, 10.0);
  call();
  EXPECT_EQ(out.to_doubles(), (Doubles{7, 6, 5, 14, 13, 12}));
}

TEST(Prepared, CopiesHaveNumbersOfTheirOwn) {
  st::Tensor a = st::arange(2), c = st::zeros({2});
  st::PreparedCall one = add_operator().prepare(a, a, 1.0, st::out(c)), two = one;
  two.set_number(2, 5.0);
  one();
  EXPECT_EQ(c.to_doubles(), (Doubles{0, 2}));
  two();
  EXPECT_EQ(c.to_doubles(), (Doubles{0, 6}));
}

TEST(Prepared, RefusesOtherNumbers) {
  st::Tensor x = st::arange(3, {i32, "cpu"});
  st::PreparedCall call = add_operator().prepare(x, x, 2);
  EXPECT_EQ(message_of([&] { call.set_number(2, 0.5); }),
            "operator add: argument alpha is set to 0.5, a float, and was prepared for an integer: prepare another call");
  EXPECT_EQ(message_of([&] { call.set_number(2, int64_t{1} << 40); }),
            "operator add: argument alpha is set to 1099511627776, which does not fit i32");
  EXPECT_EQ(message_of([&] { call.set_number(2, UINT64_MAX); }),
            "operator add: argument alpha is set to 18446744073709551615, which does not fit i32");
  EXPECT_EQ(message_of([&] { call.set_number(2, x); }), "operator add: argument alpha is set to what is no number");
  EXPECT_EQ(message_of([&] { call.set_number(0, 2); }), "operator add: argument 0 of the prepared call is no number");
  EXPECT_EQ(message_of([&] { call.set_number(3, 2); }), "operator add: argument 3 of the prepared call is no number");
  EXPECT_EQ(message_of([&] { call.set_number("beta", 2); }),
            "operator add: no number of the prepared call is called beta; its numbers: alpha");
  call();
  EXPECT_EQ(call.outputs()[0].to_doubles(), (Doubles{0, 3, 6})) << "what was refused changed nothing";
}

TEST(Prepared, ThrowsWhatTheCallThrows) {
  auto add = add_operator();
  st::Tensor three = st::arange(3), four = st::arange(4);
  EXPECT_EQ(message_of([&] { add.prepare(three, four, 1); }), message_of([&] { add(three, four, 1); }));
}

TEST(Prepared, NothingToDo) {
  st::PreparedCall call = add_operator().prepare(st::empty({0, 3}), st::empty({1, 3}), 1.0);
  call.set_number(2, 2.0);
  call();
  EXPECT_EQ(call.outputs()[0].shape(), (Dims{0, 3}));
}

auto scale_kernel() {
  return st::kernel("scale",
                    [](tl::Ptr<float> x, tl::i64 n, tl::f32 factor, tl::Constexpr BLOCK) {
                      auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
                      tl::store(x + i, tl::load(x + i, i < n) * factor, i < n);
                    },
                    {.names = {"x", "n", "factor"}});
}

TEST(PreparedKernel, RunsAgainAndTakesNumbers) {
  auto scale = scale_kernel();
  st::Tensor x = st::full({100}, 1);
  st::PreparedCall call = scale[4].prepare(x, 96, 2.0f, {{"BLOCK", 32}});
  EXPECT_EQ(x.to_doubles()[0], 1);
  call();
  call.set_number("factor", 3.0f);
  call();
  call.set_number(1, 16);
  call();
  EXPECT_EQ(x.to_doubles()[0], 18);
  EXPECT_EQ(x.to_doubles()[15], 18);
  EXPECT_EQ(x.to_doubles()[16], 6);
  EXPECT_EQ(x.to_doubles()[95], 6);
  EXPECT_EQ(x.to_doubles()[96], 1);
  EXPECT_EQ(message_of([&] { call.set_number("n", 17); }),
            "kernel scale: argument n is set to 17, and was prepared for multiples of 16: prepare another call");
  EXPECT_EQ(message_of([&] { call.set_number("n", 0.5); }),
            "kernel scale: argument n is set to 0.5, a float, and was prepared for an integer: prepare another call");
}

TEST(PreparedKernel, WithoutNamedConstants) {
  auto scale = scale_kernel();
  st::Tensor x = st::full({32}, 1);
  scale[1].prepare(x, 32, 2.0f, 32)();
  EXPECT_EQ(x.to_doubles()[31], 2);
}

TEST(Prepared, ManyThreadsRunOne) {
  st::Tensor a = st::arange(1000), c = st::zeros({1000});
  const st::PreparedCall call = add_operator().prepare(a, a, 1.0, st::out(c));
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 100; ++k) call();
      st::Tensor own = st::zeros({1000});
      st::PreparedCall mine = add_operator().prepare(a, a, 1.0, st::out(own));
      mine.set_number(2, t);
      mine();
      right += own.to_doubles()[999] == 999.0 * (1 + t);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(c.to_doubles()[999], 1998);
}

// --- the hot path

/// How often the second call of f allocates in this thread.
int64_t allocations_of(const std::function<void()>& f) {
  f();
  int64_t before = allocation_count();
  f();
  return allocation_count() - before;
}

TEST(HotPath, CallsWithGivenOutputsAllocateNothing) {
  auto add = add_operator();
  for (const Dims& shape : {Dims{8}, Dims{5, 7}, Dims{300, 200}, Dims{1 << 20}}) {
    st::Tensor a = st::randn(shape), b = st::randn(shape), c = st::empty(shape);
    EXPECT_EQ(allocations_of([&] { add(a, b, 0.5, st::out(c)); }), 0) << to_string(shape);
    EXPECT_EQ(allocations_of([&] { add(a, a, 0.5, st::out(a)); }), 0) << to_string(shape);
  }
  st::Tensor a = st::randn({64, 32}), b = st::randn({32, 64}), row = st::randn({1, 32}), half = st::empty({64, 32}, {f16});
  EXPECT_EQ(allocations_of([&] { add(a, row, 2, st::out(half)); }), 0);
  st::TensorView turned = b.t(), flipped = a.flip(0);
  EXPECT_EQ(allocations_of([&] { add(flipped, turned, 2, st::out(half)); }), 0);
}

TEST(HotPath, PreparedCallsAndKernelsAllocateNothing) {
  st::Tensor a = st::randn({1000}), c = st::empty({1000});
  st::PreparedCall call = add_operator().prepare(a, a, 0.5, st::out(c));
  EXPECT_EQ(allocations_of([&] { call(); }), 0);
  EXPECT_EQ(allocations_of([&] { call.set_number(2, 0.25); }), 0);
  EXPECT_EQ(allocations_of([&] { call.set_number("alpha", 0.25); }), 0);
  auto scale = scale_kernel();
  EXPECT_EQ(allocations_of([&] { scale[4](a, 1000, 2.0f, {{"BLOCK", 256}}); }), 0);
}

TEST(Lifetime, WhatWasMovedFromStillWorks) {
  st::Tensor a = st::full({3}, 1), c = st::zeros({3});
  st::PreparedCall call = add_operator().prepare(a, a, 1, st::out(c));
  st::PreparedCall other = std::move(call);
  call();
  EXPECT_EQ(c.to_doubles(), std::vector<double>(3, 2));
  call.set_number("alpha", 2);
  call();
  EXPECT_EQ(c.to_doubles(), std::vector<double>(3, 3));
  other();
  EXPECT_EQ(c.to_doubles(), std::vector<double>(3, 2));
}

/// Launchers of kernels and operators that are gone.
TEST(Lifetime, LaunchersKeepWhatTheyLaunch) {
  st::Tensor x = st::full({8}, 1);
  auto launcher = scale_kernel()[1];
  auto checked = scale_kernel()[1].interpreted();
  auto call = add_operator().interpreted();
  auto sent = add_operator().on(st::Stream::default_of("cpu"));
  launcher(x, 8, 2.0f, 8);
  checked(x, 8, 2.0f, 8);
  EXPECT_EQ(x.to_doubles(), std::vector<double>(8, 4));
  EXPECT_EQ(call(x, x, 1).to_doubles(), std::vector<double>(8, 8));
  EXPECT_EQ(sent(x, x, 1).to_doubles(), std::vector<double>(8, 8));
}

/// The list that faults were collected in when a call was prepared may be gone when it runs.
TEST(Lifetime, PreparedCallsCollectFaultsWhereTheyRun) {
  auto past = st::kernel("past", [](tl::Ptr<float> x) { tl::store(x + 9, 1.0f); });
  st::Tensor x = st::zeros({3});
  auto prepare = [&] {
    std::vector<st::Fault> gone;
    return past[1].interpreted({.faults = &gone}).prepare(x);
  };
  st::PreparedCall call = prepare();
  EXPECT_NE(message_of([&] { call(); }).find("out of bounds"), std::string::npos);
  std::vector<st::Fault> faults;
  st::Interpreted here({.faults = &faults});
  call();
  EXPECT_EQ(faults.size(), 1u);
}

TEST(Lifetime, FunctionsThatAreNoneAreRefused) {
  st::Value (*none)(st::Value) = nullptr;
  EXPECT_EQ(message_of([&] { st::pointwise("none", none); }),
            "operator none: its body is a null pointer, expected a function");
}

TEST(Lifetime, TensorsThatOwnNothingHaveNoOffset) {
  float memory[4] = {1, 2, 3, 4};
  st::Tensor x(st::TensorView(memory, st::f32, {4}), nullptr);
  EXPECT_EQ(message_of([&] { x.as_strided({2}, {2}); }), "as_strided: the tensor owns no memory");
  EXPECT_EQ(message_of([&] { x.offset(); }), "offset: the tensor owns no memory");
  x.used_on(st::Stream::default_of("cpu"));
}

}  // namespace
}  // namespace strider::test
