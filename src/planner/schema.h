// SPDX-License-Identifier: Apache-2.0
// What a schema says of an operator with so many arguments and outputs.
#pragma once

#include <string_view>

#include <strider/schema.h>

namespace strider::planner {

/// A user error that names what does not fit: counts, names, defaults, promotion rules.
void check_schema(const Schema& schema, size_t arguments, size_t outputs);

/// Where the argument of that name stands. A user error that lists the names if there is none.
size_t index_of(const Schema& schema, std::string_view name);
/// The number of an argument that a call left out. A user error that names it if it has none.
const Argument& default_of(const Schema& schema, size_t argument);

}  // namespace strider::planner
