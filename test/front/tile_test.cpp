// SPDX-License-Identifier: Apache-2.0
// What kernels of the tile language do, run in the tile interpreter against plain loops.
#include <cmath>
#include <memory>
#include <numeric>

#include "front/run_kernel.h"

namespace tl = strider::tl;

namespace strider::test {
namespace {

template <class T>
std::vector<T> iota(int64_t n, T first = 0) {
  std::vector<T> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), first);
  return v;
}

TEST(Tile, L1Norm) {
  auto l1 = kernel("l1_norm", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Constexpr BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    tl::atomic_add(out, tl::sum(tl::abs(tl::load(x + i, i < n, 0.0f))));
  });
  std::vector<float> x = iota<float>(100, -50), out{0};
  run(l1, {{"BLOCK", 16}}, {cdiv(100, 16), 1, 1}, x, out, int64_t{100});
  EXPECT_EQ(out[0], 2500);
}

TEST(Tile, ShapesBroadcastAsInNumPy) {
  auto k = kernel("outer", [](tl::Ptr<int> x, tl::Ptr<int> y, tl::Ptr<int> out) {
    auto rows = tl::arange(0, 3), columns = tl::arange(0, 5);
    auto a = tl::load(x + rows)[{tl::colon, tl::newaxis}];
    auto b = tl::load(y + columns);
    tl::store(out + (rows[{tl::colon, tl::newaxis}] * 5 + columns), a * 10 + b);
  });
  std::vector<int> x{1, 2, 3}, y{4, 5, 6, 7, 8}, out(15);
  run(k, {}, {1, 1, 1}, x, y, out);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 5; ++j) EXPECT_EQ(out[i * 5 + j], x[i] * 10 + y[j]);
}

TEST(Tile, ReductionsAlongAxes) {
  auto k = kernel("reductions", [](tl::Ptr<float> x, tl::Ptr<float> out) {
    auto i = tl::arange(0, 3)[{tl::colon, tl::newaxis}], j = tl::arange(0, 4);
    auto t = tl::load(x + (i * 4 + j));
    tl::store(out + tl::arange(0, 4), tl::sum(t, 0));
    tl::store(out + tl::arange(4, 7), tl::max(t, -1));
    tl::store(out + tl::arange(7, 10)[{tl::colon, tl::newaxis}], tl::min(t, 1, tl::keep_dims));
    tl::store(out + 10, tl::sum(t));
    tl::store(out + (11 + i * 4 + j), t - tl::sum(t, 1, tl::keep_dims));
    tl::store(out + 23, tl::reduce(tl::sum(t, 0), 0, [](auto a, auto b) { return a * b; }));
  });
  std::vector<float> x{3, -1, 4, 1, -5, 9, 2, 6, 5, 3, -5, 8}, out(24);
  run(k, {}, {1, 1, 1}, x, out);
  std::vector<float> expected{3, 11, 1, 15, 4, 9, 8, -1, -5, -5, 30};
  float rows[] = {7, 12, 11};
  for (size_t i = 0; i < 12; ++i) expected.push_back(x[i] - rows[i / 4]);
  expected.push_back(3 * 11 * 1 * 15);
  EXPECT_EQ(out, expected);
}

TEST(Tile, SumsOfBoolsCountAndNarrowSumsAreWider) {
  auto k = kernel("sums", [](tl::Ptr<int> counts, tl::Ptr<uint32_t> bytes) {
    auto i = tl::arange(0, 300);
    tl::store(counts, tl::sum(i < 290));
    tl::store(bytes, tl::sum(tl::full<uint8_t>({3}, 100)));
  });
  std::vector<int> counts(1);
  std::vector<uint32_t> bytes(1);
  run(k, {}, {1, 1, 1}, counts, bytes);
  EXPECT_EQ(counts[0], 290);
  EXPECT_EQ(bytes[0], 300u);
}

