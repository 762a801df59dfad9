// SPDX-License-Identifier: Apache-2.0
// Tensors: views, conversions, files, and memory that is used again.
#include <strider/strider.h>

#include <filesystem>
#include <iostream>

namespace st = strider;

int main() {
  st::Tensor x = st::arange(12).reshape({3, 4});
  std::cout << "every second column, backwards, of\n" << x << "\nis\n" << x.slice(1, 3, -5, -2) << "\n\n";

  st::Tensor half = st::randn({2, 3}, {}, 7).to(st::f16);
  std::cout << "as f16:\n" << half << "\nand as integers:\n" << half.to(st::i8) << "\n\n";

  x.t().select(0, 1).copy_from(st::full({}, -1));  // views write to the tensor that they come from
  std::cout << "with a column of -1:\n" << x << "\n\n";

  std::string path = std::filesystem::temp_directory_path() / "strider_example.npy";
  st::save_npy(path, x.t());
  st::Tensor loaded = st::load_npy(path);
  std::filesystem::remove(path);
  std::cout << "from a file, " << (st::equal(loaded, x.t()) ? "the same" : "not the same") << "; ";
  if (auto d = st::first_difference(loaded, st::zeros({4, 3}), 0, 0.5)) std::cout << "it differs from zeros " << d->text() << "\n\n";

  for (int k = 0; k < 10; ++k) st::Tensor large = st::zeros({1 << 20});
  st::MemoryStats memory = st::memory_stats();
  std::cout << memory.allocations << " tensors, " << memory.reuses << " of them in memory of earlier ones; " << st::release_cache()
            << " bytes given back\n";
}
