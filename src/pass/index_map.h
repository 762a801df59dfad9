// SPDX-License-Identifier: Apache-2.0
// What the passes agree on about index spaces and the ops that only move lanes.
#pragma once

#include <optional>
#include <vector>

#include "ir/function.h"

namespace strider::pass {

/// The shape without its axes of size 1: tiles that differ only in those share one index space and one layout.
ir::Shape squeeze(const ir::Shape& shape);

/// True if lane i of the shape op `v` is lane i of its operand, counted in the squeezed index space.
bool keeps_lanes(const ir::Function& f, ir::Value v);

/// True if the expression of `v`, with what it shares counted each time, is too large to be worth a look.
bool is_large(const ir::Function& f, ir::Value v);

/// By how much the integer or address `v` changes from one lane to the next along `axis`: a constant, or nothing when that is
/// not known. Narrow integers may wrap on the way.
std::optional<int64_t> step_along(const ir::Function& f, ir::Value v, int axis);

/// For every value, by id: true if it is an integer of which no lane can be below zero.
std::vector<bool> never_negative(const ir::Function& f);

/// How a tile value is computed.
struct Inlining {
  bool inlined = false;     // anew wherever it is used, instead of once in a nest
  bool index_only = false;  // and from nothing but scalars and lane numbers
  int cost = 0;             // operations each time
};

/// For every value, by id: shape ops and addresses are inlined, and cheap integer or bool arithmetic on index-only values.
std::vector<Inlining> classify(const ir::Function& f);

}  // namespace strider::pass
