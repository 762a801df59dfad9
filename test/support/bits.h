// SPDX-License-Identifier: Apache-2.0
// Elements as bits (ir/semantics.h): special and random ones, and when two are the same answer.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <strider/dtype.h>

namespace strider::support {

/// Those of strider/testing/special.h.
std::vector<uint64_t> special_bits(DType dtype);

/// A special value now and then, else a moderate one: integers of few digits, floats of magnitude 2^-8 to 2^8.
uint64_t random_bits(DType dtype, std::mt19937_64& random);

/// Equal bits, or both NaN: which NaN an operation gives is not specified.
bool same_answer(DType dtype, uint64_t a, uint64_t b);

bool is_nan(DType dtype, uint64_t bits);

/// "1.5 (0x3fc00000)".
std::string show_bits(DType dtype, uint64_t bits);

}  // namespace strider::support
