// SPDX-License-Identifier: Apache-2.0
// Values inside of a kernel, read back after its launch.
//
//   st::Taps taps;                                        // or st::Taps taps{"abs"}: these alone
//   l1[grid].taps(taps)(x, out, n, {{"BLOCK", 1024}});
//   std::cout << taps["abs"];                             // shape (grid..., tile...)
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strider/tensor.h>

namespace strider {
inline namespace v0 {

class Kernel;

/// What tl::tap left in one launch. Each set of names that is asked for is a specialisation of the kernel.
class Taps {
 public:
  /// All taps of the kernel.
  Taps() = default;
  /// Those of these names; a launch of a kernel without one of them is a user error.
  Taps(std::initializer_list<std::string_view> names) : wanted_(names.begin(), names.end()) {}

  /// The values of every program, on the device of the launch; a user error that lists the names if there is none.
  STRIDER_API const Tensor& operator[](std::string_view name) const;
  /// Those of the last launch, in the order of the kernel.
  STRIDER_API std::vector<std::string> names() const;

 private:
  friend class Kernel;
  std::vector<std::string> wanted_;  // empty: all
  std::vector<std::pair<std::string, Tensor>> values_;
};

}  // namespace v0
}  // namespace strider
