// SPDX-License-Identifier: Apache-2.0
// Runs every worked kernel of include/strider/kernels/ on sizes that no block divides, beside plain C++ in double.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <strider/testing/worked.h>

namespace st = strider;

namespace {

/// The largest difference, relative where the expected value is above 1.
double worst_error(const st::testing::worked::Call& call) {
  std::vector<double> found = call.out.to_doubles(), expected = call.expected();
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(found[i] - expected[i]) / std::max(1.0, std::abs(expected[i])));
  return worst;
}

}  // namespace

int main() {
  bool all_right = true;
  std::printf("%-18s %9s  %12s  %s\n", "kernel", "elements", "worst error", "");
  for (const st::testing::worked::Worked& w : st::testing::worked::kAll) {
    st::testing::worked::Size size = w.by_rows ? st::testing::worked::Size{37, 1000, 1024} : st::testing::worked::Size{1, 100'003, 1024};
    st::testing::worked::Call call = w.prepare(size, {});
    call.launch();
    double error = worst_error(call);
    all_right &= error < 1e-4;
    std::printf("%-18s %9lld  %12.2g  %.*s\n", std::string(w.name).c_str(), static_cast<long long>(size.elements()), error,
                static_cast<int>(w.about.size()), w.about.data());
  }
  return all_right ? 0 : 1;
}
