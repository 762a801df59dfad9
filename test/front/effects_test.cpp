// SPDX-License-Identifier: Apache-2.0
// Atomics, random numbers and hints, as they are written: values in the tile interpreter, and errors.
#include <cmath>

#include "front/run_kernel.h"
#include "ir/parse.h"

namespace tl = strider::tl;

namespace strider::test {
namespace {

template <class F>
std::string error_in(F body) {
  return error_of([&] { front::trace_kernel(kernel("wrong", body), {}); });
}

// --- atomics

TEST(Atomics, ExtremesCarryNaNAndOrderZeros) {
  auto k = kernel("extremes", [](tl::Ptr<float> max, tl::Ptr<float> min, tl::Ptr<float> v) {
    auto i = tl::arange(0, 4);
    tl::atomic_max(max + i, tl::load(v + i));
    tl::atomic_min(min + i, tl::load(v + i));
  });
  std::vector<float> max{1, -0.0f, NAN, 5}, min{1, 0.0f, NAN, 5}, v{NAN, 0.0f, 2, 7};
  run(k, {}, {1, 1, 1}, max, min, v);
  EXPECT_TRUE(std::isnan(max[0]) && std::isnan(max[2]) && std::isnan(min[0]) && std::isnan(min[2]));
  EXPECT_FALSE(std::signbit(max[1]));
  EXPECT_EQ(max[3], 7);
  EXPECT_FALSE(std::signbit(min[1]));
  EXPECT_EQ(min[3], 5);
}

TEST(Atomics, CompareAndSwapComparesBits) {
  auto k = kernel("swap", [](tl::Ptr<float> x, tl::Ptr<float> compare) {
    auto i = tl::arange(0, 3);
    tl::atomic_cas(x + i, tl::load(compare + i), 9.0f);
  });
  std::vector<float> x{NAN, 0.0f, 1}, compare{NAN, -0.0f, 1};
  run(k, {}, {1, 1, 1}, x, compare);
  EXPECT_EQ(x, (std::vector<float>{9, 0, 9}));
}

TEST(Atomics, TextSaysTheKind) {
  auto k = kernel("kinds", [](tl::Ptr<int> x) {
    tl::atomic_xor(x, 1);
    tl::atomic_cas(x, 2, 3, true);
  });
  std::string text = text_of(k);
  EXPECT_HAS(text, "atomic_xor %arg0, %0 : i32");
  EXPECT_HAS(text, "atomic_cas %arg0, %2, %4, %3 : i32");
}

TEST(Atomics, Mistakes) {
  EXPECT_HAS(error_in([](tl::Ptr<float> x) { tl::atomic_and(x, 1); }), "atomic_and: the pointer is *f32, expected one to integers or bool");
  EXPECT_HAS(error_in([](tl::Ptr<bool> x) { tl::atomic_add(x, true); }), "atomic_add: the pointer is *bool, expected one to integers or floats");
  EXPECT_HAS(error_in([](tl::Ptr<int> x) { tl::atomic_max(x, Value()); }), "atomic_max: there is no value");
  EXPECT_HAS(error_in([](tl::Ptr<int> x) { tl::atomic_xchg(x, 0.5); }), "0.5 does not fit i32");
  EXPECT_HAS(error_in([](tl::Ptr<int16_t> x) { tl::atomic_min(x, tl::program_id(0)); }), "the value is i32, the pointer is *i16: convert it with .to(st::i16)");
  EXPECT_HAS(error_in([](tl::Ptr<int> x) { tl::atomic_cas(x, tl::arange(0, 4), 1); }), "the compared value has shape [4], the pointer []");
  EXPECT_HAS(error_in([](tl::Ptr<int> x) { tl::atomic_or(x, 1, tl::program_id(0)); }), "the mask is i32, expected bool");
  EXPECT_HAS(error_in([](tl::Ptr<int> x) { tl::atomic_or(x, 1, tl::arange(0, 4) > 1); }), "the mask has shape [4], the pointer []");
}

// --- random numbers

TEST(Random, PublishedAnswers) {
  // Random123's known answers for philox4x32-10: counter and key of zeros, and of ones.
  auto k = kernel("philox", [](tl::Ptr<uint32_t> y, tl::i64 seed, tl::u32 c) {
    auto words = tl::philox(seed, c, c, c, c);
    for (int i = 0; i < 4; ++i) tl::store(y + i, words[static_cast<size_t>(i)]);
  });
  std::vector<uint32_t> y(4);
  run(k, {}, {1, 1, 1}, y, int64_t{0}, 0u);
  EXPECT_EQ(y, (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  run(k, {}, {1, 1, 1}, y, int64_t{-1}, 0xffffffffu);
  EXPECT_EQ(y, (std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Random, UniformNumbersStayBelowOne) {
  auto k = kernel("uniform", [](tl::Ptr<float> y, tl::Ptr<int> x, tl::Ptr<int64_t> wide) {
    auto i = tl::arange(0, 4);
    tl::store(y + i, tl::uint_to_uniform_float(tl::load(x + i)));
    tl::store(y + 4 + i, tl::uint_to_uniform_float(tl::load(wide + i)));
  });
  std::vector<float> y(8);
  std::vector<int> x{INT32_MAX, INT32_MIN, 0, -1};
  std::vector<int64_t> wide{INT64_MAX, INT64_MIN, 0, -1};
  run(k, {}, {1, 1, 1}, y, x, wide);
  for (size_t k = 0; k < 8; ++k) {
    EXPECT_LT(y[k], 1.0f);
    EXPECT_NEAR(y[k], k % 4 < 2 ? 1 : 0, 1e-6);
  }
}

TEST(Random, MomentsOfManyNumbers) {
  auto k = kernel("moments", [](tl::Ptr<float> y) {
    auto i = tl::arange(0, 4096);
    tl::store(y + i, tl::rand(7, i));
    tl::store(y + 4096 + i, tl::randn(7, i));
  });
  std::vector<float> y(8192);
  run(k, {}, {1, 1, 1}, y);
  double mean = 0, normal_mean = 0, normal_square = 0;
  for (size_t i = 0; i < 4096; ++i) {
    mean += y[i] / 4096;
    normal_mean += y[4096 + i] / 4096;
    normal_square += y[4096 + i] * y[4096 + i] / 4096;
  }
  EXPECT_NEAR(mean, 0.5, 0.02);
  EXPECT_NEAR(normal_mean, 0, 0.06);
  EXPECT_NEAR(normal_square, 1, 0.1);
}

TEST(Random, Mistakes) {
  EXPECT_HAS(error_in([](tl::f32 seed) { tl::rand(seed, 1); }), "rand: the seed is f32, expected an integer");
  EXPECT_HAS(error_in([](tl::i32 seed) { tl::randint4x(seed, 0.5); }), "randint4x: the offset is f32, expected an integer");
  EXPECT_HAS(error_in([](tl::i8 x) { tl::umulhi(x, x); }), "umulhi: the factors are i8, expected integers of 32 or 64 bits");
  EXPECT_HAS(error_in([](tl::i16 x) { tl::uint_to_uniform_float(x); }), "uint_to_uniform_float: the operand is i16, expected 32 or 64 bits");
  EXPECT_HAS(error_in([](tl::i32 x) { tl::rand(x, x, -1); }), "philox: -1 rounds, expected at least 0");
}

// --- hints

/// What the tile interpreter says of a kernel with an integer parameter.
template <class F>
std::string reports_of(int n, F body) {
  ir::Function f = front::trace_kernel(kernel("k", body), {}, {.log2_align = 2});
  ir::verify(f, ir::Form::Tile);
  std::vector<int> x(256);
  const uint64_t slots[] = {slot(x), slot(n)};
  return interp::to_string(interp::interpret_tiles(f, {1, 1, 1}, slots));
}

TEST(Hints, BrokenPromisesAreReported) {
  auto multiple = [](tl::Ptr<int> x, tl::i32 n) { tl::store(x, tl::multiple_of(n, 16)); };
  EXPECT_EQ(reports_of(48, multiple), "");
  EXPECT_HAS(reports_of(40, multiple), "40 breaks the promise of multiple_of 16");
  auto assumed = [](tl::Ptr<int> x, tl::i32 n) {
    tl::assume(n > 5);
    tl::assume(tl::arange(0, 8) < n);
    tl::store(x, n);
  };
  EXPECT_EQ(reports_of(8, assumed), "");
  EXPECT_HAS(reports_of(6, assumed), "what is assumed does not hold; program (0, 0, 0), lane (6)");
  EXPECT_HAS(reports_of(5, assumed), "what is assumed does not hold; program (0, 0, 0)\n");
  auto run_of = [](tl::Ptr<int> x, tl::i32 n) {
    auto i = tl::multiple_of(n + tl::arange(0, 32), 8);
    tl::store(x + i, 1);
  };
  EXPECT_EQ(reports_of(16, run_of), "");
  EXPECT_HAS(reports_of(12, run_of), "12 breaks the promise of multiple_of 8");
  auto constant = [](tl::Ptr<int> x, tl::i32 n) { tl::store(x + tl::arange(0, 32), tl::max_constancy(tl::floor_div(tl::arange(0, 32), n), 8)); };
  EXPECT_EQ(reports_of(16, constant), "");
  EXPECT_HAS(reports_of(12, constant), "lane (12)");
  auto two_axes = [](tl::Ptr<int> x, tl::i32 n) {
    auto rows = tl::arange(0, 4)[{tl::colon, tl::newaxis}], columns = tl::arange(0, 8)[{tl::newaxis, tl::colon}];
    tl::store(tl::max_contiguous(x + tl::max_contiguous(rows * n + columns, {1, 8}), 1), 1);
  };
  EXPECT_HAS(error_of([&] { reports_of(8, two_axes); }), "max_contiguous: 1 numbers for a tile of shape [4, 8], expected one for each axis");
}

TEST(Hints, Mistakes) {
  EXPECT_HAS(error_in([](tl::f32 x) { tl::multiple_of(x, 4); }), "multiple_of: the operand is f32, expected integers or pointers");
  EXPECT_HAS(error_in([](tl::i32 x) { tl::multiple_of(x, 0); }), "multiple_of: the number is 0, expected 1 to 2^40");
  EXPECT_HAS(error_in([](tl::i32 x) { tl::assume(x); }), "assume: the condition is i32, expected bool; compare it with 0");
}

TEST(Hints, TextRoundTrips) {
  auto k = kernel("hinted", [](tl::Ptr<int> x, tl::i32 n) {
    auto rows = tl::arange(0, 4)[{tl::colon, tl::newaxis}] * n, columns = tl::arange(0, 8)[{tl::newaxis, tl::colon}];
    tl::assume(n > 0);
    tl::store(x + tl::multiple_of(rows + columns, {16, 8}), 1);
  });
  std::string text = text_of(k);
  EXPECT_HAS(text, "hint %");
  EXPECT_HAS(text, " multiple_of=16 : i32[4, 8]");
  EXPECT_HAS(text, " multiple_of=8 axis=1 : i32[4, 8]");
  EXPECT_HAS(text, "assume %");
  EXPECT_EQ(ir::print(ir::parse(text)), text);
}

}  // namespace
}  // namespace strider::test
