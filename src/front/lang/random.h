// SPDX-License-Identifier: Apache-2.0
// Random numbers, composed of the language's other operations.
#pragma once

#include <array>

#include "front/lang/writer.h"

namespace strider::front {

using Four = std::array<Term, 4>;

/// The high half of the unsigned product of integers of 32 or 64 bits.
Term umulhi(Writer& w, const Term& a, const Term& b);

/// Philox 4x32, or 4x64 if the first counter has 64 bits.
Four philox(Writer& w, const Term& seed, const Four& counters, int rounds);
Four randint4x(Writer& w, const Term& seed, const Term& offset, int rounds);
Term randint(Writer& w, const Term& seed, const Term& offset, int rounds);

/// Integers of 32 or 64 bits as f32 in [0, 1).
Term uint_to_uniform_float(Writer& w, const Term& x);
Term rand(Writer& w, const Term& seed, const Term& offset, int rounds);
Four rand4x(Writer& w, const Term& seed, const Term& offset, int rounds);
/// Normally distributed, by Box and Muller.
Term randn(Writer& w, const Term& seed, const Term& offset, int rounds);
Four randn4x(Writer& w, const Term& seed, const Term& offset, int rounds);

}  // namespace strider::front
