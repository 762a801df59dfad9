// SPDX-License-Identifier: Apache-2.0
// What a project with tests of its own does: it times and compares with the kit, which is a library beside libstrider.so.
#include <cstdio>

#include <strider/strider.h>
#include <strider/testing.h>

namespace st = strider;

int main() {
  st::Tensor x = st::randn({1000}), y = st::ops::abs(x);
  st::testing::assert_close(y, st::ops::maximum(x, st::ops::neg(x)));
  try {
    st::testing::assert_close(y, x);
    return 1;
  } catch (const st::Error& error) {  // an exception of one library, caught as a type of the other
    if (error.kind() != st::ErrorKind::User) return 2;
  }
  st::testing::BenchResult result = st::testing::do_bench([&] { st::ops::abs(x, st::out(y)); });
  std::printf("abs of 1000 elements: %s\n", result.text().c_str());
}
