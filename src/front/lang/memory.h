// SPDX-License-Identifier: Apache-2.0
// Pointers, loads, stores, atomics, and promises about addresses and numbers.
#pragma once

#include <span>

#include "front/lang/writer.h"

namespace strider::front {

/// The pointer moved by elements, forward or back; both broadcast.
ir::Value ptr_add(Writer& w, const Term& pointer, const Term& offset, bool subtract);

/// An empty mask means every lane, an empty `other` zero.
ir::Value load(Writer& w, const Term& pointer, const Term& mask, const Term& other);
void store(Writer& w, const Term& pointer, const Term& value, const Term& mask);

/// They give each lane's old element.
ir::Value atomic(Writer& w, ir::AtomicKind kind, const Term& pointer, const Term& value, const Term& mask);
ir::Value atomic_cas(Writer& w, const Term& pointer, const Term& compare, const Term& value, const Term& mask);

/// x, with a promise for each axis.
ir::Value hinted(Writer& w, ir::HintKind kind, const Term& x, std::span<const int64_t> numbers);
void assume(Writer& w, const Term& condition);

}  // namespace strider::front
