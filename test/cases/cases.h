// SPDX-License-Identifier: Apache-2.0
// Small inputs from bug reports of libraries that do this job, with the right results. Tests are named by the fault.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <strider/strider.h>

#include "support/errors.h"

namespace st = strider;

namespace strider::cases {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

using support::error_of;

/// A tensor's elements as text, so that NaN equals NaN and -0 differs from 0: "nan -0 1.5".
inline std::string text(const Tensor& t) {
  std::string result;
  for (double x : t.to_doubles()) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g", x);
    result += (result.empty() ? "" : " ") + std::string(std::isnan(x) ? "nan" : digits);
  }
  return result;
}

template <class T>
Tensor scalar(T value) {
  return tensor<T>({value}, {});
}

}  // namespace strider::cases