TEST(Tile, ReduceOfSeveralTilesFindsTheGreatestAndItsIndex) {
  auto k = kernel("argmax", [](tl::Ptr<float> x, tl::Ptr<float> best, tl::Ptr<int> where) {
    auto i = tl::arange(0, 11);
    auto [m, at] = tl::reduce(std::array<Value, 2>{tl::load(x + i), i}, 0, [](auto a, auto ia, auto b, auto ib) {
      auto left = (a > b) | ((a == b) & (ia < ib));
      return std::tuple{tl::where(left, a, b), tl::where(left, ia, ib)};
    });
    tl::store(best, m);
    tl::store(where, at);
  });
  std::vector<float> x{1, 5, 2, 9, 3, 9, 0, -1, 4, 9, 2}, best(1);
  std::vector<int> where(1);
  run(k, {}, {1, 1, 1}, x, best, where);
  EXPECT_EQ(best[0], 9);
  EXPECT_EQ(where[0], 3);
}

TEST(Tile, ScansTransAndReshape) {
  auto k = kernel("shapes", [](tl::Ptr<int> x, tl::Ptr<int> out) {
    auto i = tl::arange(0, 12);
    auto t = tl::reshape(tl::load(x + i), {3, 4});
    tl::store(out + i, tl::reshape(tl::trans(t), {12}));
    tl::store(out + 12 + i, tl::cumsum(tl::load(x + i)));
    tl::store(out + 24 + i, tl::reshape(tl::associative_scan(t, 0, [](auto a, auto b) { return tl::maximum(a, b); }), {12}));
    tl::store(out + 36 + tl::arange(0, 8), tl::reshape(tl::broadcast_to(tl::arange(0, 4), {2, 4}), {8}));
  });
  std::vector<int> x{5, 1, 4, 2, 3, 9, 0, 7, 6, 8, 1, 1}, out(44), expected;
  run(k, {}, {1, 1, 1}, x, out);
  for (size_t j = 0; j < 4; ++j)
    for (size_t i = 0; i < 3; ++i) expected.push_back(x[i * 4 + j]);
  for (size_t i = 0, sum = 0; i < 12; ++i) expected.push_back(static_cast<int>(sum += static_cast<size_t>(x[i])));
  for (size_t i = 0; i < 12; ++i) expected.push_back(i < 4 ? x[i] : std::max(expected[12 + 12 + i - 4], x[i]));
  for (int r = 0; r < 2; ++r)
    for (int j = 0; j < 4; ++j) expected.push_back(j);
  EXPECT_EQ(out, expected);
}

TEST(Tile, LoopsCarryScalarsTilesAndPointers) {
  auto k = kernel("loop", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i32 n) {
    auto lane = tl::arange(0, 4);
    auto [p, acc, steps] = tl::range(0, n, 4, x, tl::zeros<float>({4}), 0, [&](auto i, auto p, auto acc, auto steps) {
      return std::tuple{p + 4, acc + tl::load(p + lane, lane < n - i), steps + 1};
    });
    tl::store(out, tl::sum(acc));
    tl::store(out + 1, steps.to(f32));
    tl::store(out + 2, tl::load(p - 1));
  });
  std::vector<float> x = iota<float>(12), out(3);
  run(k, {}, {1, 1, 1}, x, out, int32_t{10});
  EXPECT_EQ(out, (std::vector<float>{45, 3, 11}));
}

TEST(Tile, WhileAndIf) {
  auto k = kernel("collatz", [](tl::Ptr<int> start, tl::Ptr<int> out) {
    auto i = tl::program_id(0);
    auto [x, steps] = tl::while_(tl::load(start + i), 0, [](auto x, auto) { return x != 1; }, [](auto x, auto steps) {
      auto next = tl::if_(x % 2 == 0, [&] { return tl::div(x, 2); }, [&] { return 3 * x + 1; });
      return std::tuple{next, steps + 1};
    });
    tl::if_(steps > 100, [&, steps = steps] { tl::store(out + i, -steps); }, [&, steps = steps] { tl::store(out + i, steps); });
    tl::if_(x != 1, [&] { tl::store(out + i, 12345); });
  });
  std::vector<int> start{1, 6, 7, 27}, out(4);
  run(k, {}, {4, 1, 1}, start, out);
  EXPECT_EQ(out, (std::vector<int>{0, 8, 16, -111}));
}

