// SPDX-License-Identifier: Apache-2.0
// Random numbers by counter, for kernels and operators: Philox 4x32 of Salmon, Moraes, Dror and Shaw (2011), with its published
// constants. A number depends on the seed and on its place (a counter) alone, so every program computes its own without a state,
// and every engine gives the same bits.
//
//   auto keep = tl::rand(seed, i) >= p;   // dropout: element i is kept in the same calls everywhere
//
// Seeds and offsets are integers of any dtype, scalars or tiles; one of 32 bits or less is extended by its sign if it has one.
#pragma once

#include <array>

#include <strider/value.h>

namespace strider {
inline namespace v0 {
namespace tl {

/// The high half of the product, both factors taken as unsigned: i32, u32, i64, u64; the common dtype of both.
STRIDER_API Value umulhi(const Operand& a, const Operand& b);

/// Four u32 from a counter of four u32 and the seed as key, in `rounds` rounds; with a counter of 64-bit integers, four u64 by
/// Philox 4x64 and the key (seed, 0). The width is that of c0; narrower counters are extended.
STRIDER_API std::array<Value, 4> philox(const Operand& seed, const Operand& c0, const Operand& c1, const Operand& c2,
                                        const Operand& c3, int rounds = 10);

/// Four random u32 for each offset: Philox 4x32 of the counter (offset, offset >> 32, 0, 0).
STRIDER_API std::array<Value, 4> randint4x(const Operand& seed, const Operand& offset, int rounds = 10);
/// The first of them.
STRIDER_API Value randint(const Operand& seed, const Operand& offset, int rounds = 10);

/// Uniform f32 in [0, 1) from random bits in an integer of 32 or 64 bits.
STRIDER_API Value uint_to_uniform_float(const Operand& x);
/// Uniform f32 in [0, 1): uint_to_uniform_float of what randint gives.
STRIDER_API Value rand(const Operand& seed, const Operand& offset, int rounds = 10);
STRIDER_API std::array<Value, 4> rand4x(const Operand& seed, const Operand& offset, int rounds = 10);
/// Normally distributed f32 of mean 0 and deviation 1, by Box and Muller's method: one, or four for each offset.
STRIDER_API Value randn(const Operand& seed, const Operand& offset, int rounds = 10);
STRIDER_API std::array<Value, 4> randn4x(const Operand& seed, const Operand& offset, int rounds = 10);

}  // namespace tl
}  // namespace v0
}  // namespace strider
