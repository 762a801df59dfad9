// SPDX-License-Identifier: Apache-2.0
// What is too large for a processor is told when the kernel is lowered to it, and what fits lowers.
#include <gtest/gtest.h>

#include "backend/backend.h"
#include "lowering/kernels.h"
#include "lowering/shapes.h"
#include "pass/pipeline.h"
#include "support/errors.h"

namespace strider::lowering {
namespace {

template <class T>
ir::Function product_of(int64_t n) {
  auto body = [n](tl::Ptr<T> a, tl::Ptr<T> b, tl::Ptr<T> c) {
    auto i = row_major({n, n});
    tl::store(c + i, tl::dot(tl::load(a + i), tl::load(b + i)).to(dtype_of<T>));
  };
  return pass::prepare(kernel("product", {1, 1, 1}, {plain<T>(n * n), plain<T>(n * n), output<T>(n * n)}, body).program, host_target());
}

TEST(Limits, ProductsOf128FitTheScratchOfProcessorsThatHaveIt) {
  for (const char* target : {"cpu", "cpu:x86-64", "cuda:sm_80", "cuda:sm_90"})
    EXPECT_GT(pass::lower(product_of<float>(128), target_named(target)).size(), 0u) << target;
  for (const char* target : {"cpu", "cuda:sm_70", "cuda:sm_80", "cuda:sm_90"}) {
    EXPECT_GT(pass::lower(product_of<Half>(128), target_named(target)).size(), 0u) << target;
    EXPECT_GT(pass::lower(product_of<int8_t>(128), target_named(target)).size(), 0u) << target;
  }
  EXPECT_GT(pass::lower(product_of<double>(128), target_named("cpu")).size(), 0u);
}

TEST(Limits, WhatNeedsMoreScratchIsRefused) {
  std::string text = support::error_of(ErrorKind::Unsupported, [] { pass::lower(product_of<double>(128), target_named("cuda:sm_90")); });
  EXPECT_NE(text.find("bytes of scratch a program, cuda:sm_90 has"), std::string::npos) << text;
  EXPECT_NE(text.find("use smaller tiles"), std::string::npos) << text;
}

}  // namespace
}  // namespace strider::lowering
