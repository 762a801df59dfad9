// SPDX-License-Identifier: Apache-2.0
// What lowering makes of hints.
#include "backend/backend.h"
#include "front/run_kernel.h"
#include "pass/hints.h"
#include "pass/pipeline.h"

namespace tl = strider::tl;

namespace strider::test {
namespace {

/// The lane form of a kernel, for short vectors.
std::string lowered(const Kernel& k) {
  ir::Function f = front::trace_kernel(k, {});
  return ir::print(pass::lower(pass::prepare(f, target_named("cpu:x86-64")), target_named("cpu:x86-64")));
}

std::string line_with(const std::string& text, std::string_view word) {
  size_t at = text.find(word), begin = text.rfind('\n', at) + 1;
  return at == std::string::npos ? "" : text.substr(begin, text.find('\n', at) - begin);
}

TEST(LoweredHints, ScalarsGiveAlignment) {
  auto copy_row = [](bool hinted) {
    return kernel("rows", [hinted](tl::Ptr<float> x, tl::Ptr<int> strides, tl::Ptr<float> y) {
      auto stride = tl::load(strides);
      if (hinted) stride = tl::multiple_of(stride, 16);
      auto i = tl::arange(0, 64);
      tl::store(y + i, tl::load(x + tl::program_id(0) * stride + i));
    });
  };
  EXPECT_HAS(line_with(lowered(copy_row(true)), "load_block"), "align=64");
  EXPECT_HAS(line_with(lowered(copy_row(false)), "load_block"), "align=4 ");
  auto pointers = kernel("pointers", [](tl::Ptr<float> x, tl::i32 n, tl::Ptr<float> y) {
    auto i = tl::arange(0, 64);
    tl::store(y + i, tl::load(tl::multiple_of(x + n, 32) + i));
  });
  EXPECT_HAS(line_with(lowered(pointers), "load_block"), "align=32");
}

TEST(LoweredHints, NothingElseIsLeft) {
  auto k = kernel("hinted", [](tl::Ptr<float> x, tl::i32 n) {
    auto i = tl::max_contiguous(tl::multiple_of(tl::arange(0, 64), 64), 64);
    tl::assume(n > 0);
    tl::assume(i >= 0);
    tl::store(x + i, tl::sum(tl::max_constancy(tl::load(x + i), 1)), i < tl::multiple_of(n, 2));
  });
  std::string text = lowered(k);
  EXPECT_EQ(text.find("hint %"), std::string::npos) << text;
  EXPECT_EQ(text.find("assume"), std::string::npos) << text;
  std::string dropped = ir::print(pass::drop_hints(front::trace_kernel(k, {})));
  EXPECT_EQ(dropped.find("assume"), std::string::npos) << dropped;
  EXPECT_HAS(dropped, "hint %arg1 multiple_of=2 : i32");
}

}  // namespace
}  // namespace strider::test
