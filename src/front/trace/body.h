// SPDX-License-Identifier: Apache-2.0
// What goes into bodies and comes out of them: lists of values, terms, nodes and types.
#pragma once

#include <span>
#include <vector>

#include "front/trace/trace.h"

namespace strider::front {

ir::Builder::Values nodes(Trace& trace, const detail::Values& values);
std::vector<Term> terms(const Trace& trace, const detail::Values& values);
detail::Values wrapped(Trace& trace, std::span<const ir::Value> nodes);
std::vector<ir::Type> types_of(Trace& trace, std::span<const ir::Value> values);

/// What a loop's body returned as the carried values of the next iteration.
ir::Builder::Values next_carried(Trace& trace, const detail::Values& values, std::span<const ir::Type> carried);

}  // namespace strider::front
