// SPDX-License-Identifier: Apache-2.0
// Tile kernels by hand: the L1 norm with one atomic for each program, and a row softmax.
#include <bit>
#include <iostream>
#include <limits>

#include <strider/strider.h>

namespace st = strider;
namespace tl = strider::tl;

int main() {
  auto l1 = st::kernel("l1_norm", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Constexpr BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    tl::atomic_add(out, tl::sum(tl::abs(tl::load(x + i, i < n, 0.0f))));
  });
  int64_t n = 100'000;
  st::Tensor x = st::randn({n}), out = st::zeros({});
  l1[st::cdiv(n, 1024)](x, out, n, {{"BLOCK", 1024}});
  std::cout << "mean of |x| = " << out.item() / static_cast<double>(n) << " (sqrt(2 / pi) = 0.7979)\n\n";

  auto softmax = st::kernel("softmax", [](tl::Ptr<float> x, tl::Ptr<float> y, tl::i32 columns, tl::Const<"BLOCK"> BLOCK) {
    auto j = tl::arange(0, BLOCK);
    auto row = tl::program_id(0) * columns;
    auto v = tl::load(x + row + j, j < columns, -std::numeric_limits<float>::infinity());
    auto e = tl::exp(v - tl::max(v));
    tl::store(y + row + j, e / tl::sum(e), j < columns);
  });
  st::Tensor logits = st::randn({3, 5}), p = st::empty({3, 5});
  softmax[3](logits, p, 5, {{"BLOCK", 8}});
  std::cout << "softmax =\n" << p << "\n\n" << l1.source({x, out, n, {{"BLOCK", 1024}}});
}
