// SPDX-License-Identifier: Apache-2.0
// A kernel with plain linear addresses is right only where elements lie one after another in the order of their indices. The
// interpreter shows what goes wrong on three other layouts; an operator of the same maths is right on all of them.
#include <iostream>

#include <strider/strider.h>

namespace st = strider;
namespace tl = strider::tl;

int main() {
  auto naive = st::kernel("naive_relu", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i32 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    auto v = tl::load(x + i, i < n);
    tl::store(out + i, tl::maximum(v, 0.0f), i < n);
  }, {{"x", "out", "n"}});
  auto relu = st::pointwise("relu", [](auto x) { return st::maximum(x, 0.0); });

  st::Tensor m = st::arange(-2, 10).to(st::f32).reshape({3, 4});
  struct Layout {
    const char* name;
    st::Tensor x;
  };
  const Layout layouts[] = {
      {"contiguous", m},
      {"transposed", m.t()},
      {"broadcast: one row, repeated", m.slice(0, 0, 1).expand({3, 4})},
      {"sliced: every second column", m.slice(1, 0, 4, 2)},
  };
  bool as_expected = true;
  for (const Layout& layout : layouts) {
    const st::Tensor& x = layout.x;
    st::Tensor out = st::zeros(x.shape()), right = relu(x).contiguous();
    std::vector<st::Fault> faults;
    naive[st::cdiv(x.elements(), 4)].interpreted({.faults = &faults, .elementwise = true})(x, out, x.elements(), {{"BLOCK", 4}});
    std::cout << layout.name << ", strides " << st::to_string(x.strides()) << ":\n";
    for (const st::Fault& f : faults) std::cout << "  " << f.text << "\n";
    std::cout << "  the kernel is " << (st::equal(out, right) ? "right" : "wrong") << "\n\n";
    as_expected &= faults.empty() == x.is_contiguous() && st::equal(out, right) == x.is_contiguous();
    std::vector<st::Fault> none;
    st::Tensor checked = relu.interpreted({.faults = &none, .masked_lanes = true, .elementwise = true})(x).contiguous();
    as_expected &= none.empty() && st::equal(checked, right);
  }
  std::cout << "the operator is right on all of them, and the interpreter finds nothing in it\n";
  return as_expected ? 0 : 1;
}
