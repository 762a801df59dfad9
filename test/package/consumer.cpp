// SPDX-License-Identifier: Apache-2.0
// What a program needs of the installed library: operators on views, errors caught by their type across the boundary of the
// library, exceptions of its own that pass through, and other LLVMs in the same process.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "second.h"

namespace st = strider;

namespace {

void check(bool condition, const char* what) {
  std::printf("%s: %s\n", condition ? "ok" : "FAILED", what);
  if (!condition) std::exit(1);
}

/// Loads the LLVMs of this machine with their names visible to everything loaded after them, and uses each.
void load_other_llvms() {
  for (const char* name : {"libLLVM-14.so.1", "libLLVM-15.so.1", "libLLVM.so.19.1"}) {
    void* library = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (!library) continue;
    auto create = reinterpret_cast<void* (*)()>(::dlsym(library, "LLVMContextCreate"));
    auto dispose = reinterpret_cast<void (*)(void*)>(::dlsym(library, "LLVMContextDispose"));
    check(create && dispose, name);
    dispose(create());
  }
}

void check_operator() {
  auto add = st::pointwise("add", [](auto x, auto y, auto alpha) { return x + y * alpha; }, {.is_tensor = {true, true, false}});
  st::Tensor a = st::randn({64, 128}), b = st::randn({128, 64}, {}, 1);
  std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>(), found = add(a, b.t(), 0.5).to_vector<float>();
  bool right = found.size() == 64 * 128;
  for (size_t i = 0; right && i < 64; ++i)
    for (size_t j = 0; j < 128; ++j) right &= found[i * 128 + j] == x[i * 128 + j] + y[j * 64 + i] * 0.5f;
  check(right, "an operator on a transposed view");
  check(twice_and_one(st::full({3}, 4)).to_doubles() == std::vector<double>{9, 9, 9}, "an operator of another translation unit");
}

void check_kernel() {
  auto sum = st::kernel("sum", [](st::tl::Ptr<float> x, st::tl::Ptr<float> out, st::tl::i64 n, st::tl::Constexpr BLOCK) {
    auto i = st::tl::program_id(0) * BLOCK + st::tl::arange(0, BLOCK);
    st::tl::atomic_add(out, st::tl::sum(st::tl::load(x + i, i < n, 0.0f)));
  });
  st::Tensor x = st::full({1000}, 2), out = st::zeros({});
  sum[st::cdiv(1000, 256)](x, out, 1000, {{"BLOCK", 256}});
  check(out.item() == 2000, "a kernel by hand");
}

void check_errors() {
  auto add = st::pointwise("add", [](auto x, auto y) { return x + y; });
  st::Tensor three = st::zeros({3}), four = st::zeros({4});
  try {
    add(three, four);
    check(false, "shapes that do not broadcast");
  } catch (const st::Error& error) {
    check(error.kind() == st::ErrorKind::User, "strider::Error is caught by its type, with its kind");
    check(std::string(error.what()).find("does not broadcast") != std::string::npos, "and its words");
  }
  try {
    three.reshape({2, 2});
    check(false, "a shape of other size");
  } catch (const std::runtime_error&) {
    check(true, "and as what it is derived from");
  }
}

struct OwnException {
  int number;
};

void check_foreign_exception() {
  auto throwing = st::pointwise("throwing", [](auto x) {
    if constexpr (!std::is_arithmetic_v<decltype(x)>) throw OwnException{7};
    return x;
  });
  try {
    throwing(st::zeros({1}));
    check(false, "a lambda that throws");
  } catch (const OwnException& e) {
    check(e.number == 7, "an exception of a lambda's own passes through the library");
  }
}

}  // namespace

int main() {
  load_other_llvms();
  check_operator();
  check_kernel();
  check_errors();
  check_foreign_exception();
}