TEST(Tile, ReturnIfEndsTheProgram) {
  auto k = kernel("early", [](tl::Ptr<int> out) {
    auto i = tl::program_id(0);
    tl::store(out + i, 1);
    tl::return_if(i == 1);
    tl::store(out + i, 2);
    tl::return_if(i == 2);
    tl::store(out + i, 3);
  });
  std::vector<int> out(4);
  run(k, {}, {4, 1, 1}, out);
  EXPECT_EQ(out, (std::vector<int>{3, 1, 2, 3}));
}

TEST(Tile, QuotientsRoundAsTheirNamesSay) {
  auto k = kernel("quotients", [](tl::Ptr<int> a, tl::Ptr<int> b, tl::Ptr<int> out) {
    auto i = tl::arange(0, 8);
    auto x = tl::load(a + i), y = tl::load(b + i);
    tl::store(out + i, tl::div(x, y));
    tl::store(out + 8 + i, tl::floor_div(x, y));
    tl::store(out + 16 + i, tl::cdiv(x, y));
    tl::store(out + 24 + i, x % y);
  });
  std::vector<int> a{-7, 7, -7, 7, -36, 36, 5, -5}, b{2, 2, -2, -2, 5, -5, 0, 5}, out(32);
  run(k, {}, {1, 1, 1}, a, b, out);
  EXPECT_EQ(out, (std::vector<int>{-3, 3, 3, -3, -7, -7, 0, -1, -4, 3, 3, -4, -8, -8, 0, -1,  //
                                   -3, 4, 4, -3, -7, -7, 0, -1, -1, 1, -1, 1, -1, 1, 0, 0}));
}

TEST(Tile, UnsignedOffsetsAndQuotients) {
  auto k = kernel("unsigned", [](tl::Ptr<uint32_t> out, tl::u32 n) {
    auto i = tl::arange(0, 4).to<uint32_t>();
    tl::store(out + i, i % 2);
    tl::store(out + 4, tl::cdiv(n, 3));
    tl::store(out + 6 - tl::cdiv(n, n), n >> 4);
  });
  std::vector<uint32_t> out(6);
  run(k, {}, {1, 1, 1}, out, uint32_t{4000000001u});
  EXPECT_EQ(out, (std::vector<uint32_t>{0, 1, 0, 1, 1333333334u, 250000000u}));
}

TEST(Tile, IntegersAreTruthValuesWhereABoolIsWanted) {
  auto k = kernel("bools", [](tl::Ptr<bool> x, tl::Ptr<bool> out) {
    auto i = tl::arange(0, 4);
    tl::store(out + i, tl::full<bool>({4}, 2));
    tl::store(out + 4 + i, tl::load(x + i, i < 2, 1));
    tl::store(out + 8 + i, 0);
  });
  std::unique_ptr<bool[]> x(new bool[4]()), out(new bool[12]());
  run(k, {}, {1, 1, 1}, slot(x.get()), slot(out.get()));
  EXPECT_EQ(std::vector<int>(out.get(), out.get() + 12), (std::vector<int>{1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0}));
}

TEST(Tile, ClampCarriesOrDropsNan) {
  auto k = kernel("clamps", [](tl::Ptr<float> x, tl::Ptr<float> carried, tl::Ptr<float> dropped) {
    auto i = tl::arange(0, 4);
    auto v = tl::load(x + i);
    tl::store(carried + i, tl::clamp(v, -1, 1, tl::nan::carry));
    tl::store(dropped + i, tl::clamp(v, -1, 1, tl::nan::drop));
  });
  std::vector<float> x{NAN, -3, 0.5f, 3}, carried(4), dropped(4);
  run(k, {}, {1, 1, 1}, x, carried, dropped);
  EXPECT_TRUE(std::isnan(carried[0]));
  EXPECT_EQ(std::vector<float>(carried.begin() + 1, carried.end()), (std::vector<float>{-1, 0.5f, 1}));
  EXPECT_EQ(dropped, (std::vector<float>{-1, -1, 0.5f, 1}));
}

