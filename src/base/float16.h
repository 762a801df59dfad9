// SPDX-License-Identifier: Apache-2.0
// Conversions of the 16-bit floats, in exact integer arithmetic: no floating-point environment can change them.
// Every narrowing rounds once, to nearest even; a NaN stays a NaN, becomes quiet and keeps the top of its payload.
#pragma once

#include <cstdint>

namespace strider {

float float_of_half(uint16_t bits);
float float_of_bfloat16(uint16_t bits);

uint16_t half_of(float value);
uint16_t half_of(double value);
uint16_t half_of(int64_t value);
uint16_t half_of(uint64_t value);

uint16_t bfloat16_of(float value);
uint16_t bfloat16_of(double value);
uint16_t bfloat16_of(int64_t value);
uint16_t bfloat16_of(uint64_t value);

}  // namespace strider
