// SPDX-License-Identifier: Apache-2.0
// Tensors as text: "[[1, 2],\n [3, 4]]", with the middle of long axes left out.
#include <fmt/format.h>

#include <ostream>

#include "ir/print.h"

#include <strider/tensor.h>

namespace strider {
inline namespace v0 {
namespace {

constexpr int64_t kWhole = 1000;  // elements that are all printed
constexpr int64_t kEdge = 3;      // elements at each end of a shortened axis

struct Printer {
  const TensorView& tensor;
  bool shortened;
  std::string text = {};

  void print(const TensorView& part, int depth) {
    if (part.rank() == 0) {
      text += ir::print_element(part.dtype(), part.to_bits()[0]);
      return;
    }
    int64_t size = part.size(0);
    bool leave_out = shortened && size > 2 * kEdge;
    text += '[';
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) separate(part.rank(), depth);
      if (leave_out && i == kEdge) {
        text += "...";
        separate(part.rank(), depth);
        i = size - kEdge;
      }
      print(part.slice(0, i, i + 1).squeeze(0), depth + 1);
    }
    text += ']';
  }

  void separate(int rank, int depth) {
    text += ',';
    text += rank == 1 ? std::string(" ")
                      : std::string(static_cast<size_t>(rank - 1), '\n') + std::string(static_cast<size_t>(depth + 1), ' ');
  }
};

}  // namespace

std::string to_string(const TensorView& tensor) {
  Printer printer{tensor, tensor.elements() > kWhole};
  printer.print(tensor, 0);
  std::string device = tensor.device();
  return fmt::format("{} {}{}{}", printer.text, name_of(tensor.dtype()), to_string(tensor.shape()),
                     device == "cpu" ? "" : " on " + device);
}

std::ostream& operator<<(std::ostream& stream, const TensorView& tensor) { return stream << to_string(tensor); }

}  // namespace v0
}  // namespace strider
