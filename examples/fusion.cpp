// SPDX-License-Identifier: Apache-2.0
// Operators of the library are functions of values too: what one lambda combines is one kernel, without temporaries.
#include <algorithm>
#include <cmath>
#include <iostream>

#include <strider/strider.h>

namespace st = strider;

int main() {
  auto fused = st::pointwise("fused", [](auto x, auto bias, auto scale, auto r) { return st::ops::gelu(x + bias) * scale + r; },
                             {.is_tensor = {true, true, false, true}, .names = {"x", "bias", "scale", "r"}});

  st::Tensor x = st::randn({4, 6}), bias = st::randn({6}, {}, 1), r = st::randn({4, 6}, {}, 2);
  st::Tensor y = fused(x, bias, 1.5, r);
  std::cout << "gelu(x + bias) * 1.5 + r =\n" << y << "\n\n";

  // The same maths on plain numbers are its reference.
  double most = 0;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 6; ++j) {
      auto at = [&](const st::TensorView& t) { return t.slice(0, i, i + 1).slice(1, j, j + 1).item(); };
      most = std::max(most, std::abs(at(y) - fused(at(x), at(bias.expand({4, 6})), 1.5, at(r))));
    }
  std::cout << "largest difference from the reference in double: " << most << "\n";

  fused(st::randn({1000, 1000}), st::randn({1000}), 0.25, st::randn({1000, 1000}));
  int64_t before = st::stats().compiles;
  fused(st::randn({1000, 1000}), st::randn({1000}), 3, st::randn({1000, 1000}));
  std::cout << "kernels compiled for another scale: " << st::stats().compiles - before << "\n";
  for (int64_t m = 100; m < 1000; m += 50)
    for (int64_t n = 100; n < 1000; n += 50) fused(st::randn({m, n}), st::randn({n}), 3, st::randn({m, n}));
  std::cout << "for 324 other sizes: " << st::stats().compiles - before << ", at most 9\n";
  return most < 1e-5 ? 0 : 1;
}
