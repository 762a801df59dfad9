// SPDX-License-Identifier: Apache-2.0
// Every kernel of include/strider/kernels/ beside plain C++ in double: on every device, over float dtypes, sizes and blocks.
#include <gtest/gtest.h>

#include <cmath>

#include <strider/testing/worked.h>

namespace strider {
namespace {

struct Tolerance {
  DType dtype;
  double relative;  // of values above 1, absolute below
};
constexpr Tolerance kTolerances[] = {{f32, 2e-5}, {f16, 2e-3}, {bf16, 1.6e-2}};

/// Sizes that blocks divide, and that none does; rows as long as their block, longer than a vector, and single.
std::vector<testing::worked::Size> sizes(const testing::worked::Worked& w) {
  if (w.by_rows) return {{1, 1, 1}, {3, 64, 64}, {37, 257, 512}, {5, 1000, 1000}, {2, 4096, 4096}};
  return {{1, 1, 256}, {1, 256, 256}, {1, 1000, 512}, {1, 100'003, 1024}, {1, 3 * 4096, 4096}, {1, 7777, 1000}};
}

class WorkedKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(WorkedKernels, AgreeWithPlainCode) {
  for (const testing::worked::Worked& w : testing::worked::kAll)
    for (const testing::worked::Size& size : sizes(w))
      for (const Tolerance& t : kTolerances) {
        testing::worked::Call call = w.prepare(size, {t.dtype, GetParam()});
        call.launch();
        call.launch();  // nothing is left over from the first
        std::vector<double> found = call.out.to_host().to_doubles(), expected = call.expected();
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i)
          ASSERT_NEAR(found[i], expected[i], t.relative * std::max(1.0, std::abs(expected[i])))
              << w.name << ' ' << name_of(t.dtype) << ' ' << size.rows << 'x' << size.columns << " block " << size.block << " at " << i;
      }
}

TEST_P(WorkedKernels, TwoPhasesGiveTheSameBitsEveryTime) {
  for (const testing::worked::Worked& w : testing::worked::kAll) {
    if (w.name != "l1_norm_two_phase") continue;
    testing::worked::Call call = w.prepare({1, 1'000'003, 1024}, {f32, GetParam()});
    call.launch();
    double first = call.out.item();
    for (int k = 0; k < 20; ++k) {
      call.launch();
      ASSERT_EQ(call.out.item(), first);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorkedKernels, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

}  // namespace
}  // namespace strider
