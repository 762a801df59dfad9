// SPDX-License-Identifier: Apache-2.0
// Bodies that a user writes as C++ callables, as regions of the program.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "front/trace/trace.h"

namespace strider::front {

ir::Builder::Values nodes(Trace& trace, const detail::Values& values);
std::vector<Term> terms(const Trace& trace, const detail::Values& values);
detail::Values wrapped(Trace& trace, std::span<const ir::Value> nodes);
std::vector<ir::Type> types_of(Trace& trace, std::span<const ir::Value> values);

/// A user's body as a region: its parameters wrapped, its results made nodes by `convert`, its values confined to it.
using Convert = std::function<ir::Builder::Values(const detail::Values&)>;
ir::Builder::RegionFn region(Trace& trace, const detail::Body& body, Convert convert);

/// What a loop's body returned as the carried values of the next iteration.
ir::Builder::Values next_carried(Trace& trace, const detail::Values& values, std::span<const ir::Type> carried);

}  // namespace strider::front
