// SPDX-License-Identifier: Apache-2.0
// Faults of tile languages: sums, extremes and sizes. The lowering suite runs the same constructs on every engine.
#include "cases/cases.h"

namespace tl = strider::tl;

namespace strider::cases {
namespace {

TEST(Tiles, SumsOfBoolsCount) {
  auto k = kernel("count", [](tl::Ptr<bool> x, tl::Ptr<int> count, tl::Ptr<bool> some) {
    tl::store(count, tl::sum(tl::load(x + tl::arange(0, 1024))));
    tl::store(some, tl::sum(tl::load(x + tl::arange(0, 256))).to(st::boolean));
  });
  Tensor count = zeros({}, {.dtype = st::i32}), some = zeros({}, {.dtype = st::boolean});
  k[1](full({1024}, true, {.dtype = st::boolean}), count, some);
  EXPECT_EQ(text(count), "1024");
  EXPECT_EQ(text(some), "1");
}

TEST(Tiles, SumsOfNarrowIntegersDoNotWrap) {
  auto k = kernel("bytes", [](tl::Ptr<uint8_t> x, tl::Ptr<uint32_t> sum) { tl::store(sum, tl::sum(tl::load(x + tl::arange(0, 2)))); });
  Tensor sum = zeros({}, {.dtype = st::u32});
  k[1](tensor<uint8_t>({200, 100}, {2}), sum);
  EXPECT_EQ(text(sum), "300");
}

TEST(Tiles, MaxCarriesNaNUnlessItIsDropped) {
  auto k = kernel("extremes", [](tl::Ptr<float> x, tl::Ptr<float> y) {
    auto v = tl::load(x + tl::arange(0, 8));
    tl::store(y, tl::max(v));
    tl::store(y + 1, tl::max(v, 0, {.nans = tl::nan::drop}));
    tl::store(y + 2, tl::min(v, tl::all_axes, {.nans = tl::nan::drop}));
  });
  Tensor y = zeros({3});
  k[1](tensor<float>({kNaN, kInf, kInf, kInf, kInf, kInf, kInf, kInf}, {8}), y);
  EXPECT_EQ(text(y), "nan inf inf");
}

TEST(Tiles, SizesNeedNotBePowersOfTwo) {
  for (int n : {3, 33, 257}) {
    auto k = kernel("sized", [](tl::Ptr<float> x, tl::Ptr<float> y, tl::Constexpr N) {
      auto i = tl::arange(0, N);
      auto v = tl::load(x + i);
      tl::store(y + i, tl::sort(v * 2.0f, 0, tl::descending) + tl::sum(v) + tl::cumsum(v) + tl::flip(v));
    });
    Tensor x = arange(n, {.dtype = st::f32}), y = zeros({n});
    k[1](x, y, {{"N", n}});
    std::vector<double> found = y.to_doubles();
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(found[static_cast<size_t>(i)], 2 * (n - 1 - i) + n * (n - 1) / 2 + i * (i + 1) / 2 + n - 1 - i) << n << " " << i;
  }
}

}  // namespace
}  // namespace strider::cases
