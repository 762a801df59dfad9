// SPDX-License-Identifier: Apache-2.0
// An operator from scalar maths alone, on tensors of any layout.
#include <cmath>
#include <iostream>

#include <strider/strider.h>

namespace st = strider;

int main() {
  auto add =
      st::pointwise("add", [](auto x, auto y, auto alpha) { return x + y * alpha; }, {{true, true, false}, {"x", "y", "alpha"}});
  auto gelu = st::pointwise("gelu", [](auto x) { return 0.5 * x * (1.0 + st::erf(x * M_SQRT1_2)); });

  st::Tensor a = st::randn({3, 4}), b = st::randn({4, 3});
  st::Tensor c = add(a, b.t(), 0.5);  // any shapes that broadcast, any strides
  std::cout << "a + b.T * 0.5 =\n" << c << "\n\n";

  add(c.slice(1, 0, 4, 2), st::full({}, 100), 1, st::out(c.slice(1, 0, 4, 2)));  // into every second column of c
  std::cout << "with 100 added to every second column:\n" << c << "\n\n";

  std::cout << "gelu(c) =\n" << gelu(c) << "\ngelu(1.0) = " << gelu(1.0) << "\n\n";  // the same maths on a plain number

  std::cout << "The kernel of a + row * 2:\n" << add.source(a, b.t().slice(0, 0, 1), 2);
  st::Stats stats = st::stats();
  std::cout << "\ncompiled: " << stats.compiles << ", loaded from disk: " << stats.disk_hits
            << ", found in memory: " << stats.memory_hits << "\n";
}
