// SPDX-License-Identifier: Apache-2.0
// What back ends share about binaries: their description, and the checks before a launch.
#pragma once

#include "backend/backend.h"

namespace strider {

/// A Binary with `code`, described by its kernel.
Binary describe(const ir::Function& lanes, const Target& target, std::string entry, std::vector<char> code);

/// Throws a user error that names both unless a processor of target `own` runs the code of `binary`.
void check_runs(const Target& own, const Binary& binary);

/// How many programs a grid has. Throws a user error when a size is negative or above its limit, or their product overflows.
int64_t count_programs(std::string_view kernel, const Grid& grid, const Grid& limits);

/// Throws a user error unless there is one argument for every parameter.
void check_arguments(const Binary& binary, size_t count);

}  // namespace strider