TEST(Tile, QuotientsOf16BitsAreF32InKernels) {
  auto k = kernel("dtypes", [](tl::Ptr<Half> x, tl::Ptr<BFloat16> y) {
    Value a = tl::load(x), b = tl::load(y);
    EXPECT_EQ((a / a).dtype(), f32);
    EXPECT_EQ((a % a).dtype(), f32);
    EXPECT_EQ((b / 2).dtype(), f32);
    EXPECT_EQ((1.5 / b).dtype(), f32);
    EXPECT_EQ((a % tl::arange(1, 2)).dtype(), f32);
    EXPECT_EQ((a * a).dtype(), f16);
    EXPECT_EQ(tl::div(a, a).dtype(), f16);
    EXPECT_EQ((a / Value(1.0).to(f64)).dtype(), f64);
    EXPECT_EQ((Value(8) >> tl::full<uint32_t>({2}, 1)).dtype(), u32);
  });
  (void)text_of(k);
}

TEST(Tile, AnyElementTypeComesFromTheTensor) {
  auto k = kernel("copy", [](tl::Ptr<> x, tl::Ptr<> y, tl::Const<"N"> n) {
    auto i = tl::arange(0, n);
    tl::store(y + i, tl::load(x + i).to(y.dtype()));
  });
  auto facts = front::facts_for(k.declaration(), std::vector<Constant>{{"N", 5}}, {.log2_align = 1, .no_alias = false});
  facts[0].dtype = i16;
  facts[1].dtype = f64;
  std::vector<int16_t> x{1, -2, 3, -4, 5};
  std::vector<double> y(5);
  const uint64_t slots[] = {slot(x), slot(y)};
  EXPECT_TRUE(interp::interpret_tiles(front::trace_kernel(k.declaration(), facts), {1, 1, 1}, slots).empty());
  EXPECT_EQ(y, (std::vector<double>{1, -2, 3, -4, 5}));
}

TEST(Tile, StaticLoopsUnrollAndConstantsAreInts) {
  auto k = kernel("unrolled", [](tl::Ptr<int> out, tl::Const<"N"> n, tl::Const<"M"> m) {
    Value total = 0;
    for (int64_t i = 0; i < n; ++i) total += tl::program_id(0) + i;
    if (n > m) tl::store(out, total);
  });
  EXPECT_EQ(text_of(k, {{"M", 9}, {"N", 3}}).find("store"), std::string::npos);
  std::vector<int> out(1);
  run(k, {{"M", 2}, {"N", 3}}, {1, 1, 1}, out);
  EXPECT_EQ(out[0], 3);
}

TEST(StaticRange, EndsBesideTheEndsOfI64) {
  auto values = [](int64_t begin, int64_t end, int64_t step) {
    std::vector<int64_t> all;
    for (tl::Constexpr k : tl::static_range(begin, end, step)) all.push_back(k);
    return all;
  };
  EXPECT_EQ(values(INT64_MAX - 2, INT64_MAX, 5), (std::vector<int64_t>{INT64_MAX - 2}));
  EXPECT_EQ(values(INT64_MIN + 2, INT64_MIN, -5), (std::vector<int64_t>{INT64_MIN + 2}));
  EXPECT_EQ(values(7, 0, -3), (std::vector<int64_t>{7, 4, 1}));
  EXPECT_EQ(values(0, 7, 3), (std::vector<int64_t>{0, 3, 6}));
  EXPECT_TRUE(values(3, 3, 1).empty());
  EXPECT_TRUE(values(3, 4, -1).empty());
}

}  // namespace
}  // namespace strider::test
